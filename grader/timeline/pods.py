"""What a version of a pod says: its phase, and in sentences what is new against the version before.

Owns that reading; knows nothing of rows or of drawing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.objects import condition, meta, terminating
from grader.timeline.model import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.objects import Object

_ENDED = {"Succeeded": Phase.SUCCEEDED, "Failed": Phase.FAILED}
_ORDINARY = frozenset({"ContainerCreating", "PodInitializing"})
"""Reasons of a waiting container that say nothing."""

Told = tuple[str, bool]
"""A sentence, and whether it is bad news."""


def phase_of(pod: Object) -> Phase:
    """The phase of a pod as people read it off `kubectl get pods`."""
    phase = _status(pod).get("phase", "Pending")
    if terminating(pod):
        return Phase.TERMINATING
    if phase in _ENDED:
        return _ENDED[phase]
    if phase == "Running":
        return Phase.RUNNING
    if phase == "Unknown":
        return Phase.UNKNOWN
    return Phase.CREATING if (pod.get("spec") or {}).get("nodeName") else Phase.PENDING


def restarts(pod: Object) -> int:
    """How often containers of it were started again."""
    return sum(int(each.get("restartCount") or 0) for each in _containers(pod))


def news(before: Object | None, after: Object) -> Iterator[Told]:
    """What is new in `after`, in the order it must have happened. `before` is None for a pod not seen until now."""
    if before is None:
        yield _("created"), False
    node = (after.get("spec") or {}).get("nodeName")
    if node and (before is None or not (before.get("spec") or {}).get("nodeName")):
        yield _("placed on node {node}").format(node=node), False
    yield from _placing(before, after)
    old = {str(each.get("name")): each for each in _containers(before or {})}
    for each in _containers(after):
        yield from _container(old.get(str(each.get("name")), {}), each)
    then, now = _status(before or {}).get("phase", "Pending"), _status(after).get("phase", "Pending")
    if now != then:
        told = _("phase {before} → {after}").format(before=then, after=now)
        said = _reason(_status(after))
        yield (f"{told}: {said}" if said else told), now in ("Failed", "Unknown")
    yield from _readiness(before, after)
    if terminating(after) and not (before and terminating(before)):
        grace = meta(after).get("deletionGracePeriodSeconds")
        told = _("its deletion began; it has {seconds} s to end") if grace else _("its deletion began")
        yield told.format(seconds=grace), False


def _placing(before: Object | None, after: Object) -> Iterator[Told]:
    scheduled = condition(after, "PodScheduled") or {}
    if scheduled.get("status") != "False":
        return
    said = _reason(scheduled)
    if before is None or _reason(condition(before, "PodScheduled") or {}) != said:
        yield _("on no node: {reason}").format(reason=said), True


def _container(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Told]:
    name = new.get("name", "")
    was, now = old.get("state") or {}, new.get("state") or {}
    again = int(new.get("restartCount") or 0) - int(old.get("restartCount") or 0)
    end = now.get("terminated") or (new.get("lastState") or {}).get("terminated")
    seen = was.get("terminated")
    if end and (now.get("terminated") or again > 0) and not seen:
        told = _("container {name} ended with exit code {code}").format(name=name, code=end.get("exitCode"))
        said = _reason(end)
        yield (f"{told} ({said})" if said else told), bool(end.get("exitCode"))
    if again > 0:
        told = _("container {name} was started again (restart {count})")
        yield told.format(name=name, count=new.get("restartCount")), True
    elif now.get("running") and not was.get("running"):
        yield _("container {name} runs").format(name=name), False
    waiting, waited = now.get("waiting") or {}, was.get("waiting") or {}
    reason = waiting.get("reason")
    if reason and reason not in _ORDINARY and reason != waited.get("reason"):
        told = _("container {name} waits: {reason}")
        yield told.format(name=name, reason=_reason(waiting)), True


def _readiness(before: Object | None, after: Object) -> Iterator[Told]:
    was = (condition(before or {}, "Ready") or {}).get("status") == "True"
    now = (condition(after, "Ready") or {}).get("status") == "True"
    if now and not was:
        yield _("ready"), False
    elif was and not now and not terminating(after):
        yield _("no longer ready"), _status(after).get("phase") != "Succeeded"


def _reason(said: dict[str, Any]) -> str:
    """`reason: message` of a condition or state, as far as it has them."""
    return ": ".join(str(part) for part in (said.get("reason"), said.get("message")) if part)


def _status(pod: Object) -> dict[str, Any]:
    found = pod.get("status")
    return found if isinstance(found, dict) else {}


def _containers(pod: Object) -> list[dict[str, Any]]:
    status = _status(pod)
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
