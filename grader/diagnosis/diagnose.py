"""The diagnosis of one object: the order in which the well-known causes are looked for.

Owns that order: what comes first explains what comes later. A queue that admits nothing explains why there are no
pods; a webhook that does not answer, why they are missing; only then are pods themselves to blame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.objects import CLUSTER_WIDE, title
from grader.diagnosis import groups, jobs, pods, refusals, webhooks
from grader.diagnosis.chain import Case, case_of, links, state_of, well
from grader.diagnosis.kueue import (
    admitted,
    class_missing,
    cluster_queue_trouble,
    local_queue_trouble,
    queued,
    selector_trouble,
    why_not_admitted,
    why_unmanaged,
)
from grader.diagnosis.model import Cause, Diagnosis
from grader.diagnosis.scene import Scene, live, namespace_of, spec, status

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.world import World


def diagnose(world: World, kind: str, name: str, namespace: str = "", *, history: bool = True) -> Diagnosis | None:
    """What is the matter with an object; None where there is none of that name.

    `namespace`: the lab's where it is empty; of no meaning for kinds that have none. Without `history` only what is
    there now is looked at. EnvironmentProblem: the cluster can't be asked.
    """
    scene = Scene(world, history=history)
    place = "" if kind in CLUSTER_WIDE else namespace or world.namespace
    obj = scene.one(kind, name, place)
    return None if obj is None else diagnose_object(scene, obj)


def diagnose_object(scene: Scene, obj: Object) -> Diagnosis:
    """The same for an object that is at hand."""
    case = case_of(scene, obj)
    cause = cause_of(scene, case)
    return Diagnosis(
        of=title(obj),
        state=_telling(scene, case),
        chain=links(scene, case),
        cause=cause,
        healthy=cause is None and well(case),
    )


def _telling(scene: Scene, case: Case) -> str:
    """How an object is; where it only waits for Kueue, what Kueue says of it."""
    waiting = next((workload for workload in case.workloads if not admitted(workload)), None)
    return state_of(scene, case.of if waiting is None or jobs.ended(case.top) else waiting)


def cause_of(scene: Scene, case: Case) -> Cause | None:
    """The well-known cause that explains how an object is."""
    if case.kind == "ClusterQueue":
        return cluster_queue_trouble(scene, case.of)
    if case.kind == "LocalQueue":
        cluster = scene.one("ClusterQueue", str(spec(case.of).get("clusterQueue") or ""))
        elsewhere = selector_trouble(scene, cluster, namespace_of(case.of)) if cluster else None
        return local_queue_trouble(scene, case.of) or elsewhere
    top, is_set = case.top, case.top.get("kind") == "JobSet"
    if jobs.ended(top):
        return jobs.rule_hidden(top) if is_set else None
    for workload in case.workloads:
        if not admitted(workload) and (cause := why_not_admitted(scene, queued(scene, workload))):
            return cause
    siblings = scene.owned("Job", top) if is_set else list(case.jobs)
    lacking = _incomplete(scene, case)
    return (
        webhooks.not_answering(scene, lacking)
        or refusals.quota_used_up(scene, lacking)
        or groups.no_domain(scene, case.pods, top, siblings)
        or pods.trouble(scene, case.pods)
        or (jobs.failure_eaten(scene, top, case.jobs) if is_set else None)
        or (jobs.rule_hidden(top) if is_set else None)
        or (groups.not_recreated(scene, top, list(case.pods)) if top.get("kind") == "LeaderWorkerSet" else None)
        or (why_unmanaged(scene, case.of) or class_missing(scene, case.of) if case.of is top else None)
    )


def _incomplete(scene: Scene, case: Case) -> list[Object]:
    """What has not all the parts it asks for; only these can be kept from making them."""
    found = [job for job in case.jobs if not jobs.ended(job) and not spec(job).get("suspend") and _lacks(scene, job)]
    if case.top.get("kind") == "JobSet" and not spec(case.top).get("suspend"):
        wanted = sum(int(role.get("replicas", 1)) for role in spec(case.top).get("replicatedJobs") or [])
        found += [case.top] if len(scene.owned("Job", case.top)) < wanted else []
    makers = [case.of, *case.owners]
    if case.of.get("kind") == "LeaderWorkerSet":
        leaders = scene.owned("StatefulSet", case.of)
        makers += [*leaders, *(made for pod in case.pods for made in scene.owned("StatefulSet", pod))]
    if case.of.get("kind") == "Deployment":
        makers += scene.owned("ReplicaSet", case.of)
    sets = [one for one in makers if one.get("kind") in ("StatefulSet", "ReplicaSet")]
    return found + [one for one in sets if int(status(one).get("replicas") or 0) < int(spec(one).get("replicas", 1))]


def _lacks(scene: Scene, job: Object) -> bool:
    return len(live(scene.owned("Pod", job))) < jobs.pods_wanted(job)
