"""What makes pods, as lines of the board: sets, Jobs and their parts.

Owns their states in a word or two and how many pods they should have; pods tell whose they are by
`grader.timeline.owners`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.board.model import Level, OwnerLine, Ref
from grader.board.pods import SeenPod, see_pod
from grader.checks.objects import condition, labels, meta, terminating
from grader.diagnosis.jobs import pods_wanted
from grader.diagnosis.scene import is_true, name_of, namespace_of, spec, status
from grader.timeline.owners import Owner
from grader.timeline.text import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.board.store import Store
    from grader.checks.objects import Object

_REPLICATED = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")
_KINDS = ("LeaderWorkerSet", "JobSet", "Job", "StatefulSet", "Deployment", "TrainJob", *_REPLICATED)


def owner_lines(store: Store) -> list[OwnerLine]:
    """Every owner, the oldest first, each followed by its parts."""
    objects = {_owner(obj): obj for kind in _KINDS for obj in store.all(kind) if not _is_owned(obj)}
    makers = {_owner(obj): maker for kind in ("JobSet", "Job") for obj in store.all(kind) if (maker := _maker(obj))}
    pods: dict[Owner, dict[Owner, list[SeenPod]]] = {}
    for pod in store.each("Pod", see_pod):
        if pod.owner.kind:
            maker = makers.get(pod.owner.whole)
            owner = pod.owner if maker is None else replace(maker, part=pod.owner.part)
            pods.setdefault(owner.whole, {}).setdefault(owner, []).append(pod)
    waits = _queued(store)
    found: list[OwnerLine] = []
    for owner in sorted({*objects, *pods}, key=lambda each: (_age(objects.get(each)), each)):
        found += _lines(owner, objects.get(owner), pods.get(owner, {}), waits)
    return found


def _lines(owner: Owner, obj: Object | None, parts: dict[Owner, list[SeenPod]], waits: set[str]) -> Iterator[OwnerLine]:
    pods = [pod for each in parts.values() for pod in each]
    wanted = _wanted(obj) if obj is not None else None
    waits_for_quota = str(meta(obj or {}).get("uid", "")) in waits
    state, level = _state(obj, pods, wanted, waits=waits_for_quota)
    yield _line(owner, f"{short(owner.kind)}/{owner.name}", pods, wanted, state, level)
    if obj is not None:
        parts = {**{part: [] for part in _parts(owner, obj)}, **parts}
    for part in sorted(parts, key=lambda each: (len(each.part), each.part)):
        if part.part:
            one = parts[part]
            should = _wanted_of_part(obj, part.part) if obj is not None else None
            said = _pods_in_words(one, should)
            yield _line(part, part.part_in_words, one, should, *said, part=True)


def _line(
    owner: Owner,
    title: str,
    pods: list[SeenPod],
    wanted: int | None,
    state: str,
    level: Level,
    *,
    part: bool = False,
) -> OwnerLine:
    alive = [pod for pod in pods if not pod.over]
    return OwnerLine(
        ref=Ref(owner.kind, owner.namespace, owner.name),
        title=title,
        part=part,
        ready=sum(pod.ready for pod in pods),
        wanted=len(alive) if wanted is None else wanted,
        gpus=sum(pod.gpus for pod in alive),
        state=state,
        level=level,
    )


# -- states -------------------------------------------------------------------------------------------


def _state(obj: Object | None, pods: list[SeenPod], wanted: int | None, *, waits: bool) -> tuple[str, Level]:
    if obj is None:
        return _pods_in_words(pods, wanted)
    if terminating(obj):
        return "Terminating", Level.MOVING
    for done in ("Complete", "Completed", "Succeeded"):
        if is_true(condition(obj, done)):
            return "Completed", Level.OK
    if is_true(condition(obj, "Failed")):
        return "Failed", Level.BAD
    if waits:
        return "Queued", Level.WAITING
    if spec(obj).get("suspend"):
        return "Suspended", Level.WAITING
    said, level = _pods_in_words(pods, wanted)
    if is_true(condition(obj, "UpdateInProgress")):
        said, level = "Updating", max(level, Level.MOVING)
    if again := int(status(obj).get("restarts") or 0):
        said = _("{state}, restarted {count}×").format(state=said, count=again)
    return said, level


def _pods_in_words(pods: list[SeenPod], wanted: int | None) -> tuple[str, Level]:
    """The worst of the pods; where all are well, whether there are enough."""
    ready = sum(pod.ready for pod in pods)
    if wanted and ready >= wanted:  # those that failed before have been replaced
        pods = [pod for pod in pods if not pod.over]
    lines = [pod.line for pod in pods]
    worst = max(lines, key=lambda line: line.level, default=None)
    if worst is not None and worst.level is not Level.OK:
        return worst.state, worst.level
    if wanted is not None and ready < wanted and not (lines and all(line.state == "Completed" for line in lines)):
        return "Pending", Level.MOVING
    return (worst.state if worst else "Pending"), Level.OK if worst or wanted == 0 else Level.MOVING


def _queued(store: Store) -> set[str]:
    """uids of the owners of which a Workload waits for quota."""
    return {
        str(ref.get("uid", ""))
        for workload in store.all("Workload")
        if not is_true(condition(workload, "Admitted")) and not is_true(condition(workload, "Finished"))
        for ref in meta(workload).get("ownerReferences") or []
    }


# -- how many pods there should be --------------------------------------------------------------------


def _wanted(obj: Object) -> int | None:
    match obj.get("kind"):
        case "LeaderWorkerSet":
            return int(spec(obj).get("replicas", 1)) * _size(obj)
        case "JobSet":
            return sum(map(_of_replicated, spec(obj).get("replicatedJobs") or []))
        case "Job":
            return 0 if spec(obj).get("suspend") else max(0, pods_wanted(obj))
        case "StatefulSet" | "Deployment":
            return int(spec(obj).get("replicas", 1))
        case str() as kind if kind in _REPLICATED:
            found = (value for key, value in spec(obj).items() if key.endswith("ReplicaSpecs"))
            roles: dict[str, dict[str, Any]] = next(found, {})
            return sum(int(role.get("replicas", 1)) for role in roles.values())
    return None


def _wanted_of_part(obj: Object, part: str) -> int | None:
    if obj.get("kind") == "LeaderWorkerSet":
        return _size(obj)
    roles = {str(role.get("name")): role for role in spec(obj).get("replicatedJobs") or []}
    return _of_replicated(roles[part]) if part in roles else None


def _parts(owner: Owner, obj: Object) -> list[Owner]:
    """The parts it should have, whether or not there are pods."""
    match obj.get("kind"):
        case "LeaderWorkerSet":
            names = [str(number) for number in range(int(spec(obj).get("replicas", 1)))]
        case "JobSet":
            names = [str(role.get("name")) for role in spec(obj).get("replicatedJobs") or []]
        case _:
            names = []
    return [Owner(owner.namespace, owner.kind, owner.name, name) for name in names]


def _size(lws: Object) -> int:
    return int((spec(lws).get("leaderWorkerTemplate") or {}).get("size", 1))


def _of_replicated(role: dict[str, Any]) -> int:
    job = (role.get("template") or {}).get("spec") or {}
    return int(role.get("replicas", 1)) * int(job.get("parallelism", 1))


def _owner(obj: Object) -> Owner:
    return Owner(namespace_of(obj), str(obj.get("kind", "")), name_of(obj))


def _maker(obj: Object) -> Owner | None:
    """The TrainJob of a JobSet, the MPIJob of its launcher's Job: their pods carry its name, not the maker's."""
    for ref in meta(obj).get("ownerReferences") or []:
        if ref.get("controller") and ref.get("kind") in ("TrainJob", "MPIJob"):
            return Owner(namespace_of(obj), str(ref["kind"]), str(ref.get("name", "")))
    return None


def _is_owned(obj: Object) -> bool:
    """Whether it is part of another owner, under which its pods stand."""
    if any(ref.get("controller") for ref in meta(obj).get("ownerReferences") or []):
        return True
    return bool(labels(obj).get("leaderworkerset.sigs.k8s.io/name")) and obj.get("kind") == "StatefulSet"


def _age(obj: Object | None) -> str:
    return str(meta(obj or {}).get("creationTimestamp") or "9")
