"""Whose a pod is and which place it takes there, read from the pod alone: its owner may be long gone.

Owns the labels by which controllers tell; knows nothing of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import labels, meta

if TYPE_CHECKING:
    from grader.checks.objects import Object

_LWS = "leaderworkerset.sigs.k8s.io"
_JOBSET = "jobset.sigs.k8s.io"
_JOB = "batch.kubernetes.io/job-name"
_INDEX = "batch.kubernetes.io/job-completion-index"
_POD_GROUP = "kueue.x-k8s.io/pod-group-name"
_HASH = "pod-template-hash"


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """What a group is known by."""

    namespace: str
    kind: str
    name: str
    part: str = ""

    @property
    def whole(self) -> Owner:
        """The owner without its parts."""
        return Owner(self.namespace, self.kind, self.name)

    @property
    def part_in_words(self) -> str:
        """The part for people, in the language in force."""
        if self.kind == "LeaderWorkerSet" and self.part:
            return _("group {number}").format(number=self.part)
        return self.part


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod stands: its group, the name of its row, and what the row is sorted by."""

    owner: Owner
    label: str
    order: tuple[int, ...] = ()
    attempt: str = ""


def place_of(pod: Object) -> Place:
    """The place of a pod.

    What has a stable identity (a name that comes again, an index) shares its row with its predecessors.
    """
    marks, name = labels(pod), str(meta(pod).get("name", ""))
    space = str(meta(pod).get("namespace") or "")
    if lws := marks.get(f"{_LWS}/name"):
        owner = Owner(space, "LeaderWorkerSet", lws, marks.get(f"{_LWS}/group-index", ""))
        return Place(owner, name, (_number(marks.get(f"{_LWS}/worker-index")),))
    job, index = marks.get(_JOB, ""), marks.get(_INDEX)
    label = f"{job}-{index}" if job and index is not None else name
    if jobset := marks.get(f"{_JOBSET}/jobset-name"):
        owner = Owner(space, "JobSet", jobset, marks.get(f"{_JOBSET}/replicatedjob-name", ""))
        order = (_number(marks.get(f"{_JOBSET}/job-index")), *_index(index))
        return Place(owner, label.removeprefix(f"{jobset}-"), order, marks.get(f"{_JOBSET}/restart-attempt", ""))
    if job:
        return Place(Owner(space, "Job", job), label, _index(index))
    if pods := marks.get(_POD_GROUP):
        return Place(Owner(space, "Workload", pods), name)
    for ref in meta(pod).get("ownerReferences") or []:
        if ref.get("controller"):
            return Place(_controller(space, ref, marks), name, _ordinal(ref, name))
    return Place(Owner(space, "", ""), name)


def _controller(space: str, ref: dict[str, object], marks: dict[str, str]) -> Owner:
    kind, name = str(ref.get("kind", "")), str(ref.get("name", ""))
    if kind == "ReplicaSet" and (stamp := marks.get(_HASH)) and name.endswith(f"-{stamp}"):
        return Owner(space, "Deployment", name.removesuffix(f"-{stamp}"))
    return Owner(space, kind, name)


def _ordinal(ref: dict[str, object], name: str) -> tuple[int, ...]:
    return (_number(name.rpartition("-")[2]),) if ref.get("kind") == "StatefulSet" else ()


def _index(text: str | None) -> tuple[int, ...]:
    """Pods without an index stand in the order they came."""
    return () if text is None else (_number(text),)


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
