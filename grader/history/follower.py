"""Following one kind: list, watch, resume, and saying so where that is impossible.

Owns the promise that each change of the kind is submitted in order, or else a gap is; knows nothing of other
kinds, of SQLite, or of who asks.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, cast

from cluster.errors import ApiRefused, ApiUnavailable, WatchExpired
from grader.history.model import EXPIRED, REPLACED
from grader.history.progress import Progress
from grader.history.proof import Proof
from grader.history.replay import replay, unheard
from grader.history.writer import Row, Update

if TYPE_CHECKING:
    import threading

    from cluster.api import Api
    from cluster.spec import Manifest
    from grader.history.journal import Journal
    from grader.history.kinds import RecordedKind
    from grader.history.model import Verb
    from grader.history.outage import Outage

_WATCH_SECONDS = 240  # the API server says once a minute how far it got, and two seconds before it ends a watch
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_HEAD_SECONDS = 5.0
_PAGE = 100  # whole objects are held in memory a page at a time

log = logging.getLogger(__name__)


class Follower:
    """One kind. `run` is the body of its thread; the other methods may be called from any thread."""

    def __init__(
        self,
        kind: RecordedKind,
        api: Api,
        journal: Journal,
        outage: Outage,
        stop: threading.Event,
        progress: Progress,
    ) -> None:
        self.kind, self.progress = kind, progress
        self.proof = Proof(kind, api, progress, stop)
        self._api, self._journal, self._outage, self._stop = api, journal, outage, stop

    def freshen(self) -> None:
        """See Proof.freshen."""
        if revision := self.proof.freshen():
            self._submit(position=str(revision))

    def run(self, *, replaced: bool = False) -> None:
        """Follow the kind until told to stop or it is served no more. `replaced`: this is another cluster."""
        lost = REPLACED if replaced else ""
        pause = 0.0
        while not self._stop.wait(pause):
            began = time.monotonic()
            try:
                if lost == EXPIRED and self._replay():
                    lost = ""
                if lost or not self.progress.position:
                    self._list(gap=lost)
                    lost = ""
                self._watch()
            except WatchExpired:
                lost = EXPIRED
            except (ApiUnavailable, ApiRefused) as problem:
                refused = isinstance(problem, ApiRefused) and problem.status == 404
                if refused and self._is_served_no_more():
                    self._bury_all()
                    return
                self._outage.begin(self.kind, problem.message)
            lasted = time.monotonic() - began > _LONGEST_PAUSE
            pause = 0.0 if lasted else min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)

    # -- one step of it -----------------------------------------------------------------------------

    def _list(self, *, gap: str) -> None:
        known = self.progress.living
        listed: dict[str, int] = {}
        rows: list[Row] = []
        revision = ""
        try:
            for page in self._api.pages(*self.kind, limit=_PAGE):
                revision = page.version
                for item in page.items:
                    uid = item["metadata"]["uid"]
                    listed[uid] = int(item["metadata"]["resourceVersion"])
                    if known.get(uid) != listed[uid]:
                        rows.append(Row.of("MODIFIED" if uid in known else "ADDED", item))
        except WatchExpired as error:  # a page came too late to belong to the first one
            raise ApiUnavailable(f"list {self.kind.name}: expired") from error
        if gap:
            log.warning("%s: changes may be missing from the history (%s)", self.kind.name, gap)
        gone = tuple((uid, "") for uid in known if uid not in listed)
        self._submit(gone=gone, rows=tuple(rows), gap=gap, position=revision)
        self.progress.listed(listed, int(revision))

    def _watch(self) -> None:
        events = self._api.watch(*self.kind, str(self.progress.position), seconds=_WATCH_SECONDS)
        self._outage.end(self.kind)
        self.progress.opened()
        try:
            for verb, obj in events:
                self._take(verb, obj)
                if self._stop.is_set():
                    return
        finally:
            self.progress.closed()

    def _take(self, verb: str, obj: Manifest) -> None:
        version = obj["metadata"]["resourceVersion"]
        uid = obj["metadata"].get("uid", "")
        seen = verb != "DELETED" and int(version) <= self.progress.living.get(uid, 0)
        if verb == "BOOKMARK" or seen:
            self._submit(position=version)
        else:
            self._submit(rows=(Row.of(cast("Verb", verb), obj),), position=version)
        self.progress.heard(verb, uid, int(version))

    def _replay(self) -> bool:
        """Read what a watch won't tell any more; False if that can't be read either, or would take long."""
        pages = self._api.pages(*self.kind, metadata_only=True, limit=1, timeout=_HEAD_SECONDS)
        head = int(next(pages).version)
        living, heard = dict(self.progress.living), self._journal.heard
        revisions = unheard(self.progress.position, head, heard)
        if revisions is None:
            return False
        try:
            told = list(replay(self._api, self.kind, living, revisions, heard))
        except WatchExpired:
            return False  # nothing of it is used: the gap is to begin where the watch had got to
        for revision, row, uid in told:
            if row is None:
                living.pop(uid, None)
                self._submit(gone=((uid, str(revision)),))
            else:
                living[uid] = int(row.resource_version)
                self._submit(rows=(row,))
        self._submit(position=str(head))  # not before: a crash in between begins the walk again
        self.progress.listed(living, head)
        if told:
            log.info("%s: %d changes were read back, up to revision %d", self.kind.name, len(told), head)
        return True

    def _is_served_no_more(self) -> bool:
        # An API server that is still starting says 404 too, but not that it is ready.
        try:
            if self._api.ready():
                next(self._api.pages(*self.kind, metadata_only=True, limit=1))
        except ApiRefused as refusal:
            return refusal.status == 404
        except ApiUnavailable:
            return False
        return False

    def _bury_all(self) -> None:
        self._submit(gone=tuple((uid, "") for uid in self.progress.living), position="")
        self._outage.end(self.kind)
        self.progress.served_no_more()
        log.info("%s is served no more", self.kind.name)

    def _submit(
        self,
        *,
        gone: tuple[tuple[str, str], ...] = (),
        rows: tuple[Row, ...] = (),
        gap: str = "",
        position: str | None = None,
    ) -> None:
        at = self._journal.now()
        self._journal.submit(Update(kind=self.kind, at=at, gone=gone, rows=rows, gap=gap, position=position))
