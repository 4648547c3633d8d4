"""Where a board comes from: the recorder's store, and how far it can be trusted.

Owns the looking, which blocks for milliseconds at most a second: call it from a thread. Nothing is watched a second
time: the recorder has one watch for each kind already, writes each change the moment it comes, and its file can be
read from outside the sandbox, from which the API server can't be reached.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, Self

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.board.build import KINDS, build_board
from grader.board.model import Board
from grader.board.store import Store
from grader.history.synced import wait_synced
from grader.history.tail import HistoryTail
from grader.session.places import history_file, recorder_socket
from grader.timeline.scale import clock

if TYPE_CHECKING:
    from pathlib import Path

    from grader.board.model import Ref

ASK_SECONDS = 3.0
"""How often the recorder is asked whether it has everything."""
_SYNC_SECONDS = 0.7
"""How long it may take to answer."""
_ASKED_FOR = ("Pod", "Node")


class Trust(Enum):
    """Whether what is shown is what is."""

    LIVE = "live"
    """The record has everything that the API server had when it was last asked."""
    BEHIND = "behind"
    """The API server does not answer the recorder, or is slow."""
    SILENT = "silent"
    """The recorder does not answer."""
    STARTING = "starting"
    STOPPED = "stopped"
    DEAD = "dead"
    """The processes of the lab died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was found."""

    board: Board
    trust: Trust
    since: float
    """Since when the trust is so, Unix seconds."""
    until: float
    """Until when the record is known to be complete, Unix seconds; 0.0: there is none."""

    @property
    def says(self) -> str:
        """The trust in a sentence, in the language in force."""
        at = clock(self.until) if self.until else "?"
        match self.trust:
            case Trust.LIVE:
                return _("live")
            case Trust.BEHIND:
                return _("the cluster does not answer; this is how it was at {time}").format(time=at)
            case Trust.SILENT:
                return _("the recorder does not answer; this is how it was at {time}").format(time=at)
            case Trust.STARTING:
                return _("the lab is being started")
            case Trust.STOPPED:
                return (
                    _("the lab is stopped; this is how it was at {time}").format(time=at)
                    if self.until
                    else _("the lab is stopped")
                )
            case Trust.DEAD:
                return _("the processes of the lab died; `grader start` repairs it")


class BoardFeed(Protocol):
    """What a screen asks. `look` and `describe` block: call them from a thread, one at a time. So does `why`, which may
    be asked beside them."""

    def look(self) -> Look:
        """How it is now."""

    def describe(self, ref: Ref) -> str:
        """One object in full, as text."""

    def why(self, ref: Ref) -> str:
        """Why it is as it is, as `grader why` says it. EnvironmentProblem, UsageProblem: it can't be told."""

    def close(self) -> None:
        """Let go of what was opened."""


class SessionFeed:
    """The board of the session in `home`, whose lab works in `namespace`."""

    def __init__(self, home: Path, namespace: str) -> None:
        self._home, self._namespace = home, namespace
        self._tail = HistoryTail(history_file(home), KINDS, whole=False)
        self._store = Store()
        self._board = Board(namespace=namespace)
        self._drawn = -1
        self._trust, self._since, self._until = Trust.STARTING, time.time(), 0.0
        self._asked = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def look(self) -> Look:
        """How it is now, as far as is recorded."""
        try:
            news = self._tail.look()
        except EnvironmentProblem:  # between two sessions there is none, and a damaged one is begun anew
            news = None
        if news is not None:
            if news.anew:
                self._store.forget()
            self._store.apply(news.changes)
            self._until = news.until
        self._judge(readable=news is not None)
        if self._store.version != self._drawn:
            self._board, self._drawn = build_board(self._store, self._namespace), self._store.version
        return Look(board=self._board, trust=self._trust, since=self._since, until=self._until)

    def describe(self, ref: Ref) -> str:
        """One object in full."""
        from grader.board.describe import describe

        return describe(self._store, ref)

    def why(self, ref: Ref) -> str:
        """As the lab's examiner says it."""
        from grader.board.why import why

        return why(self._home, ref, self._namespace)

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()

    def _judge(self, *, readable: bool) -> None:
        if time.monotonic() - self._asked < ASK_SECONDS and self._trust is Trust.LIVE and readable:
            return
        self._asked = time.monotonic()
        trust = self._ask()
        if trust is not self._trust:
            self._trust, self._since = trust, time.time()

    def _ask(self) -> Trust:
        match local.status(self._home).state:
            case "stopped":
                return Trust.STOPPED
            case "dead":
                return Trust.DEAD
            case "starting":
                return Trust.STARTING
        synced = wait_synced(recorder_socket(self._home), _SYNC_SECONDS, _ASKED_FOR)
        if not synced.answered:
            return Trust.SILENT
        if synced.synced:
            self._until = max(self._until, synced.at)
        return Trust.LIVE if synced.synced else Trust.BEHIND
