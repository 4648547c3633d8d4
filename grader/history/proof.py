"""Whether the follower of a kind has seen all there is.

Owns that proof and the moving on of quiet kinds; changes nothing in the cluster and needs little from it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem, WatchExpired
from grader.history.progress import SILENCE

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from cluster.api import Api
    from grader.history.kinds import RecordedKind
    from grader.history.progress import Progress

MANY = 200
"""Objects: comparing more takes too long to do it for every check."""

_SILENCE = 0.02
_RETRY = 0.05
_FRESHEN = 2.0  # the longest that `freshen` waits, and how long a kind that it looks at has been quiet


class ClusterReplaced(EnvironmentProblem):
    """The API server is at an older revision than we are: it is not the cluster we began with."""


class Proof:
    """Compares the progress of one kind with the API server. Any thread may ask. May raise ClusterReplaced."""

    def __init__(self, kind: RecordedKind, api: Api, progress: Progress, stop: threading.Event) -> None:
        self._kind, self._api, self._progress, self._stop = kind, api, progress, stop
        self._verified = (0, 0)  # stream, revision: see freshen

    def ask(self, deadline: float) -> Callable[[], bool]:
        """Look at what the API server has now, before `deadline` (time.monotonic()).

        What is returned waits, until then, for all of that to be submitted, and says whether it is.
        """
        try:
            seen = self._compare(max(deadline - time.monotonic(), 0.001))[1]
        except (ApiUnavailable, ApiRefused):
            return partial(self._ask_again, deadline)
        return partial(self._wait_for, seen, deadline)

    def _ask_again(self, deadline: float) -> bool:
        while (left := deadline - time.monotonic()) > 0 and not self._stop.is_set():
            if self._progress.gone.wait(min(left, _RETRY)):
                return True
            with suppress(ApiUnavailable, ApiRefused):
                return self._wait_for(self._compare(left)[1], deadline)
        return False

    def freshen(self) -> int:
        """Move the position of a quiet kind on; the new one, 0 if it stays. To be called about once a minute.

        An event only ever moves it to its own revision, and bookmarks come once a minute or (Events) never;
        but a resume from an old revision is refused. So what was seen is compared with what there is, and if
        the same watch is still open at the next call, all that could have been on its way has arrived: the
        position moves to the revision of that comparison.
        """
        progress = self._progress
        (stream, revision), self._verified = self._verified, (0, 0)
        moved = revision if progress.proven(stream, revision) else 0
        with progress.moved:
            stream, quiet = progress.stream, time.monotonic() - progress.heard_at >= _FRESHEN
        if stream and quiet:
            with suppress(ApiUnavailable, ApiRefused):  # the follower hears of that too
                revision, seen = self._compare(_FRESHEN)
                if self._wait_for(seen, time.monotonic() + _FRESHEN):
                    self._verified = (stream, revision)
        return moved

    def _compare(self, timeout: float) -> tuple[int, Callable[[], bool]]:
        """The revision of the API server, and whether all up to it is seen (to be asked with `moved` held)."""
        progress = self._progress
        if len(progress.living) > MANY and (revision := self._listen(timeout)):
            return revision, lambda: True
        listed, revision = self._look(timeout)

        def seen() -> bool:
            if progress.position >= revision or progress.gone.is_set():
                return True  # one watch tells its changes in order
            if not progress.caught_up():
                return False  # what came and went while no watch was open is in no list
            if any(progress.living.get(uid, 0) < version for uid, version in listed.items()):
                return False
            return all(uid in listed or version > revision for uid, version in progress.living.items())

        return revision, seen

    def _wait_for(self, seen: Callable[[], bool], deadline: float) -> bool:
        moved = self._progress.moved
        with moved:
            while not (done := seen()) and (left := deadline - time.monotonic()) > 0:
                moved.wait(min(left, SILENCE))  # a silence is told by nobody
            return done

    def _listen(self, timeout: float) -> int:
        # For kinds too large to compare: their number is right, and for a moment nothing comes. What comes
        # would either end the silence or, being newer, prove that nothing older is on its way.
        progress = self._progress
        position = progress.position
        page = next(self._api.pages(*self._kind, metadata_only=True, limit=1, timeout=timeout))
        revision = self._not_before(position, page.version)
        with progress.moved:
            if progress.moved.wait_for(lambda: progress.position >= revision, _SILENCE):
                return revision
            silent = time.monotonic() - progress.heard_at >= _SILENCE
            complete = len(progress.living) == len(page.items) + page.remaining
            return revision if progress.caught_up() and silent and complete else 0

    def _look(self, timeout: float) -> tuple[dict[str, int], int]:
        position = self._progress.position
        listed: dict[str, int] = {}
        version = ""
        try:
            for page in self._api.pages(*self._kind, metadata_only=True, timeout=timeout):
                version = page.version
                for item in page.items:
                    listed[item["metadata"]["uid"]] = int(item["metadata"]["resourceVersion"])
        except WatchExpired as error:
            raise ApiUnavailable(f"list {self._kind.name}: expired") from error
        return listed, self._not_before(position, version)

    def _not_before(self, position: int, version: str) -> int:
        if int(version) < position:
            raise ClusterReplaced(f"{self._kind.name} went back from revision {position} to {version}")
        return int(version)
