"""Pods and nodes as lines of the board.

Owns how a pod's state is called and how bad it is, and which GPUs are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cluster.spec import GPU
from grader.board.model import Level, NodeLine, PodLine, Ref
from grader.checks.objects import condition, labels, meta, terminating
from grader.checks.settling import instant
from grader.diagnosis.quota import requests
from grader.diagnosis.scene import is_true, name_of, namespace_of, spec, status
from grader.timeline.owners import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.checks.objects import Object
    from grader.timeline.owners import Owner

_MOVING = frozenset({"ContainerCreating", "PodInitializing"})
_OVER = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A pod as the board's lines need it."""

    line: PodLine
    owner: Owner
    over: bool
    """It has ended and holds nothing any more."""
    ready: bool
    """It serves."""
    ending: bool

    @property
    def gpus(self) -> int:
        """The GPUs it has."""
        return 0 if self.over or not self.line.node else self.line.gpus


def see_pod(pod: Object) -> SeenPod:
    """What the board needs of a pod."""
    over, ending = status(pod).get("phase") in _OVER, terminating(pod)
    ready = is_true(condition(pod, "Ready")) and not ending and not over
    return SeenPod(pod_line(pod), place_of(pod).owner, over, ready, ending)


def pod_line(pod: Object) -> PodLine:
    """How a pod is."""
    containers = status(pod).get("containerStatuses") or []
    wanted = len(spec(pod).get("containers") or containers)
    state, level = _state(pod, containers)
    return PodLine(
        ref=Ref("Pod", namespace_of(pod), name_of(pod)),
        state=state,
        ready=f"{sum(bool(each.get('ready')) for each in containers)}/{wanted}",
        restarts=sum(int(each.get("restartCount") or 0) for each in containers),
        node=str(spec(pod).get("nodeName") or ""),
        gpus=int(requests(spec(pod)).get(GPU, 0)),
        born=instant(meta(pod).get("creationTimestamp")) or 0.0,
        level=level,
    )


def _state(pod: Object, containers: list[Mapping[str, Any]]) -> tuple[str, Level]:
    """As kubectl's column STATUS says it, and how bad that is."""
    phase = str(status(pod).get("phase") or "Pending")
    if terminating(pod):
        return "Terminating", Level.MOVING
    if phase == "Succeeded":
        return "Completed", Level.OK
    if phase == "Failed":
        return str(status(pod).get("reason") or "Error"), Level.BAD
    for each in [*(status(pod).get("initContainerStatuses") or []), *containers]:
        reason = ((each.get("state") or {}).get("waiting") or {}).get("reason")
        if reason and reason not in _MOVING:
            return str(reason), Level.BAD
    if phase == "Running":
        return ("Running", Level.OK) if is_true(condition(pod, "Ready")) else ("NotReady", Level.MOVING)
    if phase == "Unknown":
        return "Unknown", Level.BAD
    scheduled = condition(pod, "PodScheduled") or {}
    if scheduled.get("status") == "False":
        return str(scheduled.get("reason") or "Pending"), Level.WAITING
    return ("ContainerCreating" if spec(pod).get("nodeName") else "Pending"), Level.MOVING


# -- nodes --------------------------------------------------------------------------------------------


def node_lines(nodes: Iterable[Object], pods: Iterable[SeenPod]) -> list[NodeLine]:
    """The nodes, real ones first, then by name."""
    held: dict[str, list[SeenPod]] = {}
    for pod in pods:
        if not pod.over and pod.line.node:
            held.setdefault(pod.line.node, []).append(pod)
    found = [_node_line(node, held.get(name_of(node), [])) for node in nodes]
    return sorted(found, key=lambda line: (line.fake, line.ref.name))


def _node_line(node: Object, pods: list[SeenPod]) -> NodeLine:
    ready = is_true(condition(node, "Ready"))
    cordoned = bool(spec(node).get("unschedulable"))
    state = "NotReady" if not ready else "Cordoned" if cordoned else "Ready"
    return NodeLine(
        ref=Ref("Node", "", name_of(node)),
        used=sum(pod.gpus for pod in pods),
        ending=sum(pod.gpus for pod in pods if pod.ending),
        gpus=int((status(node).get("allocatable") or {}).get(GPU, 0)),
        pods=len(pods),
        state=state,
        fake=labels(node).get("type") == "kwok",
        level=Level.BAD if not ready else Level.WAITING if cordoned else Level.OK,
    )
