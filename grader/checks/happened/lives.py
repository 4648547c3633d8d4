"""The lives of objects, read from their recorded changes: born, exited, doomed, gone; who was there when.

Owns the reading of a trace; knows nothing of what any form wants of it. Order is the recorder's `seq`: within
one kind it is the order in which things happened, where two clock readings may be equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.checks.objects import ABSENT, DottedPath, Object, dig, meta, terminating, titled
from grader.checks.settling import instant

if TYPE_CHECKING:
    from grader.checks.base import ObjectRef
    from grader.checks.world import Change, World


@dataclass(frozen=True, slots=True)
class Instant:
    """A point of the record."""

    seq: int
    at: float


@dataclass(slots=True)
class Life:
    """One object, one UID, from its first recorded version to its last."""

    uid: str
    kind: str
    namespace: str
    name: str
    versions: list[tuple[Instant, Object]] = field(default_factory=list)
    """What it looked like from each instant on."""
    doomed: Instant | None = None
    """When its deletion began (for a forced deletion: when it was gone)."""
    gone: Instant | None = None

    @property
    def born(self) -> Instant:
        """Its first recorded version."""
        return self.versions[0][0]

    @property
    def title(self) -> str:
        """`Pod infer/llm-0`."""
        return titled(self.kind, self.namespace, self.name)

    @property
    def short_uid(self) -> str:
        """Enough of the UID for a person to tell two apart."""
        return self.uid[:8]

    def stands(self, seq: int) -> bool:
        """Whether it exists right after `seq` and nobody has asked for its deletion."""
        return self.born.seq <= seq and (self.doomed is None or self.doomed.seq > seq)

    def dying(self, seq: int) -> bool:
        """Whether its deletion was asked for and it is still there right after `seq`."""
        if self.doomed is None or self.doomed.seq > seq:
            return False
        return self.gone is None or self.gone.seq > seq

    def version(self, seq: int) -> Object:
        """What it looked like right after `seq`."""
        latest = self.versions[0][1]
        for when, obj in self.versions:
            if when.seq > seq:
                break
            latest = obj
        return latest

    def running(self, seq: int) -> bool:
        """Whether its phase was Running right after `seq`."""
        return (self.version(seq).get("status") or {}).get("phase") == "Running"

    def value(self, path: DottedPath) -> str:
        """What `path` gave in its first version, as text; empty where it has none."""
        found = dig(self.versions[0][1], path)
        return "" if found is ABSENT else str(found)

    def created(self) -> float:
        """When the API created it (whole seconds, rounded down), never later than when it was seen first."""
        stamp = instant(meta(self.versions[0][1]).get("creationTimestamp"))
        return self.born.at if stamp is None else min(stamp, self.born.at)

    def exits(self) -> Iterator[Instant]:
        """Each time a container of the pod ended by itself: it was restarted, or ended with an error.

        What ends after a deletion was asked for does not count: that is how every deleted pod ends.
        """
        known = _container_ends(self.versions[0][1])
        for when, obj in self.versions:
            if terminating(obj):
                return
            ends = _container_ends(obj)
            if ends - known or (when is self.born and any(end.failed_now for end in ends)):
                yield when
            known |= ends


@dataclass(frozen=True, slots=True)
class _End:
    """One end of one container. A restart whose cause was not seen is an end all the same."""

    container: str
    restarts: int
    failed_now: bool = False


def _container_ends(pod: Object) -> frozenset[_End]:
    ends = set()
    for status in _container_statuses(pod):
        name, restarts = str(status.get("name", "")), int(status.get("restartCount") or 0)
        if restarts:
            ends.add(_End(name, restarts))
        state = (status.get("state") or {}).get("terminated") or {}
        if state.get("exitCode"):
            ends.add(_End(name, restarts, failed_now=True))
    return frozenset(ends)


def _container_statuses(pod: Object) -> Iterable[dict[str, Any]]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def lives(ref: ObjectRef, world: World) -> list[Life]:
    """Every object a reference ever meant, in the order of their births."""
    by_uid: dict[str, Life] = {}
    for change in world.changes(ref):
        life = by_uid.get(change.uid)
        if life is None:
            namespace = str(meta(change.object).get("namespace") or "")
            life = by_uid[change.uid] = Life(change.uid, ref.canonical_kind, namespace, change.name)
        _record(life, change)
    return sorted(by_uid.values(), key=lambda life: life.born.seq)


def _record(life: Life, change: Change) -> None:
    when = Instant(change.seq, change.at)
    deleted = change.verb == "DELETED"
    if not deleted or not life.versions:  # sometimes all we ever see of an object is its end
        life.versions.append((when, change.object))
    if deleted:
        life.gone = when
    if life.doomed is None and (deleted or terminating(change.object)):
        life.doomed = when


def in_groups(every: Iterable[Life], group_by: DottedPath) -> dict[str, list[Life]]:
    """Lives by the value of `group_by`; what has none belongs to no group."""
    groups: dict[str, list[Life]] = {}
    for life in every:
        if group := life.value(group_by):
            groups.setdefault(group, []).append(life)
    return groups


def instants(every: Iterable[Life]) -> list[Instant]:
    """Each point at which one of the lives changed, in order."""
    found: dict[int, Instant] = {}
    for life in every:
        for when, _obj in life.versions:
            found[when.seq] = when
        if life.gone:
            found[life.gone.seq] = life.gone
    return [found[seq] for seq in sorted(found)]
