"""What a session writes into its record, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.lab.model import Lab
from grader.record import journal, telling
from grader.record.chain import examine
from grader.record.journal import read_record
from grader.results import Result, State
from tests.unit.session.pretended import make_lab

P, F, W = State.PASSED, State.FAILED, State.WAITING


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    folder = tmp_path / "labs" / "lab-toy"
    folder.mkdir(parents=True)
    (folder / "lab.md").write_text("text")
    return replace(make_lab(), folder=folder, values={"replicas": 3})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def results(*states: State) -> list[Result]:
    return [
        Result(check=f"check-{number}", step=number, step_id=f"step-{number}", says="it is so", state=state)
        for number, state in enumerate(states, start=1)
    ]


def told(home: Path) -> list[Any]:
    record = read_record(home)
    assert record is not None
    assert examine(record.head, record.entries) == []
    return record.entries


def test_a_start_tells_what_was_drawn(home: Path, lab: Lab) -> None:
    assert telling.note_start(home, lab, 1.5, again=False) == ""
    telling.note_start(home, lab, 2.5, again=True)
    first, second = told(home)
    assert (first["what"], first["at"], first["drawn"]) == ("start", "1970-01-01T00:00:01.500Z", {"replicas": 3})
    assert second["what"] == "reset"
    record = read_record(home)
    assert record is not None
    assert record.head["learner"], "the learner's key vouches for it"


def test_a_record_that_begins_inside_has_no_learner(home: Path, lab: Lab) -> None:
    telling.note_check(home, lab, results(F), 1.0, counted=True)
    record = read_record(home)
    assert record is not None
    assert (record.head["learner"], record.head["bond"]) == ("", "")


def test_a_check_tells_each_state(home: Path, lab: Lab) -> None:
    telling.note_check(home, lab, results(P, F), 1.0, counted=True)
    [entry] = told(home)
    assert entry["steps"] == {"step-1": {"check-1": "passed"}, "step-2": {"check-2": "failed"}}
    assert entry["counted"] is True
    assert entry["lab"] == "lab-toy"


def test_what_is_the_same_is_told_in_one_word_and_by_nobody_who_only_watches(home: Path, lab: Lab) -> None:
    for counted in (True, True, False, False):
        telling.note_check(home, lab, results(P, F), 1.0, counted=counted)
    assert [entry.get("same") for entry in told(home)] == [None, True]


def test_who_watches_tells_what_passes_and_what_no_longer_does(home: Path, lab: Lab) -> None:
    for states in ((F, F), (F, W), (W, F), (P, F), (P, W), (F, F)):
        telling.note_check(home, lab, results(*states), 1.0, counted=False)
    assert [entry["steps"]["step-1"]["check-1"] for entry in told(home)] == ["failed", "passed", "failed"]


def test_after_a_start_other_values_or_another_lab_all_is_told_again(home: Path, lab: Lab) -> None:
    telling.note_check(home, lab, results(F), 1.0, counted=False)
    telling.note_start(home, lab, 2.0, again=True)
    telling.note_check(home, lab, results(F), 3.0, counted=False)
    telling.note_check(home, replace(lab, values={"replicas": 4}), results(F), 4.0, counted=False)
    (lab.folder / "lab.md").write_text("an easier one")
    telling.note_check(home, replace(lab, values={"replicas": 4}), results(F), 5.0, counted=False)
    entries = told(home)
    assert [entry["what"] for entry in entries] == ["check", "reset", "check", "check", "check"]
    assert len({entry["values"] for entry in entries}) == 2
    assert len({entry["content"] for entry in entries}) == 2


def test_a_long_record_tells_only_what_passes_for_the_first_time(
    home: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling.note_check(home, lab, results(F, F), 1.0, counted=True)
    monkeypatch.setattr(telling, "SPARSE_FROM", 10)
    for states in ((F, P), (F, F), (F, P), (P, P), (F, F)):
        telling.note_check(home, lab, results(*states), 2.0, counted=True)
    # The first, written before it was long; then what passed for the first time, of either check.
    assert [entry["steps"]["step-1"]["check-1"] for entry in told(home)] == ["failed", "failed", "passed"]


def test_a_hint(home: Path, lab: Lab) -> None:
    telling.note_hint(home, lab, "step-1", 2)
    [entry] = told(home)
    assert (entry["what"], entry["step"], entry["shown"]) == ("hint", "step-1", 2)


def test_a_record_that_can_not_be_written_costs_a_sentence_only(home: Path, lab: Lab) -> None:
    (home / journal.FILE).symlink_to(home)
    home.joinpath("record.lock").mkdir()
    assert "can't use" in telling.note_check(home, lab, results(F), 1.0, counted=True)


def test_the_digest_is_of_the_files_that_decide(lab: Lab) -> None:
    before = telling.content_of(lab.folder)
    (lab.folder / "lab.ko.md").write_text("words")
    (lab.folder / "README.md").write_text("words")
    assert telling.content_of(lab.folder) == before
    seen = {before}
    for name in ("checks.py", "start/a.yaml", "start/b.yaml"):
        (lab.folder / name).parent.mkdir(exist_ok=True)
        (lab.folder / name).write_text("x: 1")
        seen.add(telling.content_of(lab.folder))
    (lab.folder / "start/b.yaml").rename(lab.folder / "start/c.yaml")
    seen.add(telling.content_of(lab.folder))
    assert len(seen) == 5
