"""Following a history: nothing twice, nothing lost, and another file is another history."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.history.store import HistoryWriter
from grader.history.tail import HistoryTail
from tests.unit.history.test_history_store import change


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


def test_each_look_has_what_came_since(path: Path) -> None:
    with HistoryWriter(path) as writer, HistoryTail(path, ("Pod", "Event")) as tail:
        writer.append([change(1.0, "ADDED", "a", 1), change(2.0, "ADDED", "n", 2, kind="Node")])
        first = tail.look()
        assert ([each.name for each in first.changes], first.anew, first.until) == (["a"], True, 2.0)
        again = tail.look()
        assert (again.changes, again.anew) == ((), False)
        writer.append([change(3.0, "MODIFIED", "a", 3), change(4.0, "ADDED", "e", 4, kind="Event")])
        assert [each.name for each in tail.look().changes] == ["a", "e"]


def test_gaps_come_with_every_look(path: Path) -> None:
    with HistoryWriter(path) as writer, HistoryTail(path, ("Pod",)) as tail:
        writer.gap("Pod", 1.0, 2.0, "expired")
        writer.gap("Node", 1.0, 2.0, "expired")
        assert [gap.kind for gap in tail.look().gaps] == ["Pod"]
        assert [gap.kind for gap in tail.look().gaps] == ["Pod"]


def test_what_is_recorded_goes_on_without_changes(path: Path) -> None:
    from grader.history.kinds import RecordedKind
    from grader.history.writer import Update

    with HistoryWriter(path) as writer, HistoryTail(path, ("Pod",)) as tail:
        writer.append([change(1.0, "ADDED", "a", 1)])
        writer.store([Update(kind=RecordedKind("v1", "Pod"), at=9.0, position="9")])
        assert tail.look().until == 9.0


def test_a_new_file_is_a_new_history(path: Path) -> None:
    with HistoryTail(path, ("Pod",)) as tail:
        with HistoryWriter(path) as writer:
            writer.append([change(1.0, "ADDED", "old", 1)])
        tail.look()
        other = path.with_name("other.db")
        with HistoryWriter(other) as writer:
            writer.append([change(5.0, "ADDED", "new", 1)])
        other.replace(path)
        news = tail.look()
        assert ([each.name for each in news.changes], news.anew) == (["new"], True)


def test_a_history_that_is_not_there_may_come(path: Path) -> None:
    with HistoryTail(path, ("Pod",)) as tail:
        with pytest.raises(EnvironmentProblem):
            tail.look()
        with HistoryWriter(path) as writer:
            writer.append([change(1.0, "ADDED", "a", 1)])
        assert tail.look().anew
        path.unlink()
        with pytest.raises(EnvironmentProblem):
            tail.look()
