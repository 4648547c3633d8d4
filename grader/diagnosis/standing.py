"""How workloads and queues stand with Kueue, in one line each.

Owns these lines; draws no conclusions.
"""

from __future__ import annotations

from cluster.i18n import _
from grader.checks.objects import Object, condition
from grader.diagnosis.scene import is_true, spec, status


def standing(workload: Object) -> str:
    """How a workload stands with Kueue, in its own words where it has any."""
    if (finished := condition(workload, "Finished")) and is_true(finished):
        return _("finished: {message}").format(message=finished.get("message", ""))
    if spec(workload).get("active") is False:
        return _("deactivated (spec.active: false): Kueue does not look at it")
    if is_true(condition(workload, "Admitted")):
        return _("admitted")
    reserved = condition(workload, "QuotaReserved")
    if reserved and is_true(reserved):
        return _("its quota is reserved; it waits for admission checks")
    if reserved is None:
        return _("not looked at by Kueue yet")
    said = _("QuotaReserved is {status} ({reason}): {message}").format(
        status=reserved.get("status", ""), reason=reserved.get("reason", ""), message=reserved.get("message", "")
    )
    evicted = condition(workload, "Evicted")
    if evicted and is_true(evicted):
        return _("evicted ({reason}); {said}").format(reason=evicted.get("reason", ""), said=said)
    return said


def local_queue_state(local: Object) -> str:
    """How a LocalQueue is, in one line."""
    said = _("leads to ClusterQueue {name}").format(name=spec(local).get("clusterQueue", ""))
    return "; ".join([said, *_active(local), _waiting(local)])


def cluster_queue_state(cluster: Object) -> str:
    """How a ClusterQueue is, in one line, with what of its quota is in use."""
    parts = _active(cluster)
    if cohort := spec(cluster).get("cohortName"):
        parts.append(_("in cohort {name}").format(name=cohort))
    nominal = {
        (flavor.get("name"), resource.get("name")): resource.get("nominalQuota")
        for group in spec(cluster).get("resourceGroups") or []
        for flavor in group.get("flavors") or []
        for resource in flavor.get("resources") or []
    }
    for flavor in status(cluster).get("flavorsReservation") or []:
        for resource in flavor.get("resources") or []:
            key = (flavor.get("name"), resource.get("name"))
            used = _("{resource} in flavor {flavor}: {used} of {quota} used").format(
                resource=key[1], flavor=key[0], used=resource.get("total"), quota=nominal.get(key, "?")
            )
            if resource.get("borrowed") not in (None, "0", 0):
                used += _(" ({borrowed} borrowed)").format(borrowed=resource["borrowed"])
            parts.append(used)
    return "; ".join([*parts, _waiting(cluster)])


def _active(queue: Object) -> list[str]:
    found = condition(queue, "Active")
    if found is None:
        return []
    said = f"Active: {found.get('status', '')}"
    return [said if is_true(found) else f"{said} ({found.get('reason', '')}): {found.get('message', '')}"]


def _waiting(queue: Object) -> str:
    found = status(queue)
    return _("workloads: {admitted} admitted, {pending} waiting").format(
        admitted=found.get("admittedWorkloads") or 0, pending=found.get("pendingWorkloads") or 0
    )
