"""Kueue's arithmetic: what a queue may use at most, what it could use now, and what a workload asks for.

Owns the numbers, as Kueue 0.17 computes them for a tree of cohorts (`pkg/cache/scheduler/resource_node.go`):
nominal quota, borrowing and lending limits. Makes no sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.checks.matching import quantity
from grader.checks.objects import Object, condition
from grader.diagnosis.scene import is_true, name_of, spec, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

ZERO = Decimal(0)
_TOO_MANY = 4096


class Flavored(NamedTuple):
    """A resource in a flavor: what quotas are about."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True)
class Quota:
    """What a queue or cohort says of one resource in one flavor. A limit of None: without."""

    nominal: Decimal = ZERO
    borrowing: Decimal | None = None
    lending: Decimal | None = None


@dataclass(slots=True)
class _Node:
    """A ClusterQueue or a cohort in the tree."""

    quotas: dict[Flavored, Quota] = field(default_factory=dict)
    parent: str = ""
    children: list[_Node] = field(default_factory=list)
    used: dict[Flavored, Decimal] = field(default_factory=dict)

    def quota(self, of: Flavored) -> Quota:
        return self.quotas.get(of, Quota())

    def subtree(self, of: Flavored) -> Decimal:
        """Its own quota with all that its children put in."""
        return self.quota(of).nominal + sum((child.shared(of) for child in self.children), ZERO)

    def kept(self, of: Flavored) -> Decimal:
        """What it does not lend."""
        lending = self.quota(of).lending
        return ZERO if lending is None else max(ZERO, self.subtree(of) - lending)

    def shared(self, of: Flavored) -> Decimal:
        return self.subtree(of) - self.kept(of)

    def usage(self, of: Flavored) -> Decimal:
        """What is reserved in it, and what its children use of the common part."""
        above = (max(ZERO, child.usage(of) - child.kept(of)) for child in self.children)
        return self.used.get(of, ZERO) + sum(above, ZERO)


class QuotaTree:
    """Every ClusterQueue with its cohorts and what is reserved."""

    def __init__(self, queues: Iterable[Object], cohorts: Iterable[Object], workloads: Iterable[Object]) -> None:
        self._queues = {name_of(queue): _Node(_quotas(queue), _parent(queue)) for queue in queues}
        self._cohorts = {name_of(cohort): _Node(_quotas(cohort), _parent(cohort)) for cohort in cohorts}
        for node in [*self._queues.values(), *self._cohorts.values()]:
            if node.parent:  # a cohort needs no object of its own
                self._cohorts.setdefault(node.parent, _Node())
        self._cut_circles()
        for node in [*self._queues.values(), *self._cohorts.values()]:
            if node.parent:
                self._cohorts[node.parent].children.append(node)
        for workload in workloads:
            queue, amounts = reserved(workload)
            if queue in self._queues:
                used = self._queues[queue].used
                for of, amount in amounts.items():
                    used[of] = used.get(of, ZERO) + amount

    def most(self, queue: str, of: Flavored) -> Decimal:
        """What a queue can have when nobody else has anything."""
        return self._most(self._queues[queue], of)

    def free(self, queue: str, of: Flavored) -> Decimal:
        """What it could have now without taking from anybody."""
        return self._free(self._queues[queue], of)

    def nominal(self, queue: str, of: Flavored) -> Decimal:
        """Its own quota."""
        return self._queues[queue].quota(of).nominal

    def used(self, queue: str, of: Flavored) -> Decimal:
        """What its own workloads hold."""
        return self._queues[queue].used.get(of, ZERO)

    def root(self, queue: str) -> str:
        """The cohort at the top of a queue's tree; "" for a queue in none."""
        top, parent = "", self._queues[queue].parent
        while parent:
            top, parent = parent, self._cohorts[parent].parent
        return top

    def neighbours(self, queue: str) -> set[str]:
        """The queues that share its tree, itself among them."""
        root = self.root(queue)
        return {name for name in self._queues if name == queue or (root and self.root(name) == root)}

    def _most(self, node: _Node, of: Flavored) -> Decimal:
        if not node.parent:
            return node.subtree(of)
        reach = node.kept(of) + self._most(self._cohorts[node.parent], of)
        borrowing = node.quota(of).borrowing
        return reach if borrowing is None else min(node.subtree(of) + borrowing, reach)

    def _free(self, node: _Node, of: Flavored) -> Decimal:
        if not node.parent:
            return node.subtree(of) - node.usage(of)
        kept, used = node.kept(of), node.usage(of)
        above = self._free(self._cohorts[node.parent], of)
        borrowing = node.quota(of).borrowing
        if borrowing is not None:
            above = min(node.shared(of) - max(ZERO, used - kept) + borrowing, above)
        return max(ZERO, kept - used) + above

    def _cut_circles(self) -> None:
        """Cohorts whose parents lead back to them admit nothing in Kueue; here each becomes a top."""
        for name, node in self._cohorts.items():
            seen, parent = {name}, node.parent
            while parent and parent not in seen:
                seen.add(parent)
                parent = self._cohorts[parent].parent
            if parent:
                node.parent = ""


