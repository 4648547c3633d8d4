"""Hearing of a kind's changes without recording them.

Owns a watch of metadata alone, from now on; what was missed stays missed. Leases are heard so that their revisions,
which are nearly all there are in a quiet cluster, need no look when a watch is lost (`grader.history.replay`);
definitions of custom resources, so that nobody has to ask again and again which kinds are served.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from cluster.errors import ApiRefused, ApiUnavailable, WatchExpired

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from cluster.api import Api
    from grader.history.kinds import RecordedKind

_WATCH_SECONDS = 600
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
_REFUSED_PAUSE = 60.0


class Listener:
    """`run` is the body of its thread; there `tell` is called with the revision of each change that is heard of."""

    def __init__(
        self, kind: RecordedKind, api: Api, stop: threading.Event, tell: Callable[[str], None] = lambda _revision: None
    ) -> None:
        self._kind, self._api, self._stop, self._tell = kind, api, stop, tell
        self.listening = False
        """Whether each change is heard of at this moment."""
        self.heard_at = -math.inf
        """time.monotonic() of the last change, or of when the listening began: for what may have changed before."""

    def run(self) -> None:
        """Listen until told to stop."""
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                self._listen()
                pause = 0.0
            except (ApiUnavailable, WatchExpired):
                pause = min(max(2 * pause, _FIRST_PAUSE), _LONGEST_PAUSE)
            except ApiRefused:
                pause = _REFUSED_PAUSE
            finally:
                self.listening = False

    def _listen(self) -> None:
        version = next(self._api.pages(*self._kind, metadata_only=True, limit=1)).version
        events = self._api.watch(*self._kind, version, metadata_only=True, seconds=_WATCH_SECONDS)
        self.heard_at = time.monotonic()
        self.listening = True
        for verb, obj in events:
            if self._stop.is_set():
                return
            if verb != "BOOKMARK":
                self.heard_at = time.monotonic()
                self._tell(obj["metadata"]["resourceVersion"])
