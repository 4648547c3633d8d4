"""Saying once that the API server can't be asked, and once that it can be again.

Owns those log lines for all followers together; knows nothing of what they do about it.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.history.kinds import RecordedKind

log = logging.getLogger(__name__)


class Outage:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._without: dict[RecordedKind, str] = {}
        self._began = 0.0

    def begin(self, kind: RecordedKind, message: str) -> None:
        """`kind` can't be followed for now; `message` is why."""
        with self._lock:
            if not self._without:
                self._began = time.monotonic()
                log.warning("%s can't be followed: %s; trying again", kind.name, message)
            self._without[kind] = message

    def end(self, kind: RecordedKind) -> None:
        """`kind` is followed (again)."""
        with self._lock:
            if self._without.pop(kind, None) is not None and not self._without:
                log.info("all kinds are followed again after %.1f s", time.monotonic() - self._began)