# -- what objects say ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodSet:
    """What one podset of a workload asks for, all its pods together."""

    name: str
    requests: Mapping[str, Decimal]


def groups(queue: Object) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(resources covered, names of flavors) for each resource group of a ClusterQueue."""
    return [
        (
            tuple(map(str, group.get("coveredResources") or [])),
            tuple(str(flavor.get("name", "")) for flavor in group.get("flavors") or []),
        )
        for group in spec(queue).get("resourceGroups") or []
    ]


def pod_sets(workload: Object) -> list[PodSet]:
    """What a workload asks for: as Kueue counted it, or by its templates where it has not yet."""
    counted = status(workload).get("resourceRequests") or []
    if counted:
        return [PodSet(str(each.get("name", "")), _amounts(each.get("resources"))) for each in counted]
    return [
        PodSet(
            str(each.get("name", "")),
            {
                resource: amount * int(each.get("count") or 0)
                for resource, amount in requests((each.get("template") or {}).get("spec") or {}).items()
            },
        )
        for each in spec(workload).get("podSets") or []
    ]


def requests(pod_spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """What one pod asks for: its containers together, or the largest init container where that is more.

    As everywhere in Kubernetes, a limit without a request is one.
    """
    sums: dict[str, Decimal] = {}
    for container in pod_spec.get("containers") or []:
        for resource, amount in _asked(container).items():
            sums[resource] = sums.get(resource, ZERO) + amount
    for container in pod_spec.get("initContainers") or []:
        for resource, amount in _asked(container).items():
            sums[resource] = max(sums.get(resource, ZERO), amount)
    for resource, amount in _amounts(pod_spec.get("overhead")).items():
        sums[resource] = sums.get(resource, ZERO) + amount
    return {resource: amount for resource, amount in sums.items() if amount}


def reserved(workload: Object) -> tuple[str, dict[Flavored, Decimal]]:
    """The ClusterQueue in which a workload holds quota, and how much; ("", {}) where it holds none."""
    if not is_true(condition(workload, "QuotaReserved")) or is_true(condition(workload, "Finished")):
        return "", {}
    admission = status(workload).get("admission") or {}
    amounts: dict[Flavored, Decimal] = {}
    for each in admission.get("podSetAssignments") or []:
        flavors = each.get("flavors") or {}
        for resource, amount in _amounts(each.get("resourceUsage")).items():
            if resource in flavors:
                of = Flavored(str(flavors[resource]), resource)
                amounts[of] = amounts.get(of, ZERO) + amount
    return str(admission.get("clusterQueue", "")), amounts


def fits(sets: list[PodSet], queue: Object, room: Callable[[Flavored], Decimal]) -> bool:
    """Whether flavors can be chosen so that everything asked for has room. A podset is not divided.

    True too where there are too many choices to try them all: nobody can then say that it does not fit.
    """
    choices = [
        (asked, flavors)
        for each in sets
        for covered, flavors in groups(queue)
        if (asked := {resource: amount for resource, amount in each.requests.items() if resource in covered})
    ]
    if prod(len(flavors) for _asked, flavors in choices) > _TOO_MANY:
        return True
    return next(_ways(choices, {}, room), False)


def _ways(
    choices: list[tuple[dict[str, Decimal], tuple[str, ...]]],
    taken: dict[Flavored, Decimal],
    room: Callable[[Flavored], Decimal],
) -> Iterator[bool]:
    if not choices:
        yield True
        return
    (asked, flavors), *rest = choices
    for flavor in flavors:
        then = dict(taken)
        for resource, amount in asked.items():
            of = Flavored(flavor, resource)
            then[of] = then.get(of, ZERO) + amount
        if all(amount <= room(of) for of, amount in then.items()):
            yield from _ways(rest, then, room)


def _quotas(obj: Object) -> dict[Flavored, Quota]:
    return {
        Flavored(str(flavor.get("name", "")), str(resource.get("name", ""))): Quota(
            quantity(resource.get("nominalQuota")) or ZERO,
            quantity(resource.get("borrowingLimit")),
            quantity(resource.get("lendingLimit")),
        )
        for group in spec(obj).get("resourceGroups") or []
        for flavor in group.get("flavors") or []
        for resource in flavor.get("resources") or []
    }


def _parent(obj: Object) -> str:
    return str(spec(obj).get("cohortName") or spec(obj).get("parentName") or "")


def _asked(container: Mapping[str, Any]) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    return _amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _amounts(found: object) -> dict[str, Decimal]:
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(key): amount for key, value in pairs if (amount := quantity(value)) is not None}
