"""`progress.json`: what it remembers, and what happens to one that is damaged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cluster.errors import EnvironmentProblem
from grader.progress import begin_progress, forget_progress, load_progress, note_hints, remember_results
from grader.results import Result, State

if TYPE_CHECKING:
    from pathlib import Path


def result(check: str, state: State, achieved: float | None = None) -> Result:
    return Result(check=check, step=1, step_id="one", says="so", state=state, achieved=achieved)


def test_nothing_there_is_empty_and_stays_nothing(tmp_path: Path) -> None:
    session = tmp_path / "lab-x"
    progress = load_progress(session)
    assert (progress.achievements, progress.hints, progress.started, progress.note) == ({}, {}, None, "")
    assert not session.exists()


def test_first_times_stay(tmp_path: Path) -> None:
    begin_progress(tmp_path, 10.0)
    begin_progress(tmp_path, 20.0)
    remember_results(tmp_path, [result("a", State.PASSED), result("b", State.FAILED)], at=30.0, whole_lab=True)
    remember_results(tmp_path, [result("a", State.PASSED), result("b", State.PASSED)], at=40.0, whole_lab=True)
    remember_results(tmp_path, [result("a", State.FAILED), result("b", State.PASSED)], at=50.0, whole_lab=True)
    progress = load_progress(tmp_path)
    assert progress.started == 10.0
    assert progress.achievements == {"a": 30.0, "b": 40.0}
    assert progress.finished == 40.0


def test_remembered_pass_keeps_the_time_the_engine_gives(tmp_path: Path) -> None:
    remember_results(tmp_path, [result("a", State.PASSED, achieved=12.5)], at=99.0, whole_lab=False)
    assert load_progress(tmp_path).achievements == {"a": 12.5}


@pytest.mark.parametrize("state", [State.FAILED, State.WAITING, State.SKIPPED, State.ERROR])
def test_only_a_pass_is_an_achievement(tmp_path: Path, state: State) -> None:
    progress = remember_results(tmp_path, [result("a", state)], at=1.0, whole_lab=True)
    assert progress.achievements == {}
    assert progress.finished is None


def test_some_steps_never_finish_a_lab(tmp_path: Path) -> None:
    assert remember_results(tmp_path, [result("a", State.PASSED)], at=1.0, whole_lab=False).finished is None
    assert remember_results(tmp_path, [], at=1.0, whole_lab=True).finished is None


def test_hints_never_go_down_and_outlive_a_reset(tmp_path: Path) -> None:
    note_hints(tmp_path, "restart", 2)
    note_hints(tmp_path, "restart", 1)
    remember_results(tmp_path, [result("a", State.PASSED)], at=5.0, whole_lab=True)
    forget_progress(tmp_path, 9.0)
    progress = load_progress(tmp_path)
    assert progress.hints == {"restart": 2}
    assert progress.achievements == {}
    assert progress.finished is None
    assert progress.started == 9.0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value"),
        (b'{"schema": 1, "achievements": {"a": 1', "Expecting"),
        (b"[]", "not an object"),
        (b"\xff\xfe\x00", "codec"),
        (b'{"schema": 1, "achievements": {"a": "soon"}}', "achievements.a"),
        (b'{"schema": 1, "achievements": {"a": NaN}}', "achievements.a"),
        (b'{"schema": 1, "hints": {"a": -1}}', "hints.a"),
        (b'{"achievements": {}}', "schema"),
        (b"[" * 100_000, ""),
    ],
)
def test_damaged_file_is_kept_aside_and_named(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "progress.json").write_bytes(content)
    progress = load_progress(tmp_path)
    (kept,) = tmp_path.glob("progress.json.damaged-*")
    assert kept.read_bytes() == content
    assert str(kept) in progress.note
    assert why in progress.note
    assert progress.achievements == {}
    assert not (tmp_path / "progress.json").exists()
    # The next one is whole again, and says nothing.
    remember_results(tmp_path, [result("a", State.PASSED)], at=3.0, whole_lab=False)
    assert load_progress(tmp_path).note == ""


def test_two_damaged_files_are_both_kept(tmp_path: Path) -> None:
    for content in ("one", "two"):
        (tmp_path / "progress.json").write_text(content)
        load_progress(tmp_path)
    assert {kept.read_text() for kept in tmp_path.glob("progress.json.damaged-*")} == {"one", "two"}


def test_a_directory_or_a_huge_file_in_its_place_is_damage(tmp_path: Path) -> None:
    (tmp_path / "progress.json").mkdir()
    assert "directory" in load_progress(tmp_path).note
    with (tmp_path / "progress.json").open("wb") as huge:
        huge.truncate(1 << 40)
    assert "4 MiB" in load_progress(tmp_path).note


def test_newer_file_is_refused_and_left_alone_until_reset(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text('{"schema": 2, "achievements": ["other"]}')
    with pytest.raises(EnvironmentProblem, match=r"schema 2, this one knows 1"):
        load_progress(tmp_path)
    with pytest.raises(EnvironmentProblem):
        remember_results(tmp_path, [], at=1.0, whole_lab=False)
    assert json.loads(path.read_text())["schema"] == 2
    assert "damaged-" in forget_progress(tmp_path, 4.0).note
    assert load_progress(tmp_path).started == 4.0


def test_keys_added_later_are_no_damage(tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text('{"schema": 1, "achievements": {"a": 1}, "mood": "good"}')
    assert load_progress(tmp_path).achievements == {"a": 1}


def test_nothing_but_the_file_and_its_lock_is_left(tmp_path: Path) -> None:
    remember_results(tmp_path, [result("a", State.PASSED)], at=3.0, whole_lab=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["progress.json", "progress.lock"]
    assert (tmp_path / "progress.json").stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_results(tmp_path, [result("a", State.PASSED)], at=3.0, whole_lab=False)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.progress.files.os.fsync", full)
    with pytest.raises(EnvironmentProblem, match="No space left on device"):
        remember_results(tmp_path, [result("b", State.PASSED)], at=4.0, whole_lab=False)
    assert load_progress(tmp_path).achievements == {"a": 3.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["progress.json", "progress.lock"]


def test_folder_that_cannot_be_made_is_a_problem_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="Not a directory"):
        begin_progress(tmp_path / "file" / "session", 1.0)
