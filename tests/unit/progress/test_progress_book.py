"""`labs.json`: what is remembered of each lab for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cluster.errors import EnvironmentProblem
from grader.progress import LabRecord, read_attempts, read_book, record_hint, record_run, record_start
from grader.results import Result, State

if TYPE_CHECKING:
    from pathlib import Path


def results(*states: State) -> list[Result]:
    return [
        Result(check=f"c{number}", step=number, step_id=f"s{number}", says="so", state=state)
        for number, state in enumerate(states, 1)
    ]


def test_a_lab_from_start_to_finish(tmp_path: Path) -> None:
    record_start("lab-x", 1000.0, tmp_path)
    record_run(
        "lab-x",
        results(State.PASSED, State.FAILED),
        steps_in_lab=2,
        at=1060.0,
        seconds=0.4,
        folder=tmp_path,
    )
    record_hint("lab-x", 1100.0, tmp_path)
    record_run("lab-x", results(State.PASSED, State.PASSED), steps_in_lab=2, at=1200.0, seconds=0.4, folder=tmp_path)
    record_run("lab-x", results(State.FAILED, State.PASSED), steps_in_lab=2, at=1300.0, seconds=0.4, folder=tmp_path)
    assert read_book(tmp_path) == {
        "lab-x": LabRecord(
            lab="lab-x",
            started=1000.0,
            last=1300.0,
            finished=1200.0,
            seconds_at_work=300.0,
            attempts=3,
            hints=1,
            steps={"s1": 1060.0, "s2": 1200.0},
            total=2,
        )
    }
    assert [attempt.passed for attempt in read_attempts(tmp_path)] == [1, 2, 1]


def test_long_pauses_are_no_work(tmp_path: Path) -> None:
    record_start("lab-x", 0.0, tmp_path)
    record_hint("lab-x", 15 * 60.0, tmp_path)
    record_hint("lab-x", 15 * 60.0 + 15 * 60.0 + 1, tmp_path)
    record_hint("lab-x", 15 * 60.0 + 15 * 60.0 + 11, tmp_path)
    assert read_book(tmp_path)["lab-x"].seconds_at_work == 15 * 60.0 + 10


def test_a_clock_set_back_takes_nothing_away(tmp_path: Path) -> None:
    record_start("lab-x", 1000.0, tmp_path)
    record_hint("lab-x", 1100.0, tmp_path)
    record_hint("lab-x", 50.0, tmp_path)
    record = read_book(tmp_path)["lab-x"]
    assert (record.last, record.seconds_at_work, record.started) == (1100.0, 100.0, 1000.0)


def test_one_step_alone_does_not_finish_the_lab(tmp_path: Path) -> None:
    record_run("lab-x", results(State.PASSED), steps_in_lab=2, at=5.0, seconds=0.1, folder=tmp_path)
    record = read_book(tmp_path)["lab-x"]
    assert (record.finished, dict(record.steps), record.total) == (None, {"s1": 5.0}, 2)


def test_steps_the_lab_no_longer_has_are_dropped_by_a_whole_run(tmp_path: Path) -> None:
    record_run("lab-x", results(State.PASSED), steps_in_lab=3, at=5.0, seconds=0.1, folder=tmp_path)
    renamed = Result(check="c", step=1, step_id="new", says="so", state=State.PASSED)
    record_run("lab-x", [renamed], steps_in_lab=2, at=6.0, seconds=0.1, folder=tmp_path)
    assert dict(read_book(tmp_path)["lab-x"].steps) == {"s1": 5.0, "new": 6.0}
    record_run("lab-x", [renamed], steps_in_lab=1, at=7.0, seconds=0.1, folder=tmp_path)
    assert dict(read_book(tmp_path)["lab-x"].steps) == {"new": 6.0}


def test_labs_do_not_mix(tmp_path: Path) -> None:
    record_start("lab-x", 1.0, tmp_path)
    record_start("lab-y", 2.0, tmp_path)
    assert {lab: record.started for lab, record in read_book(tmp_path).items()} == {
        "lab-x": 1.0,
        "lab-y": 2.0,
    }


def test_files_and_no_more(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    assert read_book(folder) == {}
    assert not folder.exists()
    record_start("lab-x", 1.0, folder)
    record_run("lab-x", results(State.PASSED), steps_in_lab=1, at=5.0, seconds=0.1, folder=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["attempts.jsonl", "labs.json", "progress.lock"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"schema": 1, "labs": {"lab-x": {"attempts": -1}}}'])
def test_damaged_book_is_set_aside_and_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "labs.json").write_text(content)
    note = record_start("lab-x", 1.0, tmp_path)
    (kept,) = tmp_path.glob("labs.json.damaged-*")
    assert str(kept) in note
    assert kept.read_text() == content
    assert read_book(tmp_path)["lab-x"].started == 1.0
    assert record_start("lab-x", 1.0, tmp_path) == ""


def test_book_of_a_newer_batchlab_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "labs.json"
    path.write_text('{"schema": 7}')
    with pytest.raises(EnvironmentProblem, match="schema 7"):
        record_start("lab-x", 1.0, tmp_path)
    assert path.read_text() == '{"schema": 7}'
