"""Quota in words: what can never fit, and what has to wait, for how much and for whom.

Owns these two causes; `quota` has the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import Object, condition, meta, title, titled
from grader.checks.words import listed
from grader.diagnosis.model import Cause, Fault
from grader.diagnosis.quota import ZERO, Flavored, PodSet, QuotaTree, fits, groups, pod_sets, reserved
from grader.diagnosis.scene import Scene, command, name_of, namespace_of, spec

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHER_REASONS = ("node affinity", "untolerated taint", "topology ", "requested level")
"""In a message of Kueue: it is not the amount that it lacks."""


@dataclass(frozen=True, slots=True)
class _Lack:
    """One resource of which there is too little, and the flavor in which least is lacking."""

    of: Flavored
    asked: Decimal
    there: Decimal


def short_of_quota(scene: Scene, workload: Object, cluster: Object) -> Cause | None:
    """What a workload lacks in an active queue that covers what it asks for; None: nothing, by the numbers."""
    tree = QuotaTree(scene.all("ClusterQueue"), scene.all("Cohort"), scene.all("Workload"))
    queue, sets = name_of(cluster), pod_sets(workload)
    if not fits(sets, cluster, lambda of: tree.most(queue, of)):
        return _never_fits(workload, cluster, tree, _lack(sets, cluster, lambda of: tree.most(queue, of)))
    message = str((condition(workload, "QuotaReserved") or {}).get("message", ""))
    if any(words in message for words in _OTHER_REASONS):
        return None
    if not fits(sets, cluster, lambda of: tree.free(queue, of)):
        lack = _lack(sets, cluster, lambda of: max(ZERO, tree.free(queue, of)))
        return _must_wait(scene, workload, cluster, tree, lack)
    return None


def _never_fits(workload: Object, cluster: Object, tree: QuotaTree, lack: _Lack) -> Cause:
    queue = name_of(cluster)
    says = _(
        "{object} can never be admitted: it asks for {asked} {resource}, of which ClusterQueue {queue} can have "
        "{most} at most"
    ).format(
        object=_owner(workload),
        asked=amount(lack.asked, lack.of.resource),
        resource=lack.of.resource,
        queue=queue,
        most=amount(lack.there, lack.of.resource),
    )
    if root := tree.root(queue):
        nominal = tree.nominal(queue, lack.of)
        says += _(" ({own} of its own and {more} to borrow in cohort {cohort})").format(
            own=amount(nominal, lack.of.resource),
            more=amount(max(ZERO, lack.there - nominal), lack.of.resource),
            cohort=root,
        )
    return Cause(id="never-fits", says=says, where=(title(workload), title(cluster)), look_at=command(cluster))


def _must_wait(scene: Scene, workload: Object, cluster: Object, tree: QuotaTree, lack: _Lack) -> Cause:
    queue = name_of(cluster)
    says = _("{object} waits for quota: {more} more {resource} needed in ClusterQueue {queue}").format(
        object=_owner(workload),
        more=amount(lack.asked - lack.there, lack.of.resource),
        resource=lack.of.resource,
        queue=queue,
    )
    if users := _users(scene, tree.neighbours(queue), lack.of):
        says += _("; used by {users}").format(users=listed(users))
    reclaim = str((spec(cluster).get("preemption") or {}).get("reclaimWithinCohort") or "Never")
    if reclaim == "Never" and tree.nominal(queue, lack.of) - tree.used(queue, lack.of) >= lack.asked:
        says += _("; its own quota would do, but others borrow it, and reclaimWithinCohort is Never")
    return Cause(
        id="waits-for-quota",
        says=says,
        where=(title(workload), title(cluster)),
        look_at=f"kubectl -n {namespace_of(workload)} get workloads",
        fault=Fault.NOBODY,
    )


def _lack(sets: list[PodSet], cluster: Object, room: Callable[[Flavored], Decimal]) -> _Lack:
    """Of what does not fit, the resource that lacks most, in the flavor that lacks least.

    A podset that does not fit by itself stands for all: podsets may share several flavors, none is divided.
    """
    alone = next((each for each in sets if not fits([each], cluster, room)), None)
    total: dict[str, Decimal] = {}
    for each in [alone] if alone else sets:
        for resource, asked in each.requests.items():
            total[resource] = total.get(resource, ZERO) + asked
    lacks = []
    for covered, flavors in groups(cluster):
        asked_here = [resource for resource in covered if total.get(resource)]
        worst = [
            max((_Lack(of, total[of.resource], room(of)) for of in _in(flavor, asked_here)), key=_missing)
            for flavor in flavors
            if asked_here
        ]
        lacks += [min(worst, key=_missing)] if worst else []
    return max(lacks, key=_missing)


def _in(flavor: str, resources: list[str]) -> list[Flavored]:
    return [Flavored(flavor, resource) for resource in resources]


def _missing(lack: _Lack) -> Decimal:
    return lack.asked - lack.there


def _users(scene: Scene, queues: set[str], of: Flavored) -> list[str]:
    """Who holds of a resource, the largest first."""
    held: dict[str, Decimal] = {}
    for workload in scene.all("Workload"):
        queue, amounts = reserved(workload)
        if queue in queues and amounts.get(of):
            held[_owner(workload)] = held.get(_owner(workload), ZERO) + amounts[of]
    largest_first = sorted(held.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{who} ({amount(much, of.resource)})" for who, much in largest_first]


def _owner(workload: Object) -> str:
    """The title of what a workload stands for."""
    for ref in meta(workload).get("ownerReferences") or []:
        if ref.get("kind") != "Pod":
            return titled(str(ref.get("kind", "")), namespace_of(workload), str(ref.get("name", "")))
    return title(workload)


def amount(value: Decimal, resource: str) -> str:
    """A quantity as people write it: memory in Gi or Mi, everything else as a plain number."""
    if resource in ("memory", "ephemeral-storage") and value:
        for suffix, size in (("Gi", Decimal(2) ** 30), ("Mi", Decimal(2) ** 20)):
            if value % size == 0 or value >= 10 * size:
                return f"{_plain(round(value / size, 1))}{suffix}"
    return _plain(value)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
