"""Kueue's Workloads as they were recorded: whose they are, what they ask for, when they waited, ran, were evicted.

Owns the reading of Workloads for labs' own `checks.py`; knows no lab and gives no verdict. What happened is read
from all versions of a Workload, never from the last one: Kueue turns `Evicted` and `Preempted` off again when it
admits a Workload anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from cluster.spec import GPU
from grader.checks.base import ObjectRef, OwnerRef
from grader.checks.happened.lives import Instant, Life, lives
from grader.checks.instead import instead
from grader.checks.matching import quantity
from grader.checks.objects import condition, labels
from grader.checks.world import HistoryGap
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.checks.objects import Object
    from grader.checks.world import World

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""What puts a job into a queue; without it Kueue leaves a job alone."""

_RELIST = 2.0
"""Seconds after a gap in which what happened in it is written down."""


@dataclass(frozen=True, slots=True)
class Queued:
    """One Workload, from its first recorded version to its last."""

    life: Life

    @property
    def latest(self) -> Object:
        """Its last recorded version."""
        return self.life.versions[-1][1]

    @property
    def priority(self) -> int:
        """Its priority in the queue, 0 where it has none."""
        return int((self.latest.get("spec") or {}).get("priority") or 0)

    @property
    def priority_from(self) -> str:
        """The kind of class its priority came from: WorkloadPriorityClass, PriorityClass, or nothing."""
        return str(((self.latest.get("spec") or {}).get("priorityClassRef") or {}).get("kind", ""))

    @property
    def queue(self) -> str:
        """The ClusterQueue that gave it quota first, empty where none ever did."""
        for _when, obj in self.life.versions:
            admission = (obj.get("status") or {}).get("admission") or {}
            if admission:
                return str(admission.get("clusterQueue", ""))
        return ""

    def asks(self, resource: str = GPU) -> Decimal:
        """How much of a resource all of its pods want together."""
        pod_sets = (self.life.versions[0][1].get("spec") or {}).get("podSets") or []
        return sum((int(pods.get("count", 1)) * _of_one_pod(pods, resource) for pods in pod_sets), Decimal(0))

    def when(
        self, kind: str, status: str = "True", *, reason: str = "", since: Instant | None = None
    ) -> Instant | None:
        """When a condition was first so, at `since` or later; None if never."""
        for at, obj in self.life.versions:
            if since is None or at.seq >= since.seq:
                found = condition(obj, kind) or {}
                if found.get("status") == status and (not reason or found.get("reason") == reason):
                    return at
        return None

    def turns(self, kind: str, *, reason: str = "") -> Iterator[tuple[Instant, dict[str, Any]]]:
        """Each time a condition became True, with the condition as it was then: Workloads are evicted repeatedly."""
        before = False
        for at, obj in self.life.versions:
            found = condition(obj, kind) or {}
            now = found.get("status") == "True" and (not reason or found.get("reason") == reason)
            if now and not before:
                yield at, found
            before = now

    def waits(self) -> Iterator[tuple[Instant, dict[str, Any]]]:
        """Each version in which it had no quota, with the condition that says why."""
        for at, obj in self.life.versions:
            found = condition(obj, "QuotaReserved")
            if found is not None and found.get("status") == "False":
                yield at, found

    def admitted(self, since: Instant | None = None) -> Instant | None:
        """When it was first admitted, at `since` or later."""
        return self.when("Admitted", since=since)

    @property
    def finished(self) -> Instant | None:
        """When its job had ended by itself."""
        return self.when("Finished")

    @property
    def ended(self) -> Instant | None:
        """When it gave its quota back for good: finished, or deleted before that."""
        ends = [end for end in (self.finished, self.life.doomed) if end is not None]
        return min(ends, key=lambda end: end.seq, default=None)

    def is_admitted(self, seq: int) -> bool:
        """Whether it stood, admitted and not finished, right after `seq`."""
        ended = self.ended
        if self.life.born.seq > seq or (ended is not None and ended.seq <= seq):
            return False
        return (condition(self.life.version(seq), "Admitted") or {}).get("status") == "True"


def queued(world: World, kind: str, name: str, namespace: str = "") -> list[Queued]:
    """Every Workload Kueue ever made for that job, oldest first."""
    owner = OwnerRef(kind=kind, name=name)
    return [Queued(life) for life in lives(ObjectRef(kind="Workload", owner=owner, namespace=namespace), world)]


def why_none(world: World, kind: str, name: str, namespace: str = "") -> str:
    """Why a job has no Workload of its own, in words."""
    job = ObjectRef(kind=kind, name=name, namespace=namespace)
    found = lives(job, world)
    if not found:
        return _("there has been no {objects} yet").format(objects=job.title(world.namespace)) + instead(world, job)
    if QUEUE_LABEL not in labels(found[-1].versions[-1][1]):
        return _(
            "{object} has no label {label}, so Kueue never saw it: it waits for no quota and counts against none"
        ).format(object=job.title(world.namespace), label=QUEUE_LABEL)
    missing = ObjectRef(kind="Workload", owner=OwnerRef(kind=kind, name=name), namespace=namespace)
    return _("there has been no {objects} yet").format(objects=missing.title(world.namespace))


def none_made(world: World, wanted: str, kind: str, name: str, namespace: str = "") -> Verdict:
    """The failed verdict where a job has no Workload: it is not there, names no queue, or Kueue has not taken it in."""
    job = ObjectRef(kind=kind, name=name, namespace=namespace)
    found = lives(job, world)
    labelled = bool(found) and QUEUE_LABEL in labels(found[-1].versions[-1][1])
    finding = Finding(
        wanted=wanted,
        saw=why_none(world, kind, name, namespace),
        where=(job.title(world.namespace),) if found else (),
        plain=not labelled,
    )
    return Verdict(passed=False, finding=finding, moving=labelled and in_motion(world))


def standing(one: Queued, name: str, resource: str = GPU) -> str:
    """What the job `name` asks for and what became of its Workload, in words."""
    why = [str(found.get("message")) for _when, found in one.waits()]
    if one.finished:
        state = _("it has finished")
    elif one.admitted():
        state = _("ClusterQueue {queue} admitted it").format(queue=one.queue)
    else:
        state = why[-1] if why else _("Kueue has not looked at it yet")
    asks = _("{name} asks for {count} {resource}; {state}")
    return asks.format(name=name, count=one.asks(resource), resource=resource, state=state)


def in_motion(world: World) -> bool:
    """Whether anything between a job and its pods has changed just now."""
    kinds = frozenset({"ClusterQueue", "LocalQueue", "Job", "JobSet", "Workload", "Pod"})
    return world.changed_within(kinds, 2.0)


def refuse_unseen(world: World, found: Sequence[Queued], namespace: str = "") -> None:
    """HistoryGap where one of the Workloads changed in a gap of the record: what it went through is not known."""
    for gap in world.gaps(ObjectRef(kind="Workload", namespace=namespace)):
        times = [when.at for one in found for when, _obj in one.life.versions]
        if any(gap.start <= at <= gap.end + _RELIST for at in times):
            raise HistoryGap(gap.start, gap.end)


def _of_one_pod(pod_set: dict[str, Any], resource: str) -> Decimal:
    containers = ((pod_set.get("template") or {}).get("spec") or {}).get("containers") or []
    wanted = Decimal(0)
    for container in containers:
        resources = container.get("resources") or {}
        amount = (resources.get("requests") or {}).get(resource, (resources.get("limits") or {}).get(resource))
        wanted += quantity(amount) or Decimal(0)
    return wanted
