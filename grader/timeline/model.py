"""A timeline as data: groups of rows, the lives of objects on them, and what was not seen.

Owns what a timeline consists of and the letters of phases; knows nothing of how it is read or drawn.
Times are Unix seconds of the recorder's clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Phase(StrEnum):
    """How an object is for a while: a pod as kubectl would say it, a Workload as Kueue sees it."""

    PENDING = "Pending"
    """On no node yet."""
    CREATING = "ContainerCreating"
    """On a node, and its containers do not run yet."""
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    """Its deletion was asked for; it may be Running until it is gone."""
    UNKNOWN = "Unknown"
    """The node does not say."""
    QUEUED = "Queued"
    """A Workload without quota."""
    RESERVED = "QuotaReserved"
    """It has quota, and something else must still agree."""
    ADMITTED = "Admitted"


LETTERS = {
    Phase.PENDING: "P",
    Phase.CREATING: "C",
    Phase.RUNNING: "R",
    Phase.SUCCEEDED: "S",
    Phase.FAILED: "F",
    Phase.TERMINATING: "T",
    Phase.UNKNOWN: "U",
    Phase.QUEUED: "Q",
    Phase.RESERVED: "V",
    Phase.ADMITTED: "A",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A time in one phase. `end` is None while it lasts."""

    phase: Phase
    start: float
    end: float | None


class Source(StrEnum):
    """Where a moment is known from."""

    CHANGE = "change"
    """A version of the object itself."""
    EVENT = "event"
    """A Kubernetes event about it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened, in a sentence; messages of the cluster are quoted as they are."""

    at: float
    source: Source
    says: str
    warning: bool = False
    """Whether it is bad news: an end with an error, or an event of type Warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One object, one UID, from its creation to its end."""

    uid: str
    name: str
    born: float
    gone: float | None
    """None: it is still there."""
    spans: tuple[Span, ...]
    """In order and without holes from `born` to `gone`."""
    restarts: tuple[float, ...] = ()
    """When containers of it were started again."""
    moments: tuple[Moment, ...] = ()
    """In the order they happened."""
    attempt: str = ""
    """Which attempt of its JobSet made it; "" for all else."""

    def phase_at(self, at: float) -> Phase | None:
        """Its phase at a time; None where it was not there."""
        for span in self.spans:
            if span.start <= at and (span.end is None or at < span.end):
                return span.phase
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One place in a group, and all that ever took it: a successor with the same name or number goes on here."""

    label: str
    kind: str
    """`Pod` or `Workload`."""
    lives: tuple[Life, ...]
    """Oldest first; at least one."""

    @property
    def recreations(self) -> tuple[float, ...]:
        """When a successor came."""
        return tuple(life.born for life in self.lives[1:])

    @property
    def restarts(self) -> tuple[float, ...]:
        """When containers were started again, of whichever life."""
        return tuple(at for life in self.lives for at in life.restarts)

    @property
    def moments(self) -> tuple[Moment, ...]:
        """Everything that happened here, in order."""
        return tuple(sorted((m for life in self.lives for m in life.moments), key=lambda moment: moment.at))

    def life_at(self, at: float) -> Life | None:
        """Who was here at a time: of two at once, the younger."""
        return next((life for life in reversed(self.lives) if life.phase_at(at) is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that belong together: a group of a LeaderWorkerSet, a replicated Job of a JobSet, a Job, …"""

    kind: str
    """The owner's kind; "" for pods of nobody."""
    namespace: str
    name: str
    part: str = ""
    """Which part of the owner: `group 0`, the name of a replicated Job; "" for the whole."""
    rows: tuple[Row, ...] = ()
    moments: tuple[Moment, ...] = ()
    """What was said about the owner."""

    @property
    def recreations(self) -> int:
        """How often the row that was recreated most was."""
        return max((len(row.recreations) for row in self.rows if row.kind == "Pod"), default=0)

    @property
    def restarts(self) -> int:
        """How many containers were started again."""
        return sum(len(row.restarts) for row in self.rows)

    @property
    def attempts(self) -> tuple[str, ...]:
        """Attempts of a JobSet that made pods here, in order."""
        return tuple(dict.fromkeys(life.attempt for row in self.rows for life in row.lives if life.attempt))


@dataclass(frozen=True, slots=True)
class Unseen:
    """A time in which changes may have been missed, and why, in a sentence."""

    start: float
    end: float
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All that was recorded, as it stood at `end`."""

    start: float
    end: float
    live: bool
    """Whether more is to come."""
    groups: tuple[Group, ...]
    unseen: tuple[Unseen, ...] = field(default=())
    namespace: str = ""
    """The lab's own: its objects are named without it."""

    @property
    def rows(self) -> Iterator[tuple[Group, Row]]:
        """Every row with its group, in the order they are drawn."""
        return ((group, row) for group in self.groups for row in group.rows)

    def was_unseen(self, start: float, end: float) -> bool:
        """Whether a gap in the record touches a time."""
        return any(gap.start < end and gap.end > start for gap in self.unseen)
