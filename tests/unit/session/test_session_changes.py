"""When there is something new to look at."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.session.changes import LONGEST_QUIET, POLL_SECONDS, changes


class Clock:
    """Time that only passes when somebody waits; runs an action at a given moment."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses = 0
        self.action: Callable[[], object] = lambda: None
        self.at = -1

    def pause(self, seconds: float) -> None:
        assert seconds == POLL_SECONDS
        self.now += seconds
        self.pauses += 1
        if self.pauses == self.at:
            self.action()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    with sqlite3.connect(tmp_path / "history.db") as history:
        history.execute("PRAGMA journal_mode=WAL")
        history.execute("CREATE TABLE change (seq INTEGER)")
    history.close()
    return tmp_path


def _pauses_until_next(home: Path, clock: Clock) -> int:
    seen = changes(home, clock=lambda: clock.now, pause=clock.pause)
    next(seen)
    assert clock.pauses == 0, "the first look is at once"
    next(seen)
    return clock.pauses


def test_a_change_in_the_history_is_seen(home: Path) -> None:
    clock = Clock()
    writer = sqlite3.connect(home / "history.db", isolation_level=None)
    clock.at, clock.action = 3, lambda: writer.execute("INSERT INTO change VALUES (1)")
    assert _pauses_until_next(home, clock) == 3
    writer.close()


@pytest.mark.parametrize("name", ["new.txt", "below/new.txt"])
def test_a_new_file_is_seen(home: Path, name: str) -> None:
    clock = Clock()
    (home / "work" / "below").mkdir()
    clock.at, clock.action = 2, (home / "work" / name).touch
    assert _pauses_until_next(home, clock) == 2


def test_a_changed_file_is_seen(home: Path) -> None:
    clock = Clock()
    answer = home / "work" / "names.txt"
    answer.write_text("a")
    clock.at, clock.action = 2, lambda: answer.write_text("ab")
    assert _pauses_until_next(home, clock) == 2


def test_a_loop_of_links_is_not_walked(home: Path) -> None:
    clock = Clock()
    (home / "work" / "loop").symlink_to(home / "work")
    assert _pauses_until_next(home, clock) == LONGEST_QUIET / POLL_SECONDS


def test_nothing_known_to_change_is_looked_at_again_after_a_while(home: Path) -> None:
    assert _pauses_until_next(home, Clock()) == LONGEST_QUIET / POLL_SECONDS


def test_without_a_history_there_is_nothing_to_watch(home: Path) -> None:
    (home / "history.db").unlink()
    with pytest.raises(EnvironmentProblem, match=r"the history at .* can't be read"):
        next(changes(home))
