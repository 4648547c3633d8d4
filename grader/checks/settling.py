"""Whether what is not right yet may still become so by itself: controllers and kubelets at work.

Owns the signs of movement in an object; knows nothing of what is wanted.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from grader.checks.objects import Object, condition, meta, terminating

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.checks.matching import Difference
    from grader.checks.world import World

PATIENCE = 10.0
"""Seconds something may stand still before that counts as its state and not as a moment between two: a pod that
could not be scheduled, a run that shows no sign of life."""

_STUCK = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CrashLoopBackOff"}
    | {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
"""Reasons to wait that only a person ends."""

_ENDS = {"Job": ("Complete", "Failed"), "JobSet": ("Completed", "Failed")}
"""Kinds of runs, and the conditions that say that one is over. They have no observedGeneration to tell whether their
controller has seen them, and while a run goes on nothing in it need change."""

_BEHIND: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "Pod": "Job JobSet LeaderWorkerSet StatefulSet Deployment TrainJob Workload",
        "Job": "JobSet TrainJob Workload",
        "JobSet": "TrainJob Workload",
        "StatefulSet": "LeaderWorkerSet",
        "Service": "JobSet LeaderWorkerSet",
        "Workload": "Job JobSet LeaderWorkerSet Pod LocalQueue ClusterQueue",
    }.items()
}
"""Kinds whose objects make those of a kind, or let them go on."""


def stirring(kinds: frozenset[str]) -> frozenset[str]:
    """The kinds, and those behind them: while any of these change, an object of `kinds` may still come or change."""
    return kinds.union(*(_BEHIND.get(kind, frozenset()) for kind in kinds))


def any_moving(objects: Iterable[Object], now: datetime) -> bool:
    """Whether at least one of the objects is on its way."""
    return any(moving(obj, now) for obj in objects)


def moving(obj: Object, now: datetime) -> bool:
    """Being deleted; a pod on its way to Running; a spec its controller has not seen; a roll under way."""
    if terminating(obj):
        return True
    if obj.get("kind") == "Pod" and _pod_moving(obj, now):
        return True
    status = obj.get("status") or {}
    observed, generation = status.get("observedGeneration"), meta(obj).get("generation")
    if observed is not None and generation is not None and observed != generation:
        return True
    return _is_true(condition(obj, "UpdateInProgress"))


def goes_on(obj: Object, unlike: Sequence[Difference], world: World) -> bool:
    """Whether a run may still become what is wanted of its status: it has not ended, and is not standing still.

    What differs outside the status is not for the run to change.
    """
    ends = _ENDS.get(str(obj.get("kind")))
    if ends is None or not unlike or any(each.keys[:1] != ("status",) for each in unlike):
        return False
    if (obj.get("spec") or {}).get("suspend") or any(_is_true(condition(obj, end)) for end in ends):
        return False
    last = world.last_change(obj) or instant(meta(obj).get("creationTimestamp"))
    return last is not None and world.now.timestamp() - last < PATIENCE


def _is_true(found: dict[str, object] | None) -> bool:
    return found is not None and found.get("status") == "True"


def _pod_moving(pod: Object, now: datetime) -> bool:
    status = pod.get("status") or {}
    phase = status.get("phase", "Pending")
    if phase != "Pending":
        return phase == "Running" and _unready_start(status)
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        since = instant(scheduled.get("lastTransitionTime"))
        return since is None or now.timestamp() - since < PATIENCE
    return not _stuck(status)


def _unready_start(status: dict[str, object]) -> bool:
    """Running, not Ready, and nothing in the way: the moment between start and readiness."""
    ready = condition({"status": status}, "Ready")
    return ready is not None and ready.get("status") == "False" and not _stuck(status)


def _stuck(status: dict[str, object]) -> bool:
    containers = status.get("containerStatuses")
    for container in containers if isinstance(containers, list) else []:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in _STUCK:
            return True
    return False


def instant(text: object) -> float | None:
    """An RFC 3339 time of the API in Unix seconds."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
