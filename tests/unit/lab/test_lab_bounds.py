"""Lab files made to cost: each is refused at its place, at once, or read in no time. Nothing here takes seconds."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.checks.text import mentions
from grader.lab import catalogue, lint, manifests
from grader.lab.catalogue import load_lab
from grader.lab.lint import lint_lab
from grader.lab.located import read_documents
from grader.lab.manifests import read_start
from grader.lab.markdown import MAX_LINE, MAX_LINES, MAX_TEXT, read_outline
from grader.lab.parse import parse_lab
from grader.lab.problems import LabProblem, Source, read_source
from grader.lab.prose import check_prose
from tests.unit.collections.conftest import write_lab

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
"""A billion laughs: nine lines that mean 387 million values."""
MATTER = "---\na: 1\n---\n"
SECONDS = 30.0
"""What anything here may take on a busy machine: without its bound each takes minutes, or all memory."""


@contextmanager
def at_once() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SECONDS


def yaml(text: str) -> list[str]:
    found: list[LabProblem] = []
    read_documents(Source(Path("x.yaml"), text), found)
    return [str(problem) for problem in found]


def markdown(text: str) -> list[str]:
    found: list[LabProblem] = []
    outline = read_outline(Source(Path("lab.md"), MATTER + text), found)
    found += check_prose(outline)
    return [str(problem) for problem in found]


class TestYaml:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (LAUGHS, "aliases stand for more than 10000 values"),
            ("a: &a [*a]\n", "x.yaml:1:4: nested deeper than 64 levels"),
            ("a: &a {b: *a}\n", "x.yaml:1:4: nested deeper than 64 levels"),
            ("[" * 70 + "]" * 70, "x.yaml:1:66: nested deeper than 64 levels"),
            ("[" * 500_000, "nested deeper than 64 levels"),
            ("{a: " * 200_000, "nested deeper than 64 levels"),
            ("- " * 500_000, "nested deeper than 64 levels"),
            ("".join(" " * depth + "-\n" for depth in range(1400)), "nested deeper than 64 levels"),
            ("---\na\n" * 100_000, "x.yaml:2002:1: more than 1000 YAML documents"),
            ("a: " + "9" * 900_000, "x.yaml:1:4: '9999999999999999999999999999999999999999' is no number"),
            ("<<: &a {b: 1}\n", "x.yaml:1:1: '<<' is not supported"),
            ("a: !!python/object/apply:os.system [id]\n", "x.yaml:1:4: tag tag:yaml.org,2002:python"),
            ("- a: b\n" * 30_000 + "\t- x\n", "x.yaml:30001:1: not YAML"),
        ],
        ids=lambda value: value[:24] if isinstance(value, str) else None,
    )  # fmt: skip
    def test_bombs(self, text: str, message: str) -> None:
        with at_once():
            problems = yaml(text)
        assert len(problems) == 1
        assert message in problems[0]

    def test_many_aliases_of_little_are_fine(self) -> None:
        assert yaml("a: &a 1\nb: [" + ", ".join(["*a"] * 9_000) + "]\n") == []


class TestMarkdown:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("## a" + " " * 500_000 + "b", "a line of more than 10000 characters"),
            ("x" * (MAX_LINE + 1), f"lab.md:4:{MAX_LINE + 1}: a line of more than 10000 characters"),
            ("x\n" * MAX_LINES, f"lab.md:{MAX_LINES + 1}:1: more than 20000 lines"),
            (("x" * 99 + "\n") * 10_000, "lab.md:1:1: larger than 256 KiB"),
        ],
        ids=["heading", "line", "lines", "text"],
    )
    def test_more_than_a_text_for_people(self, line: str, message: str) -> None:
        with at_once():
            assert any(message in problem for problem in markdown(line))

    @pytest.mark.parametrize(
        "line",
        [
            "## a" + " " * 9_900 + "b",
            "## " + "{#" * 4_900,
            "## a {#" + "}" * 9_900,
            ":::" + " " * 9_900 + "x",
            "](#" * 3_300,
            "](#a" + " " * 9_900,
            "](#" + "a" * 9_900,
            "".join("`" * width + "a" for width in range(1, 138)),
            "`a``" * 2_480,
            ">" * 9_990,
            "- " * 4_990,
            "[" * 9_990,
            "[a](" * 2_490,
            "*a **a " * 1_420,
            "&a;" * 3_330,
            "<!-- " * 1_990,
        ],
        ids=lambda line: line[:8],
    )
    def test_our_own_patterns_end(self, line: str) -> None:
        """As large as a text may be, full of what nearly fits: nothing is tried in more ways than one."""
        text = "\n".join([line] * (MAX_TEXT // (len(line) + 1) - 1))
        with at_once():
            markdown(text)

    @pytest.mark.parametrize(
        "block",
        ["## a {#a}\n", "::: hint\nx\n:::\n", "```\n```\n", "```yaml check\n- a\n```\n", "[a]: b\n", "a\n\n"],
        ids=lambda block: block[:8],
    )
    def test_many_of_a_kind(self, block: str) -> None:
        lines = block.count("\n")
        text = "## a {#a}\n" + block * min((MAX_LINES - 10) // lines, (MAX_TEXT - 100) // len(block))
        with at_once():
            markdown(text)

    def test_code_spans_hide_links_as_before(self) -> None:
        line = "a `](#nope)` b `` ` ](#nope) `` c ](#gone) d `unclosed ](#off)"
        problems = markdown(f"About.\n\n## A {{#a}}\n\n{line}\n")
        assert [problem.split(": ", 1)[1] for problem in problems] == [
            "no step 'gone' to link to",
            "no step 'off' to link to",
        ]
        assert problems[0].startswith(f"lab.md:8:{line.index('gone') + 1}: ")


class TestCharacters:
    @pytest.mark.parametrize("character", ["\x1b", "\x07", "\x08", "\x7f", "\x9b", "\u202e", "\u2066", "\x0c"])
    def test_that_a_terminal_obeys(self, tmp_path: Path, character: str) -> None:
        lab = write_lab(tmp_path)
        (lab / "lab.md").write_text((lab / "lab.md").read_text().replace("Do it.", f"Do {character}]52;it."))
        found, problems = parse_lab(lab)
        assert found is None
        assert [str(problem) for problem in problems] == [
            f"{lab}/lab.md:16:4: holds the control character U+{ord(character):04X}"
        ]

    def test_words_of_other_languages_and_tabs_are_fine(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("한국어 \u200d 👩‍💻 e\u0301\tעברית\n")
        found: list[LabProblem] = []
        assert read_source(tmp_path / "x", found) is not None
        assert found == []


class TestFiles:
    def test_a_huge_one_is_not_read(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path)
        with (lab / "lab.md").open("r+") as file:
            file.truncate(1 << 40)
        with at_once():
            assert [str(problem) for problem in parse_lab(lab)[1]] == [f"{lab}/lab.md:1:1: is larger than 1 MiB"]

    @pytest.mark.parametrize(
        ("name", "make", "message"),
        [
            ("MAX_FILES", lambda start: [(start / f"{n}.yaml").write_text("") for n in range(4)], "more than 3 files"),
            (
                "MAX_OBJECTS",
                lambda start: (start / "a.yaml").write_text("---\na: 1\n" * 4),
                "more than 3 objects in start/",
            ),
            ("MAX_TEXT", lambda start: (start / "a.yaml").write_text("# xxxx\n"), "start/ is larger than 0 MiB"),
        ],
    )
    def test_of_start_all_together(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[Path], object], message: str
    ) -> None:
        monkeypatch.setattr(manifests, name, 3)
        start = tmp_path / "start"
        start.mkdir()
        make(start)
        found: list[LabProblem] = []
        read_start(tmp_path, found)
        assert message in [problem.message for problem in found][-1]

    def test_a_cluster_of_thousands(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path)
        nodes = "".join(f"    - {{name: n{number}}}\n" for number in range(201))
        (lab / "lab.md").write_text((lab / "lab.md").read_text().replace("    - {name: fake-a}\n", nodes))
        assert "must have at most 200 entries" in str(parse_lab(lab)[1][0])

    def test_python_nested_beyond_reading(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path)
        (lab / "checks.py").write_text("x = " + "-" * 100_000 + "1\n")
        with at_once():
            assert f"{lab}/checks.py:1:1: nested too deeply" in [str(problem) for problem in lint_lab(lab)]

    def test_a_script_that_is_huge_is_not_given_to_bash(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path)
        (lab / "solution").mkdir()
        with (lab / "solution/01-one.sh").open("w") as file:
            file.truncate(1 << 40)
        with at_once():
            problems = [str(problem) for problem in lint_lab(lab)]
        assert f"{lab}/solution/01-one.sh:1:1: is larger than 1 MiB" in problems

    def test_a_script_that_bash_never_ends(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lab = write_lab(tmp_path)
        (lab / "solution").mkdir()
        (lab / "solution/01-one.sh").write_text("true\n")
        bash = tmp_path / "bash"
        bash.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
        bash.chmod(0o755)
        monkeypatch.setattr(shutil, "which", lambda _name: str(bash))
        monkeypatch.setattr(lint, "_BASH_SECONDS", 0.2)
        with at_once():
            problems = [str(problem) for problem in lint_lab(lab)]
        assert f"{lab}/solution/01-one.sh:1:1: bash does not come to the end of it in 0 s" in problems

    def test_thousands_of_mistakes_are_told_in_few_lines(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        lab = write_lab(tmp_path)
        with (lab / "lab.md").open("a") as file:
            file.write("\n:::\n" * 1000)
        monkeypatch.setattr(catalogue, "labs_dir", lambda: tmp_path)
        with pytest.raises(UsageProblem) as raised:
            load_lab("lab-x")
        lines = raised.value.message.splitlines()
        assert len(lines) == 21
        assert lines[-1] == "and 980 more: grader lint lab-x"


class TestLearnersText:
    @pytest.mark.parametrize(
        ("text", "words"),
        [("a " * 500_000, "a " * 20_000 + "b"), ("ax " * 330_000, "ax " * 60 + "a"), ("a" * 1_000_000, "a" * 199)],
    )
    def test_words_that_are_nearly_everywhere(self, text: str, words: str) -> None:
        with at_once():
            assert not mentions(text, words)
