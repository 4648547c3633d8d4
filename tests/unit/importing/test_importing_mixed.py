"""Whatever stands in a source, in whatever order: a lab comes of it, and lint finds nothing in it.

The lines are those of the fixtures, and some that open what nothing closes; the orders are drawn with fixed seeds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.importing.conftest import FIXTURES, Result

STRAYS = (
    *("```", "~~~", "``` {{exec}}", "````{{copy}}", "<details>", "</details>", "<summary>Hint", "</summary>", "<pre>"),
    *('<pre class="file" data-filename="a/../b" data-target="replace">', "</pre>", "<!-- words", "-->", "<script>"),
    *(
        "<div>",
        "> quote",
        "> ```",
        "- item",
        "  ```",
        "    code",
        "---",
        "===",
        "# ",
        "## {#x}",
        "::: hint",
        ":::",
        "::",
    ),
    *("::hint-box", "::details-box", "#active", "[x](#y) `[z](#w)`", "`` ` ``{{exec}}", "`kubectl get <name`{{exec}}"),
    *("{{", "}}", "{% x %}", "`unclosed", "![](", ">>Q<<", "=== {{ a }}", "(*) b", "[*] c", "a\x0bb", "\ufeff"),
    *("```yaml check", "- id: x", "```bash run", "rm -rf /", "{#id}", "### h {#a b}", "\\", "\t- tab"),
)


def lines() -> list[str]:
    found = list(STRAYS)
    for path in sorted(FIXTURES.rglob("*.md")):
        found += path.read_bytes().decode("latin-1").split("\n")
    return found


@pytest.mark.parametrize("seed", range(40))
def test_lines_in_any_order(seed: int, tmp_path: Path, convert: Callable[..., Result]) -> None:
    draw, known = random.Random(seed), lines()
    texts = ["\n".join(draw.choice(known) for _ in range(draw.randint(1, 40))) for _ in range(2)]
    scenario, challenge = tmp_path / "s" / "scenario", tmp_path / "s" / "challenge"
    for folder in (scenario, challenge):
        folder.mkdir(parents=True)
    for name, text in zip(("a.md", "b.md"), texts, strict=True):
        (scenario / name).write_text(text, encoding="utf-8")
    (scenario / "v.sh").write_text(draw.choice(("kubectl get ns x\n", "if\n", "<<\n", "")))
    title = draw.choice(("T", "a: b", "{{ x }}", "# x {#y}", "##"))
    steps = [{"title": title, "text": "a.md", "verify": "v.sh"}, {"text": "b.md"}]
    details = {"intro": {"text": "b.md", "background": "v.sh"}, "steps": steps, "finish": {"text": "a.md"}}
    (scenario / "index.json").write_text(json.dumps({"title": title, "details": details}))
    shown = "\n::simple-task\n---\n:name: v\n---\n::\n"
    matter = '---\nkind: challenge\ntitle: C\nplayground: k3s\ntasks:\n  v: {run: "true"}\n---\n'
    (challenge / "index.md").write_text(matter + shown.join(texts), encoding="utf-8")
    result = convert(tmp_path / "s")
    assert (result.lint, len(result.done.labs)) == ([], 2)


def test_control_characters_are_left_out_and_told(tmp_path: Path, convert: Callable[..., Result]) -> None:
    folder = tmp_path / "s" / "scenario"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("Before\x1b[2J after.\n", encoding="utf-8")
    (folder / "index.json").write_text(
        json.dumps({"title": "T", "details": {"steps": [{"title": "A", "text": "a.md"}]}})
    )
    result = convert(tmp_path / "s")
    assert result.lint == []
    entries = [entry for one in result.done.labs for entry in one.lab.ledger.sorted() if "U+001B" in entry.what]
    assert [(entry.outcome, entry.into.partition(":")[0]) for entry in entries] == [("approximated", "lab.md")]
