"""Groups that belong together: one domain for each, and what brings a whole group back.

Owns exclusive placement (JobSet and LeaderWorkerSet), and why a group of a LeaderWorkerSet was not recreated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.base import ObjectRef
from grader.checks.happened.lives import Life, lives
from grader.checks.objects import Object, condition, labels, meta, terminating, title, titled
from grader.checks.words import listed
from grader.diagnosis.jobs import ended
from grader.diagnosis.model import Cause
from grader.diagnosis.pods import restarts, unschedulable
from grader.diagnosis.scene import Scene, command, live, name_of, namespace_of, spec, status
from grader.diagnosis.selectors import selects

if TYPE_CHECKING:
    from collections.abc import Iterable

JOBSET_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
LWS_TOPOLOGY = "leaderworkerset.sigs.k8s.io/exclusive-topology"
GROUP = "leaderworkerset.sigs.k8s.io/group-index"
WORKER = "leaderworkerset.sigs.k8s.io/worker-index"
SET = "leaderworkerset.sigs.k8s.io/name"
_JOBSET = "jobset.sigs.k8s.io/jobset-name"
_RECREATE = "RecreateGroupOnPodRestart"
_REACTION = 5.0
"""Seconds in which the controller would have begun to recreate a group."""


# -- one domain for each ------------------------------------------------------------------------------


def no_domain(scene: Scene, pods: Iterable[Object], owner: Object, jobs: Iterable[Object]) -> Cause | None:
    """A leader that waits for a domain of its own, and with it its followers, which may not be made before it."""
    for pod in live(pods):
        annotations = meta(pod).get("annotations") or {}
        key = annotations.get(JOBSET_TOPOLOGY) or annotations.get(LWS_TOPOLOGY)
        if key and unschedulable(pod) and not terminating(pod):
            return _domains(scene, pod, str(key), owner, jobs)
    return None


def _domains(scene: Scene, pod: Object, key: str, owner: Object, jobs: Iterable[Object]) -> Cause | None:
    domains = {name_of(node): labels(node)[key] for node in scene.all("Node") if key in labels(node)}
    count = len(set(domains.values()))
    if owner.get("kind") == "LeaderWorkerSet":
        needed = int(spec(owner).get("replicas") or 0)
        says = _("{owner} needs {needed} free {key} domains, one for each group; the cluster has {count}")
    else:
        needed = sum(JOBSET_TOPOLOGY in (meta(job).get("annotations") or {}) for job in jobs if not ended(job))
        says = _("{owner} needs {needed} free {key} domains, one for each Job; the cluster has {count}")
    taken = _taken(scene, pod, key, domains, owner)
    if needed <= count - len(taken):
        return None
    said = says.format(owner=title(owner), needed=needed, key=key, count=count)
    if taken:
        others = sorted({name for names in taken.values() for name in names})
        said += _(", {taken} of them taken by {others}").format(taken=len(taken), others=listed(others))
    said += _("; {pod} waits for one, and followers come only after their leader").format(pod=title(pod))
    return Cause(
        id="no-free-domain",
        says=said,
        where=(title(owner), title(pod)),
        look_at=f"kubectl get nodes -L {key}",
    )


def _taken(scene: Scene, pod: Object, key: str, domains: dict[str, str], owner: Object) -> dict[str, set[str]]:
    """Domains in which pods of others keep this one off, with those others."""
    affinity = (spec(pod).get("affinity") or {}).get("podAntiAffinity") or {}
    terms = [
        term
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []
        if term.get("topologyKey") == key
    ]
    taken: dict[str, set[str]] = {}
    for other in live(scene.all("Pod")):
        domain = domains.get(str(spec(other).get("nodeName", "")))
        name = _set_of(other)
        if domain is None or name == title(owner):
            continue
        if any(_meant(term, pod, other) for term in terms):
            taken.setdefault(domain, set()).add(name or title(other))
    return taken


def _meant(term: dict[str, Any], pod: Object, other: Object) -> bool:
    """Whether an anti-affinity term of `pod` speaks of `other`; of namespaces, all or its own."""
    everywhere = term.get("namespaceSelector") is not None
    named = term.get("namespaces") or [namespace_of(pod)]
    near = everywhere or namespace_of(other) in named
    return near and selects(term.get("labelSelector") or {}, labels(other))


def _set_of(pod: Object) -> str:
    """The title of the JobSet or LeaderWorkerSet a pod belongs to; "" for none."""
    for label, kind in ((_JOBSET, "JobSet"), (SET, "LeaderWorkerSet")):
        if name := labels(pod).get(label):
            return titled(kind, namespace_of(pod), name)
    return ""


# -- coming back as one -------------------------------------------------------------------------------


def not_recreated(scene: Scene, lws: Object, pods: list[Object]) -> Cause | None:
    """Why a group of a LeaderWorkerSet stayed although one of its pods went or failed."""
    policy = (spec(lws).get("leaderWorkerTemplate") or {}).get("restartPolicy")
    if policy == _RECREATE:
        return _forced(scene, lws, pods) if scene.history else None
    restarted = next((pod for pod in pods if restarts(pod)), None)
    if restarted is None:
        return None
    return Cause(
        id="restart-policy-none",
        says=_("a container of {pod} was started again alone: {set} has restartPolicy {policy}").format(
            pod=title(restarted), set=title(lws), policy=policy
        ),
        where=(title(restarted), title(lws)),
        look_at=command(lws),
    )


def _forced(scene: Scene, lws: Object, pods: list[Object]) -> Cause | None:
    """The last pod of a group that was deleted without any grace, where the leader of then still stands.

    The controller learns of a pod's end by its deletionTimestamp. A forced deletion writes one and removes the pod in
    the same moment, so the controller often finds the pod's successor, in which it sees nothing wrong.
    """
    leaders = {labels(pod).get(GROUP): pod for pod in pods if labels(pod).get(WORKER) == "0"}
    ref = ObjectRef(kind="Pod", selector=f"{SET}={name_of(lws)}", namespace=namespace_of(lws))
    every = lives(ref, scene.world)
    for life in reversed(every):
        last = life.versions[-1][1]
        leader = leaders.get(labels(last).get(GROUP))
        if leader is None or labels(last).get(WORKER) == "0" or not _without_grace(life):
            continue
        stood = next((one for one in every if one.uid == meta(leader).get("uid")), None)
        gone = life.gone
        if gone is None or stood is None or stood.born.seq > gone.seq or terminating(leader):
            continue
        if scene.now - gone.at < _REACTION:
            continue
        return Cause(
            id="forced-delete",
            says=_forced_says(last).format(
                group=labels(last).get(GROUP, ""), set=title(lws), pod=life.title, leader=title(leader)
            ),
            where=(life.title, title(leader)),
            look_at=command(lws, "describe"),
        )
    return None


def _forced_says(pod: Object) -> str:
    if spec(pod).get("nodeName"):
        return _(
            "group {group} of {set} was not recreated: {pod} was deleted by force and gone before the controller saw "
            "it go, so {leader} is still the same"
        )
    return _(
        "group {group} of {set} was not recreated: {pod} was deleted while it had no node, and such a pod goes before "
        "the controller sees it go, so {leader} is still the same"
    )


def _without_grace(life: Life) -> bool:
    """Whether a pod was removed at once: no deletionTimestamp was seen, or one with a grace of 0 from the start."""
    for _when, obj in life.versions:
        if status(obj).get("phase") in ("Succeeded", "Failed"):
            return False  # what has ended needs no grace
        if terminating(obj):
            return meta(obj).get("deletionGracePeriodSeconds") == 0
    return life.gone is not None


# -- state --------------------------------------------------------------------------------------------


def lws_state(lws: Object) -> str:
    """How a LeaderWorkerSet is, in one line."""
    found = status(lws)
    said = _("{ready} of {groups} groups ready").format(
        ready=found.get("readyReplicas") or 0, groups=spec(lws).get("replicas", 1)
    )
    update = condition(lws, "UpdateInProgress")
    if update and update.get("status") == "True":
        said += _("; an update is under way, {count} groups are new").format(count=found.get("updatedReplicas") or 0)
    return said
