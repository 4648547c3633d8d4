"""Why Kueue does not let something start: the label, the two queues, their flavors, and the quota.

Owns these causes. Where numbers decide (`can never fit`, `must wait`) they are computed, not read from messages:
Kueue leaves a message as it is while what it says changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import Object, condition, labels, title, titled
from grader.checks.words import listed
from grader.diagnosis.flavors import flavor_refused
from grader.diagnosis.model import Cause
from grader.diagnosis.quota import groups, pod_sets
from grader.diagnosis.room import short_of_quota
from grader.diagnosis.scene import Scene, command, is_true, name_of, namespace_of, spec
from grader.diagnosis.selectors import selects

if TYPE_CHECKING:
    from collections.abc import Iterable

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
_MANAGED = (
    *("Job", "JobSet", "LeaderWorkerSet"),
    *("TrainJob", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"),
)
"""What labs send through queues."""
_STOPPED = ("Hold", "HoldAndDrain")


@dataclass(frozen=True, slots=True)
class Queued:
    """A workload on its way: each part is None where it is not there."""

    workload: Object
    local: Object | None
    cluster: Object | None

    @property
    def local_name(self) -> str:
        """The LocalQueue it names."""
        return str(spec(self.workload).get("queueName") or "")

    @property
    def cluster_name(self) -> str:
        """The ClusterQueue its LocalQueue names."""
        return "" if self.local is None else str(spec(self.local).get("clusterQueue") or "")


def workloads_of(scene: Scene, obj: Object) -> list[Object]:
    """The workloads Kueue made for an object: one, or one for each group of a LeaderWorkerSet."""
    return scene.owned("Workload", obj)


def queue_of(obj: Object) -> str:
    """The LocalQueue an object asks for; "" for none."""
    return labels(obj).get(QUEUE_LABEL, "")


def admitted(workload: Object) -> bool:
    """Whether it may run, or has run."""
    return is_true(condition(workload, "Admitted")) or is_true(condition(workload, "Finished"))


def queued(scene: Scene, workload: Object) -> Queued:
    """A workload with the queues it goes through."""
    local = scene.one("LocalQueue", str(spec(workload).get("queueName") or ""), namespace_of(workload))
    cluster = scene.one("ClusterQueue", str(spec(local).get("clusterQueue") or "")) if local else None
    return Queued(workload, local, cluster)


# -- causes -------------------------------------------------------------------------------------------


def why_not_admitted(scene: Scene, wait: Queued) -> Cause | None:
    """Why a workload that is not admitted is not."""
    place = namespace_of(wait.workload)
    if wait.local is None:
        return _no_local_queue(scene, wait)
    return (
        local_queue_trouble(scene, wait.local)
        or (wait.cluster and selector_trouble(scene, wait.cluster, place))
        or (wait.cluster and _not_covered(wait.workload, wait.cluster))
        or (wait.cluster and flavor_refused(scene, wait.workload, wait.cluster))
        or (wait.cluster and short_of_quota(scene, wait.workload, wait.cluster))
        or None
    )


def local_queue_trouble(scene: Scene, local: Object) -> Cause | None:
    """Why a LocalQueue takes nothing in, whoever asks."""
    place, name = namespace_of(local), name_of(local)
    if spec(local).get("stopPolicy") in _STOPPED:
        return Cause(
            id="local-queue-stopped",
            says=_("LocalQueue {namespace}/{name} is stopped (stopPolicy: {policy})").format(
                namespace=place, name=name, policy=spec(local)["stopPolicy"]
            ),
            where=(title(local),),
            look_at=command(local),
        )
    wanted = str(spec(local).get("clusterQueue") or "")
    cluster = scene.one("ClusterQueue", wanted)
    if cluster is None:
        there = _there_are(scene.all("ClusterQueue"), "ClusterQueue")
        return Cause(
            id="cluster-queue-missing",
            says=_("LocalQueue {namespace}/{name} leads to ClusterQueue {wanted}, which does not exist").format(
                namespace=place, name=name, wanted=wanted
            )
            + there,
            where=(title(local),),
            look_at="kubectl get clusterqueues",
        )
    return cluster_queue_trouble(scene, cluster)


def cluster_queue_trouble(scene: Scene, cluster: Object) -> Cause | None:
    """Why a ClusterQueue admits nothing, from wherever it comes."""
    name = name_of(cluster)
    missing = missing_flavors(scene, cluster)
    active = condition(cluster, "Active") or {}
    if spec(cluster).get("stopPolicy") in _STOPPED:
        cause, says = (
            "cluster-queue-stopped",
            _("ClusterQueue {name} is stopped (stopPolicy: {policy})").format(
                name=name, policy=spec(cluster)["stopPolicy"]
            ),
        )
    elif missing:
        cause = "flavor-missing"
        says = _("ClusterQueue {name} is inactive: it names the ResourceFlavor {missing}, which does not exist").format(
            name=name, missing=listed(missing)
        ) + _there_are(scene.all("ResourceFlavor"), "ResourceFlavor")
    elif active.get("status") == "False":
        cause, says = (
            "cluster-queue-inactive",
            _("ClusterQueue {name} is inactive: {message}").format(name=name, message=active.get("message", "")),
        )
    elif spec(cluster).get("namespaceSelector") is None:
        cause, says = (
            "no-namespace-selector",
            _(
                "ClusterQueue {name} has no namespaceSelector, so it admits from no namespace, though it is Active"
            ).format(name=name),
        )
    else:
        return None
    return Cause(id=cause, says=says, where=(title(cluster),), look_at=command(cluster))


def missing_flavors(scene: Scene, cluster: Object) -> list[str]:
    """The flavors a ClusterQueue names that are not there."""
    named = [flavor for _resources, flavors in groups(cluster) for flavor in flavors]
    there = {name_of(flavor) for flavor in scene.all("ResourceFlavor")} if named else set()
    return [flavor for flavor in named if flavor not in there]


def why_unmanaged(scene: Scene, obj: Object) -> Cause | None:
    """An object that Kueue never saw, or only in parts, although a queue waits for it."""
    if obj.get("kind") not in _MANAGED or queue_of(obj):
        return None
    queues = scene.all("LocalQueue", namespace_of(obj))
    if not queues or workloads_of(scene, obj):
        return None
    sets = scene.jobsets_of(obj)
    jobs = [job for owner in (obj, *sets) for job in scene.owned("Job", owner)]
    parts = [*sets, *jobs, *(pod for owner in (obj, *jobs) for pod in scene.owned("Pod", owner))]
    if part := next(filter(queue_of, parts), None):
        says = _(
            "{object} has no label {label}, but {part} has: Kueue takes each {kind} with it for a job of its own"
        ).format(object=title(obj), label=QUEUE_LABEL, part=title(part), kind=part["kind"])
    else:
        says = _(
            "{object} has no label {label}, so Kueue never saw it: it waits for no quota and counts against none"
        ).format(object=title(obj), label=QUEUE_LABEL) + _there_are(queues, "LocalQueue")
    return Cause(
        id="no-queue-label",
        says=says,
        where=(title(obj),),
        look_at=command(obj, "get", "--show-labels"),
    )


def class_missing(scene: Scene, obj: Object) -> Cause | None:
    """An object in a queue whose priority class is not there: Kueue makes no Workload for it until it is."""
    wanted = labels(obj).get(_CLASS_LABEL, "")
    if not wanted or not queue_of(obj) or workloads_of(scene, obj):
        return None
    if scene.one("WorkloadPriorityClass", wanted):
        return None
    says = _("{object} names the WorkloadPriorityClass {wanted}, which does not exist, so Kueue does not take it in")
    return Cause(
        id="priority-class-missing",
        says=says.format(object=title(obj), wanted=wanted)
        + _there_are(scene.all("WorkloadPriorityClass"), "WorkloadPriorityClass"),
        where=(title(obj),),
        look_at="kubectl get workloadpriorityclasses",
    )


def _no_local_queue(scene: Scene, wait: Queued) -> Cause:
    place, wanted = namespace_of(wait.workload), wait.local_name
    says = _("there is no LocalQueue {name} in namespace {namespace}").format(name=wanted, namespace=place)
    if scene.one("ClusterQueue", wanted):
        says += _("; {name} is a ClusterQueue, and the label wants a LocalQueue").format(name=wanted)
    says += _there_are(scene.all("LocalQueue", place), "LocalQueue")
    elsewhere = sorted(title(one) for one in scene.all("LocalQueue") if name_of(one) == wanted)
    if elsewhere:
        says += _("; {queues} is in another namespace, and a job finds only the queues of its own").format(
            queues=listed(elsewhere)
        )
    return Cause(
        id="local-queue-missing",
        says=says,
        where=(titled("LocalQueue", place, wanted),),
        look_at=f"kubectl -n {place} get localqueues",
    )


def selector_trouble(scene: Scene, cluster: Object, place: str) -> Cause | None:
    """A namespace from which a ClusterQueue admits nothing."""
    namespace = scene.one("Namespace", place)
    if namespace is None or selects(spec(cluster).get("namespaceSelector") or {}, labels(namespace)):
        return None
    return Cause(
        id="namespace-not-matched",
        says=_("the namespaceSelector of ClusterQueue {name} does not match namespace {namespace}").format(
            name=name_of(cluster), namespace=place
        ),
        where=(title(cluster), title(namespace)),
        look_at=f"kubectl get namespace {place} --show-labels",
    )


def _not_covered(workload: Object, cluster: Object) -> Cause | None:
    covered = {resource for resources, _flavors in groups(cluster) for resource in resources}
    asked = [resource for each in pod_sets(workload) for resource, amount in each.requests.items() if amount]
    lacking = [resource for resource in dict.fromkeys(asked) if resource not in covered]
    if not lacking:
        return None
    return Cause(
        id="resource-not-covered",
        says=_("the pods ask for {resources}, and ClusterQueue {name} covers only {covered}").format(
            resources=listed(lacking), name=name_of(cluster), covered=listed(sorted(covered)) or "-"
        ),
        where=(title(workload), title(cluster)),
        look_at=command(cluster),
    )


def _there_are(objects: Iterable[Object], kind: str) -> str:
    """A clause that names what there is instead."""
    names = sorted(map(name_of, objects))
    if not names:
        return _(" (there is no {kind})").format(kind=kind)
    return _(" (there is {kind} {names})").format(kind=kind, names=listed(names))
