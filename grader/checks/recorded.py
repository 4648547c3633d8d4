"""A cluster and its history from plain objects: for tests of checks, of labs' checks.py too.

Owns in-memory stand-ins for `ClusterReader` and `History`, and `Trace`, which plays changes into both. Nothing
of it is used to grade.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from grader.checks.objects import Object, meta, uid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grader.checks.base import Check
    from grader.checks.world import Executor, Scripts, World


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChange:
    """One change, as `grader.history.store.Change` has it."""

    seq: int
    at: float
    verb: str
    object: Object

    @property
    def name(self) -> str:
        """metadata.name."""
        return str(meta(self.object).get("name", ""))

    @property
    def uid(self) -> str:
        """metadata.uid."""
        return uid(self.object)


@dataclass(frozen=True, slots=True)
class RecordedGap:
    """A time in which nothing of a kind was recorded."""

    kind: str
    start: float
    end: float


class RecordedCluster:
    """The objects there are. `asked` counts the lists; `trouble` is raised instead of an answer."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self.objects = list(objects)
        self.asked: list[tuple[str, str, str | None]] = []
        self.trouble: Exception | None = None

    def list_page(self, api_version: str, kind: str, namespace: str | None = None) -> tuple[list[Object], str]:
        """Like `cluster.api.Api.list_page`."""
        self.asked.append((api_version, kind, namespace))
        if self.trouble is not None:
            raise self.trouble
        found = [
            obj
            for obj in self.objects
            if (obj["apiVersion"], obj["kind"]) == (api_version, kind)
            and (namespace is None or meta(obj).get("namespace") == namespace)
        ]
        return found, "1"


@dataclass
class RecordedHistory:
    """Changes and gaps as lists."""

    recorded: list[RecordedChange] = field(default_factory=list)
    missed: list[RecordedGap] = field(default_factory=list)

    def changes(
        self, kind: str, *, namespace: str | None = None, api_version: str | None = None
    ) -> Iterator[RecordedChange]:
        """Like `HistoryReader.changes`."""
        for change in self.recorded:
            obj = change.object
            if obj["kind"] != kind or (api_version is not None and obj["apiVersion"] != api_version):
                continue
            if namespace is None or meta(obj).get("namespace", "") == namespace:
                yield change

    def at(
        self, kind: str, when: float, *, namespace: str | None = None, api_version: str | None = None
    ) -> list[Object]:
        """Like `HistoryReader.at`."""
        latest: dict[str, RecordedChange] = {}
        for change in self.changes(kind, namespace=namespace, api_version=api_version):
            if change.at <= when:
                latest[change.uid] = change
        return [change.object for change in latest.values() if change.verb != "DELETED"]

    def gaps(self, kind: str) -> Sequence[RecordedGap]:
        """Like `HistoryReader.gaps`."""
        return [gap for gap in self.missed if gap.kind == kind]

    def last_change(self, kinds: tuple[str, ...]) -> float | None:
        """Like `HistoryReader.last_change`."""
        return max((change.at for change in self.recorded if change.object["kind"] in kinds), default=None)


class Trace:
    """What happens in a cluster, played step by step: `put` and `remove` objects, `wait` in between.

    `now` is the time of the trace in Unix seconds; each change takes a hundredth of a second. What is played
    while `recording` is False happens without being recorded.
    """

    def __init__(self, start: float = 1_764_500_000.0) -> None:
        self.now = start
        self.recording = True
        self.history = RecordedHistory()
        self.cluster = RecordedCluster()
        self._seq = count(1)
        self._uids = count(1)

    def new_uid(self) -> str:
        """A UID no other object of the trace has."""
        return f"{next(self._uids):08x}-0000-4000-8000-000000000000"

    def wait(self, seconds: float) -> None:
        """Nothing happens for a while."""
        self.now += seconds

    def put(self, obj: Object) -> Object:
        """An object is created or changed (by its UID, which it is given where it has none)."""
        obj = copy.deepcopy(obj)
        metadata = obj.setdefault("metadata", {})
        metadata.setdefault("uid", self.new_uid())
        known = [other for other in self.cluster.objects if uid(other) == metadata["uid"]]
        stamp = datetime.fromtimestamp(int(self.now), UTC).isoformat()
        metadata.setdefault("creationTimestamp", stamp)
        self.cluster.objects = [other for other in self.cluster.objects if uid(other) != metadata["uid"]] + [obj]
        self._record("MODIFIED" if known else "ADDED", obj)
        return copy.deepcopy(obj)

    def remove(self, obj: Object) -> None:
        """An object is gone."""
        self.cluster.objects = [other for other in self.cluster.objects if uid(other) != uid(obj)]
        self._record("DELETED", obj)

    def gap(self, kind: str, start: float) -> None:
        """Nothing of `kind` was recorded from `start` until now."""
        self.history.missed.append(RecordedGap(kind, start, self.now))

    def world(
        self,
        work: Path,
        *,
        namespace: str = "default",
        lab_folder: Path | None = None,
        checks: Mapping[str, Check] | None = None,
        executor: Executor | None = None,
        scripts: Scripts | None = None,
    ) -> World:
        """How it looks now, with `work` as the learner's folder."""
        from grader.checks.work import WorkFolder
        from grader.checks.world import World

        return World(
            cluster=self.cluster,
            history=self.history,
            work=WorkFolder(work),
            namespace=namespace,
            lab_folder=lab_folder or work,
            checks=checks or {},
            executor=executor,
            scripts=scripts,
            now=datetime.fromtimestamp(self.now, UTC),
        )

    def _record(self, verb: str, obj: Object) -> None:
        self.now += 0.01
        if self.recording:
            change = RecordedChange(seq=next(self._seq), at=self.now, verb=verb, object=copy.deepcopy(obj))
            self.history.recorded.append(change)
