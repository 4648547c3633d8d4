"""Flavors that are not for everybody: the taints they name, and who tolerates them.

Owns why no flavor of a queue suits a workload whatever the quota.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.objects import Object, condition, title
from grader.checks.words import listed
from grader.diagnosis.model import Cause
from grader.diagnosis.pods import taint_text, tolerates
from grader.diagnosis.quota import groups, pod_sets
from grader.diagnosis.scene import Scene, command, name_of, spec

if TYPE_CHECKING:
    from collections.abc import Mapping

_TAINT, _OTHERS = "untolerated taint", ("insufficient", "node affinity", "topology")
"""In Kueue's message: why a flavor was passed over."""


def flavor_refused(scene: Scene, workload: Object, cluster: Object) -> Cause | None:
    """A podset that tolerates no flavor of its queue, or did not when Kueue looked."""
    flavors = {name_of(flavor): flavor for flavor in scene.all("ResourceFlavor")}
    asked = {each.name: each.requests for each in pod_sets(workload)}
    for pod_set in spec(workload).get("podSets") or []:
        tolerations = ((pod_set.get("template") or {}).get("spec") or {}).get("tolerations") or []
        wanted = asked.get(str(pod_set.get("name", "")), {})
        for covered, names in groups(cluster):
            known = [flavors[name] for name in names if name in flavors]
            if not known or not any(wanted.get(resource) for resource in covered):
                continue
            taints = [_first_untolerated(flavor, tolerations) for flavor in known]
            if all(taints):
                return _not_tolerated(workload, cluster, known[0], sorted(set(taints)))
    message = str((condition(workload, "QuotaReserved") or {}).get("message", ""))
    if _TAINT in message and not any(words in message for words in _OTHERS):
        return _mended(workload, message)
    return None


def _first_untolerated(flavor: Object, tolerations: list[Mapping[str, Any]]) -> str:
    """The first taint of a flavor that keeps pods with these tolerations off, as text; "" for none."""
    every = [*tolerations, *(spec(flavor).get("tolerations") or [])]
    for taint in spec(flavor).get("nodeTaints") or []:
        if taint.get("effect") != "PreferNoSchedule" and not any(tolerates(each, taint) for each in every):
            return taint_text(taint)
    return ""


def _not_tolerated(workload: Object, cluster: Object, flavor: Object, taints: list[str]) -> Cause:
    says = _(
        "the pods tolerate no flavor of ClusterQueue {queue}: {taints} stands in nodeTaints, and neither the pods nor "
        "the tolerations of the ResourceFlavor allow it"
    )
    return Cause(
        id="flavor-not-tolerated",
        says=says.format(queue=name_of(cluster), taints=listed(taints)),
        where=(title(workload), title(flavor)),
        look_at=command(flavor),
    )


def _mended(workload: Object, message: str) -> Cause:
    says = _(
        "a flavor has been changed since Kueue looked ({message}), and it does not look again for that: delete the "
        "job and apply it again"
    )
    return Cause(
        id="flavor-changed",
        says=says.format(message=message.rpartition(": ")[2]),
        where=(title(workload),),
        look_at="kubectl get resourceflavors -o yaml",
    )
