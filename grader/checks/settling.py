"""Whether what is not right yet may still become so by itself: controllers and kubelets at work.

Owns the signs of movement in an object; knows nothing of what is wanted.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from grader.checks.objects import Object, condition, meta, terminating

if TYPE_CHECKING:
    from collections.abc import Iterable

_PATIENCE = 10.0
"""Seconds a pod may be unschedulable before that counts as its state and not as a moment between two."""

_STUCK = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CrashLoopBackOff"}
    | {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)
"""Reasons to wait that only a person ends."""


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
    rolling = condition(obj, "UpdateInProgress")
    return rolling is not None and rolling.get("status") == "True"


def _pod_moving(pod: Object, now: datetime) -> bool:
    status = pod.get("status") or {}
    phase = status.get("phase", "Pending")
    if phase != "Pending":
        return phase == "Running" and _unready_start(status)
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        since = instant(scheduled.get("lastTransitionTime"))
        return since is None or now.timestamp() - since < _PATIENCE
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
