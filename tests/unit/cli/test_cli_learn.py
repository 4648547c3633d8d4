"""list, show, hint, report: what reads labs and progress."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grader.lab.catalogue import load_lab
from grader.progress import load_progress, read_book, record_run
from grader.results import Result, State
from grader.session.places import locked, session_home
from tests.unit.cli.conftest import LABS, Grader
from tests.unit.conftest import Golden


def begin(passed: int = 0) -> Path:
    """A session of the toy lab in which that many steps have passed."""
    home = session_home("lab-toy")
    with locked(home, pytest.fail):
        pass
    if passed:
        lab = load_lab("lab-toy")
        results = [
            Result(
                check=check.id,
                step=step.number,
                step_id=step.id,
                says=check.says,
                state=State.PASSED if step.number <= passed else State.FAILED,
            )
            for step in lab.steps
            for check in step.checks
        ]
        record_run("lab-toy", results, steps_in_lab=2, at=1_800_000_000.0, seconds=1.0, folder=home)
    return home


# -- list ---------------------------------------------------------------------------------------------


def test_the_labs_are_listed_with_what_is_done(grader: Grader, golden: Golden) -> None:
    begin(passed=1)
    ran = grader("list")
    assert (ran.code, ran.err) == (0, "")
    golden("cli/list.txt", ran.out)


def test_the_list_as_data(grader: Grader) -> None:
    begin(passed=1)
    ran = grader("list", "--json")
    assert json.loads(ran.out) == {
        "schema": "batchlab/list/v1",
        "labs": [
            {
                "id": "lab-toy",
                "title": "A first pod",
                "minutes": 10,
                "after": [],
                "needs_root": False,
                "collection": None,
                "accepted": True,
                "steps": [
                    {"id": "hello", "title": "Say hello", "passed": True},
                    {"id": "bye", "title": "Say good-bye", "passed": False},
                ],
            }
        ],
    }


def test_a_lab_with_mistakes_is_left_out_and_named(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "labs" / "lab-bad"
    bad.mkdir(parents=True)
    (bad / "lab.md").write_text("---\nformat: 1\n---\n")
    monkeypatch.setattr("grader.lab.catalogue.labs_dir", lambda: tmp_path / "labs")
    ran = grader("list")
    assert (ran.code, ran.out) == (0, "there are no labs\n")
    assert ran.err.startswith(f"grader: lab-bad is left out: {bad}/lab.md:")


# -- show ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "name"),
    [(["lab-toy"], "show-lab"), (["lab-toy", "hello"], "show-step"), (["lab-toy", "--all"], "show-all")],
)
def test_a_labs_text(grader: Grader, golden: Golden, words: list[str], name: str) -> None:
    ran = grader("show", *words)
    assert (ran.code, ran.err) == (0, "")
    golden(f"cli/{name}.txt", ran.out)
    assert "One word." not in ran.out, "a hint is asked for, not found"


def test_a_step_goes_by_its_number_too(grader: Grader) -> None:
    assert grader("show", "lab-toy", "1").out == grader("show", "lab-toy", "hello").out


def test_inside_a_lab_its_name_is_not_needed(grader: Grader, inside: Path) -> None:
    assert grader("show").out.startswith("# A first pod\n")
    assert grader("show", "2").out.startswith("## 2 Say good-bye (`bye`)\n")
    assert grader("show", "bye").out == grader("show", "2").out


def test_a_lab_as_data(grader: Grader) -> None:
    content = json.loads(grader("show", "lab-toy", "hello", "--json").out)
    assert content["schema"] == "batchlab/show/v1"
    assert (content["id"], content["namespace"], content["workdir"]) == ("lab-toy", "toys", "toys")
    [step] = content["steps"]
    assert step["checks"] == [{"id": "hello-said", "says": "hello.txt says hello"}]
    assert step["hints"] == 2
    assert "```bash run" in step["body"]


def test_on_a_terminal_texts_and_hints_are_laid_out(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert grader("show", "lab-toy", "hello").out.startswith("1 Say hello (hello)\n───────────────────\n\n")
    assert "```" not in grader("show", "lab-toy", "--all").out
    assert grader("hint", "lab-toy", "hello").out == "hint 1 of 2\nOne word.\n\n1 more: ask again\n"


# -- hint ---------------------------------------------------------------------------------------------


def test_each_call_shows_one_more_hint_and_remembers_it(grader: Grader) -> None:
    home = begin()
    first, second, third = (grader("hint", "lab-toy", "hello") for _ in range(3))
    assert first.out == "hint 1 of 2\nOne word.\n\n1 more: ask again\n"
    assert second.out == "hint 1 of 2\nOne word.\n\nhint 2 of 2\nIn lower case.\n\nno more hints\n"
    assert third.out == second.out
    assert load_progress(home).hints == {"hello": 2}
    assert read_book(home)["lab-toy"].hints == 2, "the third call showed nothing new"


def test_all_hints_at_once(grader: Grader, inside: Path) -> None:
    ran = grader("hint", "1", "--all")
    assert ran.out.endswith("In lower case.\n\nno more hints\n")
    assert load_progress(inside).hints == {"hello": 2}


def test_a_step_without_hints(grader: Grader) -> None:
    begin()
    ran = grader("hint", "lab-toy", "bye")
    assert (ran.code, ran.out) == (0, "step 2 (bye) has no hints\n")


def test_without_a_session_the_first_hint_is_shown_and_nothing_kept(grader: Grader, state_home: Path) -> None:
    assert grader("hint", "lab-toy", "hello").out.startswith("hint 1 of 2\n")
    assert grader("hint", "lab-toy", "hello").out.endswith("1 more: ask again\n")
    assert not state_home.exists()


def test_hints_as_data(grader: Grader) -> None:
    begin()
    assert json.loads(grader("hint", "lab-toy", "hello", "--json").out) == {
        "schema": "batchlab/hint/v1",
        "lab": "lab-toy",
        "step": "hello",
        "hints": ["One word."],
        "left": 1,
    }


def test_a_damaged_progress_file_costs_no_hint(grader: Grader) -> None:
    home = begin()
    (home / "progress.json").write_text('{"schema": 99}')
    ran = grader("hint", "lab-toy", "hello")
    assert ran.code == 0
    assert ran.out.startswith("hint 1 of 2\nOne word.\n")
    assert "was written by a newer Batchlab" in ran.err


# -- report -------------------------------------------------------------------------------------------


def test_progress_over_labs_in_each_form(grader: Grader) -> None:
    begin(passed=1)
    assert "lab-toy   1 of 2" in grader("report").out
    document = json.loads(grader("report", "--json").out)
    assert document["schema"] == "batchlab/report/v1"
    [lab] = document["labs"]
    assert (lab["lab"], lab["steps_passed"], lab["attempts"]) == ("lab-toy", 1, 1)
    assert [attempt["passed"] for attempt in lab["kept"]] == [1]
    csv = grader("report", "--csv").out.splitlines()
    assert csv[1].startswith("lab-toy,begun,1,2,")


def test_before_anything_was_started(grader: Grader) -> None:
    assert LABS.is_dir()
    assert grader("report").out == "No lab has been started yet.\nnot begun: lab-toy\n"
