"""The thread between those who hear of changes and the file they are stored in.

Owns batching, the backlog and what happens when the disk is full; knows nothing of the API server.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from grader.history.model import Mark
from grader.history.writer import Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.history.writer import HistoryWriter

_BACKLOG = 4000  # updates; a full one makes watches wait, and what they then miss becomes a gap
_BATCH = 500
_HEARD = 4000  # revisions
_RETRY = 0.25  # seconds between tries to write to a full disk

log = logging.getLogger(__name__)


class Heard:
    """The latest revisions that some change was heard of. Each is one write of one object, so of one kind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order: deque[int] = deque()
        self._known: set[int] = set()

    def add(self, versions: Iterable[str]) -> None:
        """Remember these, and forget the oldest beyond a few thousand."""
        with self._lock:
            for revision in map(int, versions):
                if revision not in self._known:
                    self._known.add(revision)
                    self._order.append(revision)
            while len(self._order) > _HEARD:
                self._known.discard(self._order.popleft())

    def __contains__(self, revision: object) -> bool:
        with self._lock:
            return revision in self._known


class Journal:
    """Stores updates in the order they are submitted. Nothing submitted is lost while the process lives.

    `heard` has the revisions of what was submitted lately, by all kinds.
    """

    def __init__(self, writer: HistoryWriter) -> None:
        self._writer = writer
        self.heard = Heard()
        self._queue: queue.Queue[Update | Mark | threading.Event | None] = queue.Queue(_BACKLOG)
        self._closing = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def now(self) -> float:
        """The recorder's clock: Unix seconds, never before what is stored."""
        return max(time.time(), self._writer.last_at)

    def submit(self, update: Update | Mark) -> None:
        """Have `update` stored; waits while the backlog is full."""
        if isinstance(update, Update):
            self.heard.add(row.resource_version for row in update.rows)
        self._queue.put(update)

    def flush(self, timeout: float | None) -> bool:
        """Whether all that was submitted before is stored within `timeout` seconds (None: however long)."""
        stored = threading.Event()
        left = None if timeout is None else max(timeout, 0.0)
        try:
            self._queue.put(stored, timeout=left)
        except queue.Full:
            return False
        return stored.wait(left)

    def close(self, timeout: float) -> bool:
        """Store what was submitted, within `timeout` seconds; whether all of it is."""
        self._closing.set()
        with suppress(queue.Full):  # a thread that has so much to do needs no waking
            self._queue.put_nowait(None)
        self._thread.join(timeout)
        return self._done

    # -- the thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        ended = False
        while not ended:
            # No waiting for more: while one batch is committed the next gathers by itself.
            batch = [self._queue.get()]
            while len(batch) < _BATCH and not self._queue.empty():
                batch.append(self._queue.get())
            ended = None in batch or (self._closing.is_set() and self._queue.empty())
            if not self._store([item for item in batch if isinstance(item, Update | Mark)]):
                return
            for item in batch:
                if isinstance(item, threading.Event):
                    item.set()
        self._done = True

    def _store(self, updates: Sequence[Update | Mark]) -> bool:
        trouble = ""
        while True:
            try:
                self._writer.store(updates)
            except sqlite3.OperationalError as error:
                if not trouble:
                    trouble = str(error)
                    log.error("history can't be written: %s; trying again", trouble)
                if self._closing.wait(_RETRY):
                    # Positions are not stored either: the next run asks the API server for these changes again.
                    log.error("%d updates are not in the history", len(updates))
                    return False
            else:
                if trouble:
                    log.warning("history can be written again, nothing is lost")
                return True
