"""A lab that is being written: when it is read again, and what is told of its checks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.author.expected import Expected
from grader.author.preview import AuthorsView, Settled, check_rows, last_results, read_preview, stamp
from grader.lab.parse import parse_lab
from grader.results import Finding, Result, State

EXAMPLE = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "lab-hello"))


def test_a_change_is_taken_once_and_when_it_has_settled(lab: Path) -> None:
    files = Settled(lab)
    assert [files.changed(), files.changed()] == [False, False]
    (lab / "lab.md").write_text("half")
    assert not files.changed()  # an editor may be in the middle of it
    (lab / "lab.md").write_text("half and whole")
    assert not files.changed()
    assert files.changed()
    assert not files.changed()


@pytest.mark.parametrize("name", ["start/new.yaml", "wrong/new/answer.sh", "checks.py", "exceptions.yaml"])
def test_any_file_of_the_lab_counts(lab: Path, name: str) -> None:
    before = stamp(lab)
    (lab / name).parent.mkdir(parents=True, exist_ok=True)
    (lab / name).write_text("x")
    assert stamp(lab) != before


@pytest.mark.parametrize("name", [".lab.md.swp/x", "__pycache__/checks.pyc"])
def test_what_editors_and_python_leave_does_not(lab: Path, name: str) -> None:
    before = stamp(lab)
    (lab / name).parent.mkdir(parents=True, exist_ok=True)
    (lab / name).write_text("x")
    assert stamp(lab) == before


def test_a_lab_with_mistakes_that_hinder_nobody_is_read_all_the_same(lab: Path) -> None:
    script = lab / "solution" / "01-run.sh"
    script.write_text(script.read_text() + "jq .\n")
    preview = read_preview(lab)
    assert preview.lab is not None
    assert len(preview.problems) == 1
    (lab / "lab.md").write_text("nothing")
    assert read_preview(lab).lab is None


def test_what_is_told_of_a_check() -> None:
    lab, _problems = parse_lab(EXAMPLE)
    assert lab is not None
    _step, check = lab.check("where-answer")
    expected = [
        Expected(what="where.txt: node", source="{{ x }}", value="gpu-b"),
        Expected(what="where.txt: rack", source="{{ y }}", value=None, trouble="there is no y"),
    ]
    result = Result(
        check=check.id, step=2, step_id="where", says=check.says, state=State.FAILED, finding=Finding(saw="gpu-z"),
        read=("a", "b"), decided=("c",), evidence=("d",), seconds=0.25,
    )  # fmt: skip
    view = AuthorsView({check.id: expected}, {check.id: result}, session=True)
    assert list(check_rows(check, view)) == [
        ("kind", "answer, hold once, weight 2, after pod-runs"),
        ("expects", "where.txt: node = gpu-b  ← {{ x }}"),
        ("", "where.txt: rack = {{ y }}  (there is no y)"),
        ("found", "failed: gpu-z"),
        ("read", "a"),
        ("", "b"),
        ("decided", "c"),
        ("evidence", "d"),
        ("took", "0.250 s"),
    ]
    passed = replace(result, state=State.PASSED, finding=Finding())
    assert ("found", "passed") in list(check_rows(check, replace(view, results={check.id: passed})))


def test_without_a_running_session_nothing_was_found(tmp_path: Path) -> None:
    assert last_results(tmp_path) == []
