"""The journal: order, barriers, and a disk that is full."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from grader.history.journal import Journal
from grader.history.kinds import RecordedKind
from grader.history.store import HistoryReader, HistoryWriter, Mark
from grader.history.writer import Row, Update
from tests.unit.history.conftest import eventually

if TYPE_CHECKING:
    from pathlib import Path

POD = RecordedKind("v1", "Pod")


def update(number: int, size: int = 10) -> Update:
    """One pod, and the position after it."""
    row = Row("ADDED", "lab", f"pod-{number}", f"uid-{number}", str(number), b"{" + b"x" * size)
    return Update(kind=POD, at=float(number), rows=(row,), position=str(number))


def names(path: Path) -> list[str]:
    """The pods in the history, in order."""
    with HistoryReader(path) as history:
        return [row[0] for row in history._rows("SELECT name FROM change ORDER BY seq", ())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the history of this test is."""
    return tmp_path / "history.db"


def test_stored_in_order_and_before_the_barrier(path: Path) -> None:
    writer = HistoryWriter(path)
    journal = Journal(writer)
    for number in range(1, 1201):
        journal.submit(update(number))
    journal.submit(Mark("done", 1.0, "yes"))
    assert journal.flush(10)
    assert names(path) == [f"pod-{number}" for number in range(1, 1201)]
    assert journal.close(5)
    assert writer.position(POD) == "1200"
    assert writer.marked("done") == "yes"
    writer.close()


def test_closing_stores_what_was_submitted(path: Path) -> None:
    writer = HistoryWriter(path)
    journal = Journal(writer)
    for number in range(1, 101):
        journal.submit(update(number))
    assert journal.close(5)
    writer.close()
    assert len(names(path)) == 100


def test_the_clock_is_never_before_what_is_stored(path: Path) -> None:
    with HistoryWriter(path) as writer:
        writer.mark("far", 1.0)
        writer.store([update(4_000_000_000)])
        journal = Journal(writer)
        assert journal.now() == 4_000_000_000.0
        assert journal.close(5)


def fill_the_disk(writer: HistoryWriter) -> None:
    """SQLite reports SQLITE_FULL at its page limit just as it does at the end of a disk."""
    writer._connection.execute("PRAGMA max_page_count = 1")  # as small as the file allows


def free_the_disk(writer: HistoryWriter) -> None:
    """Room again."""
    writer._connection.execute("PRAGMA max_page_count = 1000000")


def test_a_full_disk_costs_nothing_but_time(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    writer = HistoryWriter(path)
    fill_the_disk(writer)
    journal = Journal(writer)
    for number in range(1, 51):
        journal.submit(update(number, size=2000))
    eventually(lambda: "can't be written" in caplog.text)
    assert not journal.flush(0.05)
    journal.submit(update(51))
    free_the_disk(writer)
    assert journal.flush(10)
    assert names(path) == [f"pod-{number}" for number in range(1, 52)]
    assert "nothing is lost" in caplog.text
    assert caplog.text.count("can't be written") == 1, "said once"
    assert journal.close(5)
    writer.close()


def test_closing_on_a_full_disk_says_so(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = HistoryWriter(path)
    fill_the_disk(writer)
    journal = Journal(writer)
    journal.submit(update(1, size=500_000))
    eventually(lambda: "can't be written" in caplog.text)
    assert not journal.close(5)
    assert "1 updates are not in the history" in caplog.text
    writer.close()
    assert names(path) == []


def test_closing_does_not_wait_for_room_in_the_backlog(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.history.journal._BACKLOG", 2)
    writer = HistoryWriter(path)
    fill_the_disk(writer)
    journal = Journal(writer)
    journal.submit(update(1, size=500_000))
    eventually(journal._queue.empty)
    journal.submit(update(2))
    journal.submit(update(3))
    began = time.monotonic()
    assert not journal.close(30)
    assert time.monotonic() - began < 5
    writer.close()


def test_closing_stores_a_full_backlog(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.history.journal._BACKLOG", 2)
    writer = HistoryWriter(path)
    may_write = threading.Event()
    store = writer.store

    def slow(updates: Any) -> None:
        may_write.wait(10)
        store(updates)

    monkeypatch.setattr(writer, "store", slow)
    journal = Journal(writer)
    journal.submit(update(1))
    eventually(journal._queue.empty)
    journal.submit(update(2))
    journal.submit(update(3))
    assert not journal.close(0.01)
    may_write.set()
    assert journal.close(10)
    assert names(path) == ["pod-1", "pod-2", "pod-3"]
    writer.close()


def test_a_full_backlog_makes_the_watches_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.history.journal._BACKLOG", 2)
    writer = HistoryWriter(path)
    may_write = threading.Event()
    store = writer.store

    def slow(updates: Any) -> None:
        may_write.wait(10)
        store(updates)

    monkeypatch.setattr(writer, "store", slow)
    journal = Journal(writer)

    def submit() -> None:
        for number in range(1, 10):
            journal.submit(update(number))

    submitting = threading.Thread(target=submit)
    submitting.start()
    eventually(journal._queue.full)
    assert not journal.flush(0.05)
    assert submitting.is_alive()
    may_write.set()
    submitting.join(10)
    assert journal.flush(10)
    assert names(path) == [f"pod-{number}" for number in range(1, 10)]
    assert journal.close(5)
    writer.close()
