"""From one object to all that decide about it: its owners, its queue, its parts.

Owns the walk and the line each object gets; decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import Object, condition, labels, meta, terminating, title, titled, uid
from grader.diagnosis.groups import SET, lws_state
from grader.diagnosis.jobs import ended, job_state, jobset_state, pods_wanted
from grader.diagnosis.kueue import admitted, queue_of, queued, workloads_of
from grader.diagnosis.model import Link
from grader.diagnosis.pods import pod_state
from grader.diagnosis.scene import Scene, is_true, namespace_of, spec, status
from grader.diagnosis.standing import cluster_queue_state, local_queue_state, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_A_FEW = 3
"""Of parts that are alike, this many are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One object and what belongs to it."""

    of: Object
    owners: tuple[Object, ...]
    """Nearest first."""
    workloads: tuple[Object, ...]
    """Kueue's, of the topmost owner; those that wait first."""
    jobs: tuple[Object, ...]
    """Those of a JobSet, or the one that is meant."""
    pods: tuple[Object, ...]

    @property
    def top(self) -> Object:
        """What owns all of it."""
        return self.owners[-1] if self.owners else self.of

    @property
    def kind(self) -> str:
        """The kind of the object that is asked about."""
        return str(self.of.get("kind", ""))


def case_of(scene: Scene, obj: Object) -> Case:
    """What belongs to an object."""
    owners = tuple(scene.owners(obj))
    top = owners[-1] if owners else obj
    if obj.get("kind") == "Workload":
        workloads = [obj]
    else:
        workloads = [one for one in workloads_of(scene, top) if _concerns(one, obj)]
    jobs = _jobs(scene, obj, owners)
    return Case(
        of=obj,
        owners=owners,
        workloads=tuple(sorted(workloads, key=admitted)),
        jobs=tuple(jobs),
        pods=tuple(_pods(scene, top if obj.get("kind") == "Workload" else obj, jobs)),
    )


def _concerns(workload: Object, obj: Object) -> bool:
    """Whether a workload is about a pod: those of a LeaderWorkerSet are about one group each."""
    pods = [ref.get("uid") for ref in meta(workload).get("ownerReferences") or [] if ref.get("kind") == "Pod"]
    return obj.get("kind") != "Pod" or not pods or uid(obj) in pods


def _jobs(scene: Scene, obj: Object, owners: Iterable[Object]) -> list[Object]:
    job = next((one for one in (obj, *owners) if one.get("kind") == "Job"), None)
    if job is not None:
        return [job]
    if obj.get("kind") == "MPIJob":
        return scene.owned("Job", obj)
    sets = [one for one in (obj, *owners) if one.get("kind") == "JobSet"][:1] or scene.jobsets_of(obj)
    return [job for one in sets for job in scene.owned("Job", one)]


def _pods(scene: Scene, obj: Object, jobs: list[Object]) -> list[Object]:
    match obj.get("kind"):
        case "Pod":
            return [obj]
        case "Job" | "JobSet" | "TrainJob":
            return [pod for job in jobs for pod in scene.owned("Pod", job)]
        case "MPIJob":  # the launcher is a Job, workers are pods of its own
            return [pod for maker in (*jobs, obj) for pod in scene.owned("Pod", maker)]
        case "LeaderWorkerSet":
            place, name = namespace_of(obj), meta(obj).get("name")
            return [pod for pod in scene.all("Pod", place) if labels(pod).get(SET) == name]
        case "Deployment":
            return [pod for part in scene.owned("ReplicaSet", obj) for pod in scene.owned("Pod", part)]
        case "StatefulSet" | "ReplicaSet" | "DaemonSet":
            return scene.owned("Pod", obj)
        case "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob":
            return scene.owned("Pod", obj)
    return []


# -- in words -----------------------------------------------------------------------------------------


def links(scene: Scene, case: Case) -> tuple[Link, ...]:
    """Each object of a case with what it says, once: owners, queues, the object, its parts that are not well."""
    found: dict[str, Link] = {}
    for link in _all_links(scene, case):
        found.setdefault(link.object, link)
    return tuple(found.values())


def _all_links(scene: Scene, case: Case) -> Iterator[Link]:
    above = [one for one in reversed(case.owners) if one.get("kind") != "StatefulSet"]
    line = [*above, case.of] if case.kind != "Workload" else above
    first, *rest = line or [case.of]
    yield _job_link(scene, first) if first.get("kind") == "Job" else _link(scene, first)
    for workload in case.workloads[:_A_FEW]:
        yield from _queue_links(scene, workload)
    if case.kind == "LocalQueue":
        yield from _cluster_queue_link(scene, str(spec(case.of).get("clusterQueue") or ""))
    for obj in rest:
        yield _job_link(scene, obj) if obj.get("kind") == "Job" else _link(scene, obj)
    for obj in [one for one in case.jobs if not _job_well(one)][:_A_FEW]:
        yield _job_link(scene, obj)
    for obj in [one for one in case.pods if not pod_well(one)][:_A_FEW]:
        yield _link(scene, obj)


