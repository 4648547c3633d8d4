"""How far the follower of one kind has got.

Owns that state and its lock; knows nothing of where changes come from or go to.
"""

from __future__ import annotations

import threading
import time

SILENCE = 0.1
"""Seconds in which a watch just opened tells nothing: what it had to catch up on has then been told.

An API server sends all that it kept since the revision of the request at once and in order, and no message says
where that ends (a bookmark comes a minute later).
"""


class Progress:
    """Written by the kind's own thread, read by others; `moved` guards it and is notified of every step."""

    def __init__(self, position: str = "", living: dict[str, str] | None = None) -> None:
        """`position` and `living` (uid → resourceVersion) are what the history has: see HistoryWriter."""
        self.moved = threading.Condition()
        self.position = int(position or 0)
        """The revision up to which every change is submitted; 0: the kind was never listed."""
        self.living = {uid: int(version) for uid, version in (living or {}).items()}
        """uid → revision of each object that is there, as submitted."""
        self.stream = 0
        """The number of the watch that is open; 0: none is."""
        self.heard_at = 0.0
        """time.monotonic() of the last word from a watch."""
        self.followed = threading.Event()
        """Set once every object is submitted and every later change will be."""
        self.gone = threading.Event()
        """Set once the cluster serves the kind no more."""
        self._streams = 0
        self._caught_up = 0  # the number of the last watch that has been silent once

    def opened(self) -> None:
        """A watch is open."""
        with self.moved:
            self._streams += 1
            self.stream = self._streams
            self.heard_at = time.monotonic()
            self.moved.notify_all()
        self.followed.set()

    def closed(self) -> None:
        """It is not any more."""
        with self.moved:
            self.stream = 0

    def caught_up(self) -> bool:
        """Whether the watch that is open has told what came and went before it was (with `moved` held)."""
        if self.stream and self._caught_up != self.stream and time.monotonic() - self.heard_at >= SILENCE:
            self._caught_up = self.stream
        return bool(self.stream) and self._caught_up == self.stream

    def heard(self, verb: str, uid: str, revision: int) -> None:
        """A watch told of a change, or (BOOKMARK) of a revision; it is submitted."""
        with self.moved:
            if verb == "DELETED":
                self.living.pop(uid, None)
            elif verb != "BOOKMARK":
                self.living[uid] = max(revision, self.living.get(uid, 0))
            self.heard_at = time.monotonic()
            self.position = max(self.position, revision)
            self.moved.notify_all()

    def listed(self, living: dict[str, int], revision: int) -> None:
        """These are the objects there are; what differs is submitted. The revision may be a lower one."""
        with self.moved:
            self.living = living
            self.position = revision
            self.moved.notify_all()

    def proven(self, stream: int, revision: int) -> bool:
        """Nothing up to `revision` is missing if `stream` is still open; whether the position moved."""
        with self.moved:
            if not stream or stream != self.stream or revision <= self.position:
                return False
            self.position = revision
            self.moved.notify_all()
            return True

    def served_no_more(self) -> None:
        """All objects are gone."""
        with self.moved:
            self.living = {}
            self.position = 0
            self.gone.set()
            self.moved.notify_all()
