"""`grader import`: its report, its document, its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.lab.lint import lint_lab
from tests.unit.cli.conftest import Grader

SOURCES = Path(__file__).parents[2] / "data" / "imports"


def test_a_report_for_people(grader: Grader, tmp_path: Path) -> None:
    ran = grader("import", str(SOURCES / "killercoda"), "--to", str(tmp_path / "labs"))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert "pods  Run a web pod" in lines
    assert f"  written to {tmp_path}/labs/pods" in lines
    assert "  - pods/index.json:50  interface.layout: how the screen is laid out is the application's business" in lines
    assert lines[-1] == f"Look at them: BATCHLAB_LABS={tmp_path}/labs grader list"
    assert lint_lab(tmp_path / "labs" / "pods") == []


def test_without_what_was_converted(grader: Grader, tmp_path: Path) -> None:
    ran = grader("import", str(SOURCES / "katacoda"), "--to", str(tmp_path), "--brief")
    marks = {line[2:4] for line in ran.out.splitlines() if line.startswith("  ") and ".md:" in line}
    assert marks == {"~ ", "- "}


def test_a_document_for_programs(grader: Grader, tmp_path: Path) -> None:
    shutil.copytree(SOURCES / "iximiuz", tmp_path / "s")
    (tmp_path / "s" / "bad").mkdir()
    (tmp_path / "s" / "bad" / "index.json").write_text('{"details": }')
    ran = grader("import", str(tmp_path / "s"), "--to", str(tmp_path / "labs"), "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["schema"]) == (2, "batchlab/import/v1")
    [first, second] = document["labs"]
    assert (first["lab"], first["written"], first["lint"], second["lab"]) == ("text-only", True, [], "web-pod")
    assert {thing["outcome"] for thing in second["things"]} == {"converted", "approximated", "unmapped"}
    assert all(thing["reason"] for thing in second["things"] if thing["outcome"] != "converted")
    assert all(thing["into"] for thing in second["things"] if thing["outcome"] != "unmapped")
    assert document["unreadable"] == [
        {"file": "bad/index.json", "line": 1, "column": 13, "message": "not JSON: a value is wanted here"}
    ]


def test_what_is_there_is_left(grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHLAB_LABS", str(tmp_path))
    words = ("import", str(SOURCES / "iximiuz" / "text-only"))
    assert grader(*words).code == 0
    again = grader(*words)
    assert again.code == 2
    assert f"  not written: {tmp_path}/text-only exists already" in again.out.splitlines()
    forced = grader(*words, "--force")
    assert forced.code == 0
    assert f"  what stood there is now {tmp_path}/text-only.before-import-" in forced.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "there is no nowhere"),
        ([str(SOURCES / "iximiuz"), "--format", "katacoda"], "is a scenario or a challenge"),
        ([str(SOURCES), "--format", "instruqt"], "no 'instruqt' here"),
        ([], "SOURCE"),
    ],
)
def test_wrong_usage(words: list[str], told: str, grader: Grader, tmp_path: Path) -> None:
    ran = grader("import", *words, "--to", str(tmp_path / "labs"))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not (tmp_path / "labs").exists()


def test_nothing_of_a_source_reaches_the_terminal_as_a_command(grader: Grader, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    index = {"title": "x\x1b[2J", "details": {"a\x1b]0;y\x07": "z"}}
    (tmp_path / "s" / "index.json").write_text(json.dumps(index))
    ran = grader("import", str(tmp_path / "s"), "--to", str(tmp_path / "labs"))
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_the_lab_is_in_english_whatever_the_language(grader: Grader, tmp_path: Path) -> None:
    ran = grader("--lang", "ko", "import", str(SOURCES / "killercoda"), "--to", str(tmp_path / "labs"))
    assert ran.code == 0
    assert "옮기지 못함" in ran.out
    text = (tmp_path / "labs" / "notes" / "lab.md").read_text()
    assert "When you are through with this step, say so:" in text
