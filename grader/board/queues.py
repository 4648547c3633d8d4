"""Kueue's queues as lines of the board: quota used and borrowed, and the Workloads that have it or want it.

Owns those lines; the arithmetic is `grader.diagnosis.quota`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from cluster.spec import GPU
from grader.board.model import AnyQueueLine, Level, QueueLine, QuotaLine, Ref, WorkloadLine
from grader.checks.objects import condition, meta, terminating
from grader.diagnosis.quota import ZERO, Flavored, QuotaTree, groups, pod_sets, reserved
from grader.diagnosis.room import amount
from grader.diagnosis.scene import is_true, name_of, namespace_of, spec
from grader.timeline.text import short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from grader.board.store import Store
    from grader.checks.objects import Object


def queue_lines(store: Store) -> list[AnyQueueLine]:
    """Every ClusterQueue with its quotas and Workloads; at the end, Workloads that lead to none."""
    queues, workloads = store.all("ClusterQueue"), store.all("Workload")
    local = {
        (namespace_of(one), name_of(one)): str(spec(one).get("clusterQueue") or "") for one in store.all("LocalQueue")
    }
    tree = QuotaTree(queues, store.all("Cohort"), workloads)
    used: dict[tuple[str, Flavored], Decimal] = {}
    members: dict[str, list[Object]] = {}
    names = {name_of(queue) for queue in queues}
    for workload in workloads:
        holds, amounts = reserved(workload)
        for of, value in amounts.items():
            used[holds, of] = used.get((holds, of), ZERO) + value
        leads = holds or local.get((namespace_of(workload), str(spec(workload).get("queueName") or "")), "")
        members.setdefault(leads if leads in names else "", []).append(workload)
    found: list[AnyQueueLine] = []
    for queue in sorted(queues, key=lambda each: (str(spec(each).get("cohortName") or ""), name_of(each))):
        name = name_of(queue)
        mine = sorted((workload_line(one, name) for one in members.get(name, [])), key=_order)
        found += [_queue_line(queue, mine), *_quota_lines(queue, tree, used), *mine]
    return found + sorted(map(workload_line, members.get("", [])), key=_order)


def workload_line(workload: Object, cluster_queue: str = "") -> WorkloadLine:
    """How a Workload stands, in a ClusterQueue or in none."""
    state, level = _state(workload)
    wanted = sum((each.requests.get(GPU, ZERO) for each in pod_sets(workload)), ZERO)
    return WorkloadLine(
        ref=Ref("Workload", namespace_of(workload), name_of(workload)),
        title=_for_whom(workload),
        gpus=int(wanted),
        queue=str(spec(workload).get("queueName") or ""),
        cluster_queue=cluster_queue,
        state=state,
        level=level,
    )


def _queue_line(queue: Object, workloads: list[WorkloadLine]) -> QueueLine:
    active = condition(queue, "Active")
    stopped = str(spec(queue).get("stopPolicy") or "None")
    state, level = "Active", Level.OK
    if stopped != "None":
        state, level = stopped, Level.BAD
    elif active is not None and not is_true(active):
        state, level = str(active.get("reason") or "Inactive"), Level.BAD
    return QueueLine(
        ref=Ref("ClusterQueue", "", name_of(queue)),
        cohort=str(spec(queue).get("cohortName") or ""),
        admitted=sum(line.state == "Admitted" for line in workloads),
        waiting=sum(line.level is Level.WAITING for line in workloads),
        state=state,
        level=level,
    )


def _quota_lines(queue: Object, tree: QuotaTree, used: dict[tuple[str, Flavored], Decimal]) -> Iterator[QuotaLine]:
    name = name_of(queue)
    for resources, flavors in groups(queue):
        for of in (Flavored(flavor, resource) for flavor in flavors for resource in resources):
            has, nominal = used.get((name, of), ZERO), tree.nominal(name, of)
            borrowed = max(ZERO, has - nominal)
            amounts = (amount(has, of.resource), amount(nominal, of.resource), amount(borrowed, of.resource))
            says = _("{used} of {nominal}").format(used=amounts[0], nominal=amounts[1])
            if borrowed:
                says = _("{used}, {borrowed} borrowed").format(used=says, borrowed=amounts[2])
            yield QuotaLine(
                ref=Ref("ClusterQueue", "", name),
                flavor=of.flavor,
                resource=of.resource,
                used=int(has),
                nominal=int(nominal),
                borrowed=int(borrowed),
                amounts=amounts,
                says=says,
                level=Level.MOVING if borrowed else Level.OK,
            )


def _state(workload: Object) -> tuple[str, Level]:
    finished = condition(workload, "Finished")
    if is_true(finished):
        failed = (finished or {}).get("reason") == "Failed"
        return ("Failed", Level.BAD) if failed else ("Finished", Level.OK)
    if terminating(workload):
        return "Terminating", Level.MOVING
    if is_true(condition(workload, "Evicted")) and not is_true(condition(workload, "Admitted")):
        return "Evicted", Level.WAITING
    if is_true(condition(workload, "Admitted")):
        return "Admitted", Level.OK
    if is_true(condition(workload, "QuotaReserved")):
        return "QuotaReserved", Level.MOVING
    return "Queued", Level.WAITING


def _for_whom(workload: Object) -> str:
    refs = meta(workload).get("ownerReferences") or []
    owner = next((ref for ref in refs if ref.get("controller") or ref.get("kind") != "Pod"), None)
    if owner is None:
        return name_of(workload)
    kind, name = str(owner.get("kind", "")), str(owner.get("name", ""))
    part = name_of(workload).removeprefix(f"{kind.lower()}-{name}-").partition("-")[0]
    return f"{short(kind)}/{name}" + (f" {part}" if kind == "LeaderWorkerSet" and part.isdecimal() else "")


def _order(line: WorkloadLine) -> tuple[bool, bool, str]:
    """What waits first: it is what one looks for; what is over last."""
    return line.state in ("Finished", "Failed"), line.level is not Level.WAITING, line.title
