"""When there is something new to look at."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.history.writer import HistoryWriter
from grader.session.changes import (
    FIRST_QUIET,
    LONGEST_QUIET,
    MOST_FILES,
    POLL_SECONDS,
    UNTRACED_QUIET,
    Changes,
)


class Clock:
    """Time that only passes when somebody waits; runs an action after a given number of polls."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.action: Callable[[], object] = lambda: None
        self.at = -1

    def pause(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)
        if len(self.pauses) == self.at:
            self.action()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    _begin_history(tmp_path)
    return tmp_path


def _begin_history(home: Path) -> None:
    HistoryWriter(home / "history.db").close()


def _write(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "history.db", isolation_level=None)) as history:
        history.execute(statement)


CHANGE = "INSERT INTO change VALUES (NULL, 1.0, 'ADDED', 'v1', 'Pod', 'lab', 'a', 'a', '7', '{}')"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def changes(home: Path, clock: Clock) -> Iterator[Changes]:
    with Changes(home, clock=lambda: clock.now, pause=clock.pause) as changes:
        yield changes


def _seconds_until_next(changes: Changes, clock: Clock, *, untraced: bool = False) -> float:
    changes.looking()
    began = clock.now
    changes.wait(untraced=untraced)
    return clock.now - began


def test_looks_can_be_kept_apart(home: Path, changes: Changes, clock: Clock) -> None:
    changes.looking()
    _write(home, CHANGE)
    clock.now += 0.1  # so long the look took
    changes.wait(apart=1.0)
    assert clock.now == pytest.approx(1.0), "a second after it began, although something has changed at once"


def test_a_change_in_the_history_is_seen_within_one_poll(home: Path, changes: Changes, clock: Clock) -> None:
    clock.at, clock.action = 3, lambda: _write(home, CHANGE)
    assert _seconds_until_next(changes, clock) == pytest.approx(3 * POLL_SECONDS)


def test_a_gap_in_the_history_is_seen(home: Path, changes: Changes, clock: Clock) -> None:
    clock.at, clock.action = 2, lambda: _write(home, "INSERT INTO gap VALUES ('Pod', 1.0, 2.0, 'expired')")
    assert _seconds_until_next(changes, clock) == pytest.approx(2 * POLL_SECONDS)


def test_a_watch_that_got_further_is_no_change(home: Path, changes: Changes, clock: Clock) -> None:
    # The recorder moves the positions of quiet kinds on: that is written, but nothing happened.
    clock.at, clock.action = 2, lambda: _write(home, "INSERT INTO position VALUES ('v1', 'Pod', '9', 1.0)")
    assert _seconds_until_next(changes, clock) >= FIRST_QUIET


@pytest.mark.parametrize("name", ["new.txt", "below/new.txt"])
def test_a_new_file_is_seen(home: Path, changes: Changes, clock: Clock, name: str) -> None:
    (home / "work" / "below").mkdir()
    clock.at, clock.action = 2, (home / "work" / name).touch
    assert _seconds_until_next(changes, clock) == pytest.approx(2 * POLL_SECONDS)


def test_a_changed_file_is_seen(home: Path, changes: Changes, clock: Clock) -> None:
    answer = home / "work" / "names.txt"
    answer.write_text("a")
    clock.at, clock.action = 2, lambda: answer.write_text("ab")
    assert _seconds_until_next(changes, clock) == pytest.approx(2 * POLL_SECONDS)


def test_what_changes_during_a_look_is_seen_after_it(home: Path, changes: Changes, clock: Clock) -> None:
    changes.looking()
    (home / "work" / "names.txt").touch()
    changes.wait()
    assert clock.pauses == [POLL_SECONDS]


def test_half_of_the_time_is_left_to_the_cluster(home: Path, changes: Changes, clock: Clock) -> None:
    changes.looking()
    (home / "work" / "names.txt").touch()
    clock.now += 0.7  # a look that takes long
    changes.wait()
    assert clock.pauses == [pytest.approx(0.7)]


def test_a_loop_of_links_is_not_walked(home: Path, changes: Changes, clock: Clock) -> None:
    (home / "work" / "loop").symlink_to(home / "work")
    assert _seconds_until_next(changes, clock) >= FIRST_QUIET


def test_there_is_an_end_to_the_files_that_are_looked_at(home: Path, changes: Changes, clock: Clock) -> None:
    for number in range(MOST_FILES):
        (home / "work" / f"{number:04}").touch()
    clock.at, clock.action = 2, (home / "work" / "zzz").touch
    assert _seconds_until_next(changes, clock) >= FIRST_QUIET


def test_without_a_change_it_is_looked_at_again_and_ever_more_rarely(changes: Changes, clock: Clock) -> None:
    seconds = [_seconds_until_next(changes, clock) for _look in range(8)]
    expected = [2.5, 5, 10, 20, 40, LONGEST_QUIET, LONGEST_QUIET, LONGEST_QUIET]
    assert seconds == [pytest.approx(each, abs=2 * POLL_SECONDS) for each in expected]


def test_a_change_makes_it_look_soon_again(home: Path, changes: Changes, clock: Clock) -> None:
    for _look in range(8):
        _seconds_until_next(changes, clock)
    (home / "work" / "names.txt").touch()
    changes.wait()
    assert _seconds_until_next(changes, clock) == pytest.approx(FIRST_QUIET, abs=2 * POLL_SECONDS)


def test_what_leaves_no_trace_is_looked_at_every_few_seconds(changes: Changes, clock: Clock) -> None:
    for _look in range(8):
        _seconds_until_next(changes, clock)
    seconds = _seconds_until_next(changes, clock, untraced=True)
    assert seconds == pytest.approx(UNTRACED_QUIET, abs=2 * POLL_SECONDS)


def test_a_history_that_was_begun_anew_is_followed(home: Path, changes: Changes, clock: Clock) -> None:
    def begin_anew() -> None:
        (home / "history.db").rename(home / "history.db.damaged")
        _begin_history(home)

    clock.at, clock.action = 2, begin_anew
    assert _seconds_until_next(changes, clock) == pytest.approx(2 * POLL_SECONDS)
    clock.at, clock.action = len(clock.pauses) + 2, lambda: _write(home, CHANGE)
    assert _seconds_until_next(changes, clock) == pytest.approx(2 * POLL_SECONDS)


def test_without_a_history_there_is_nothing_to_watch(home: Path) -> None:
    (home / "history.db").unlink()
    with pytest.raises(EnvironmentProblem, match=r"the history at .* can't be read"):
        Changes(home)
