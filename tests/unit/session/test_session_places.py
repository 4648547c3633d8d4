"""Where a session lives, its lock, and what is moved aside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.session import places


def test_a_session_lives_in_the_state_folder(state_home: Path) -> None:
    assert places.session_home("lab-lws") == state_home / "sessions" / "lab-lws"


def test_another_folder_of_sessions(state_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the labs which `grader verify --keep` left running."""
    monkeypatch.setenv("BATCHLAB_SESSIONS", str(tmp_path / "verify"))
    assert places.session_home("lab-x") == tmp_path / "verify" / "lab-x"
    (tmp_path / "verify" / "lab-x").mkdir(parents=True)
    (tmp_path / "verify" / "lab-x" / "lock").touch()
    (tmp_path / "verify" / "lab-y.lock").touch()
    assert places.session_ids() == ["lab-x"]


def test_only_folders_that_were_locked_once_are_sessions(state_home: Path) -> None:
    assert places.session_ids() == []
    with places.locked(places.session_home("lab-b"), pytest.fail):
        pass
    (state_home / "sessions" / "stray").mkdir()
    assert places.session_ids() == ["lab-b"]
    assert places.session_home("lab-b").stat().st_mode & 0o777 == 0o700


def test_a_second_holder_waits_and_is_told_who_has_the_session(state_home: Path) -> None:
    home = places.session_home("lab-lws")
    told: list[str] = []
    release, freed = os.pipe()
    held, holding = os.pipe()
    child = os.fork()
    if child == 0:
        with places.locked(home, lambda _sentence: None):
            os.write(holding, b"x")
            os.read(release, 1)
        os._exit(0)
    os.read(held, 1)

    def hear(sentence: str) -> None:
        told.append(sentence)
        os.write(freed, b"x")  # only now does the other let go: so we did wait

    with places.locked(home, hear):
        pass
    os.waitpid(child, 0)
    assert told == [f"another command (process {child}) works on this session; waiting for it"]


def test_a_session_folder_that_cannot_be_made_is_said(state_home: Path) -> None:
    state_home.parent.mkdir()
    state_home.write_text("a file in its place")
    with (
        pytest.raises(EnvironmentProblem, match="can't use the session folder"),
        places.locked(places.session_home("lab-lws"), pytest.fail),
    ):
        pass


def test_a_reset_keeps_the_last_three_sets_of_files(tmp_path: Path) -> None:
    kept = []
    for number in range(5):
        work = tmp_path / "work"
        work.mkdir()
        (work / "answer.txt").write_text(str(number))
        moved = places.move_work_aside(tmp_path)
        assert moved is not None
        kept.append(moved)
    assert not (tmp_path / "work").exists()
    # All within one second, so that the order comes from the number behind the time.
    assert [(folder / "answer.txt").read_text() for folder in kept[2:]] == ["2", "3", "4"]
    assert [folder.exists() for folder in kept] == [False, False, True, True, True]


def test_an_empty_or_missing_work_folder_is_not_kept(tmp_path: Path) -> None:
    assert places.move_work_aside(tmp_path) is None
    (tmp_path / "work").mkdir()
    assert places.move_work_aside(tmp_path) is None
    assert list(tmp_path.glob("work.before-reset-*")) == []


def test_a_forgotten_history_takes_its_journal_with_it(tmp_path: Path) -> None:
    for name in ("history.db", "history.db-wal", "history.db-shm", "progress.json"):
        (tmp_path / name).write_text("x")
    places.forget_history(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["progress.json"]


def test_the_end_of_a_log_is_read_without_reading_all_of_it(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    log.write_bytes(b"x" * 50_000 + b"\nlast but one\nlast \xff\n")
    assert places.last_lines(log, 2) == ["last but one", "last \ufffd"]
    assert places.last_lines(tmp_path / "none.log") == []