def _queue_links(scene: Scene, workload: Object) -> Iterator[Link]:
    wait = queued(scene, workload)
    yield _link(scene, workload)
    if wait.local is None:
        yield Link(object=titled("LocalQueue", namespace_of(workload), wait.local_name), says=_("does not exist"))
        return
    yield _link(scene, wait.local)
    yield from _cluster_queue_link(scene, wait.cluster_name)


def _cluster_queue_link(scene: Scene, name: str) -> Iterator[Link]:
    found = scene.one("ClusterQueue", name)
    yield _link(scene, found) if found else Link(object=titled("ClusterQueue", "", name), says=_("does not exist"))


def _link(scene: Scene, obj: Object) -> Link:
    return Link(object=title(obj), says=state_of(scene, obj))


def _job_link(scene: Scene, job: Object) -> Link:
    """A Job, with the last warning about it where it lacks pods: they are refused more often than people look."""
    link = _link(scene, job)
    if _job_well(job) or ended(job) or not (warned := scene.warnings(job)):
        return link
    said = _("{state}; {reason}: {message}").format(
        state=link.says, reason=warned[-1].get("reason", ""), message=warned[-1].get("message", "")
    )
    return Link(object=link.object, says=said)


def state_of(scene: Scene, obj: Object) -> str:
    """How an object is, in one line."""
    match obj.get("kind"):
        case "Pod":
            return pod_state(obj)
        case "Job":
            said = job_state(obj)
        case "JobSet":
            said = jobset_state(scene, obj)
        case "TrainJob":  # which has no condition while it runs
            jobset = next(iter(scene.jobsets_of(obj)), None)
            said = jobset_state(scene, jobset) if jobset and not ended(obj) else _any_state(obj)
        case "LeaderWorkerSet":
            said = lws_state(obj)
        case "Workload":
            return standing(obj)
        case "LocalQueue":
            return local_queue_state(obj)
        case "ClusterQueue":
            return cluster_queue_state(obj)
        case _:
            return _any_state(obj)
    if terminating(obj):
        return _("being deleted; {state}").format(state=said)
    queue = queue_of(obj)
    if queue and not workloads_of(scene, obj) and not ended(obj):
        return _("{state}; queue {queue}, and Kueue has made no Workload for it yet").format(state=said, queue=queue)
    return _("{state}; queue {queue}").format(state=said, queue=queue) if queue else said


def _any_state(obj: Object) -> str:
    if terminating(obj):
        return _("being deleted")
    found = [f"{each.get('type', '')}: {each.get('status', '')}" for each in status(obj).get("conditions") or []]
    counts = [f"{key}: {status(obj)[key]}" for key in ("phase", "replicas", "readyReplicas") if key in status(obj)]
    return "; ".join([*counts, *found]) or _("it exists")


# -- whether something is as it should be -------------------------------------------------------------


def well(case: Case) -> bool:
    """Whether the object of a case is as it should be, as far as can be told."""
    obj = case.of
    if terminating(obj):
        return False
    match case.kind:
        case "Pod":
            return pod_well(obj)
        case "Workload":
            return admitted(obj)
        case "LocalQueue" | "ClusterQueue":
            return is_true(condition(obj, "Active"))
        case "Job" | "JobSet":
            if is_true(condition(obj, "Complete")) or is_true(condition(obj, "Completed")):
                return True
            return not ended(obj) and bool(case.pods) and all(map(_job_well, case.jobs)) and _pods_well(case)
        case "LeaderWorkerSet":
            whole = int(status(obj).get("readyReplicas") or 0) == int(spec(obj).get("replicas", 1))
            return whole and _pods_well(case)
    return _pods_well(case)


def _pods_well(case: Case) -> bool:
    return all(pod_well(pod) for pod in case.pods)


def pod_well(pod: Object) -> bool:
    """Whether a pod runs and is ready, or did what it had to."""
    phase = status(pod).get("phase")
    if terminating(pod):
        return False
    return phase == "Succeeded" or (phase == "Running" and is_true(condition(pod, "Ready")))


def _job_well(job: Object) -> bool:
    if is_true(condition(job, "Complete")):
        return True
    found = status(job)
    enough = int(found.get("active") or 0) >= pods_wanted(job)
    return not spec(job).get("suspend") and not found.get("failed") and enough
