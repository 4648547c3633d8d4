"""Why a pod does not run: no node takes it, its image is not there, its container does not start.

Owns these causes and a pod's state in one line; knows nothing of what made the pod.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.matching import quantity
from grader.checks.objects import Object, condition, labels, terminating, title
from grader.checks.words import listed, shorten
from grader.diagnosis.model import Cause, Fault
from grader.diagnosis.quota import ZERO, requests
from grader.diagnosis.room import amount
from grader.diagnosis.scene import Scene, command, is_true, live, name_of, spec, status
from grader.diagnosis.selectors import selects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NO_IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"})
_KEEPS_OFF = ("NoSchedule", "NoExecute")
_BROKEN_NODE = tuple(f"node.kubernetes.io/{what}" for what in ("not-ready", "unreachable", "network-unavailable"))
"""Taints of a node that does not work: ours."""


def trouble(scene: Scene, pods: Iterable[Object]) -> Cause | None:
    """The first well-known cause among pods."""
    waiting = [pod for pod in live(pods) if not terminating(pod)]
    for pod in waiting:
        if cause := _image_missing(scene, pod):
            return cause
    for pod in waiting:
        if unschedulable(pod):
            return _unplaced(scene, pod)
    return None


def unschedulable(pod: Object) -> bool:
    """Whether the scheduler found no node for it."""
    found = condition(pod, "PodScheduled") or {}
    return found.get("status") == "False" and found.get("reason") == "Unschedulable"


def message_of(pod: Object) -> str:
    """What the scheduler says, without what it tried beside."""
    message = str((condition(pod, "PodScheduled") or {}).get("message", ""))
    for more in (" no new claims to deallocate", " preemption:"):
        message = message.partition(more)[0]
    return message.rstrip(" .,")


# -- placing ------------------------------------------------------------------------------------------


def _unplaced(scene: Scene, pod: Object) -> Cause:
    message = message_of(pod)
    nodes = scene.all("Node")
    says = [_("no node takes {pod}: {message}").format(pod=title(pod), message=message)]
    fault = Fault.LEARNER
    unwanted = {name_of(node): _untolerated(pod, node) for node in nodes}
    if "untolerated taint" in message and any(unwanted.values()):
        taints = sorted({taint for taint in unwanted.values() if taint})
        says.append(_("it does not tolerate {taints}").format(taints=listed(taints)))
        if all(taint.startswith(_BROKEN_NODE) for taint in unwanted.values()):
            fault = Fault.ENVIRONMENT
    if "node affinity/selector" in message and (wanted := _wanted_labels(pod, nodes)):
        says.append(_("no node has the labels {labels}").format(labels=listed(wanted)))
    for resource, asked in requests(spec(pod)).items():
        if f"Insufficient {resource}" not in message:
            continue
        usable = [node for node in nodes if not unwanted[name_of(node)] and _selected(pod, node)]
        most = max((_allocatable(node, resource) for node in usable), default=ZERO)
        free = max((_free(scene, node, resource) for node in usable), default=ZERO)
        if asked > most:
            lack = _("it asks for {asked} {resource}, and no node it may use has more than {most}")
        else:
            lack = _("it asks for {asked} {resource}; the most that a node it may use has free is {free} of {most}")
            fault = Fault.NOBODY
        values = {"asked": asked, "most": most, "free": free}
        says.append(lack.format(resource=resource, **{key: amount(value, resource) for key, value in values.items()}))
    return Cause(
        id="unschedulable",
        says="; ".join(says),
        where=(title(pod),),
        look_at=command(pod, "describe"),
        fault=fault,
    )


def _untolerated(pod: Object, node: Object) -> str:
    """The first taint of a node that keeps the pod off, `key=value:effect`; "" for none."""
    for taint in spec(node).get("taints") or []:
        if taint.get("effect") in _KEEPS_OFF and not any(
            tolerates(each, taint) for each in spec(pod).get("tolerations") or []
        ):
            return taint_text(taint)
    return ""


def taint_text(taint: Mapping[str, Any]) -> str:
    """`key=value:effect`, as kubectl writes it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration is for a taint."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("operator") == "Exists":
        return not toleration.get("key") or toleration["key"] == taint.get("key")
    return toleration.get("key") == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")


def _wanted_labels(pod: Object, nodes: list[Object]) -> list[str]:
    """The labels of a nodeSelector that no node has."""
    wanted: Mapping[str, str] = spec(pod).get("nodeSelector") or {}
    return [f"{key}={value}" for key, value in wanted.items() if not any(labels(n).get(key) == value for n in nodes)]


def _selected(pod: Object, node: Object) -> bool:
    """Whether a pod's nodeSelector and required node affinity allow a node."""
    affinity = (spec(pod).get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    wanted = {"matchLabels": spec(pod).get("nodeSelector") or {}}
    return selects(wanted, labels(node)) and (not terms or any(selects(term, labels(node)) for term in terms))


def _allocatable(node: Object, resource: str) -> Decimal:
    return quantity((status(node).get("allocatable") or {}).get(resource)) or ZERO


def _free(scene: Scene, node: Object, resource: str) -> Decimal:
    here = [pod for pod in live(scene.all("Pod")) if spec(pod).get("nodeName") == name_of(node)]
    return _allocatable(node, resource) - sum((requests(spec(pod)).get(resource, ZERO) for pod in here), ZERO)


# -- starting -----------------------------------------------------------------------------------------


def _image_missing(scene: Scene, pod: Object) -> Cause | None:
    for container in _containers(pod):
        reason = str(((container.get("state") or {}).get("waiting") or {}).get("reason", ""))
        if reason in _NO_IMAGE:
            return _no_image(scene, pod, _asked_for(pod, str(container.get("name", ""))))
    return None


def _no_image(scene: Scene, pod: Object, container: Mapping[str, Any]) -> Cause:
    image, place = str(container.get("image", "")), str(spec(pod).get("nodeName", ""))
    there = _images(scene.one("Node", place))
    values = {"node": place, "image": shorten(image), "pod": title(pod)}
    if container.get("imagePullPolicy") == "Always" and _short(image) in there:
        cause = "image-pulled-always"
        says = _(
            "the image {image} of {pod} is on node {node}, but imagePullPolicy: Always (what an image without tag or "
            "with :latest gets) wants it pulled, and a lab can pull none"
        ).format(**values)
    else:
        cause = "image-missing"
        says = _("node {node} has no image {image} for {pod}, and a lab can pull none").format(**values)
        says += _(" (there is {images})").format(images=listed(there)) if there else ""
    return Cause(id=cause, says=says, where=(title(pod),), look_at=command(pod, "describe"))


def _asked_for(pod: Object, name: str) -> Mapping[str, Any]:
    """A container as the pod's spec has it."""
    every = [*(spec(pod).get("initContainers") or []), *(spec(pod).get("containers") or [])]
    return next((container for container in every if container.get("name") == name), {})


def _images(node: Object | None) -> list[str]:
    """The images on a node by their short names."""
    found = status(node).get("images") or [] if node else []
    return sorted({_short(name) for image in found for name in image.get("names") or [] if "@" not in name})


def _short(image: str) -> str:
    """`busybox:stable` for `docker.io/library/busybox:stable`; with the tag that is meant where there is none."""
    name = image.removeprefix("docker.io/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"


def _containers(pod: Object) -> list[dict[str, Any]]:
    return [*(status(pod).get("initContainerStatuses") or []), *(status(pod).get("containerStatuses") or [])]


# -- state --------------------------------------------------------------------------------------------


def pod_state(pod: Object) -> str:
    """How a pod is, in one line."""
    phase = str(status(pod).get("phase", "Pending"))
    place = str(spec(pod).get("nodeName", ""))
    if terminating(pod):
        return _("being deleted ({phase})").format(phase=phase)
    if gates := [str(gate.get("name", "")) for gate in spec(pod).get("schedulingGates") or []]:
        return _("{phase}, held back by the scheduling gates {gates}").format(phase=phase, gates=listed(gates))
    if unschedulable(pod):
        return _("{phase}, no node takes it: {message}").format(phase=phase, message=message_of(pod))
    said = f"{phase}, {place}" if place else phase
    parts = [part for container in _containers(pod) if (part := _container_state(container))]
    if phase == "Running" and not parts and not is_true(condition(pod, "Ready")):
        parts.append(_("not ready"))
    return "; ".join([said, *parts])


def restarts(pod: Object) -> int:
    """How often containers of a pod were started again."""
    return sum(int(container.get("restartCount") or 0) for container in _containers(pod))


def _container_state(container: Mapping[str, Any]) -> str:
    """What is worth telling of a container: a reason to wait, a failure, restarts."""
    state = container.get("state") or {}
    waiting, ended = state.get("waiting") or {}, state.get("terminated") or {}
    name = str(container.get("name", ""))
    parts = []
    if waiting.get("reason"):
        parts.append(str(waiting["reason"]))
    if ended.get("exitCode"):
        parts.append(_("exit code {code}").format(code=ended["exitCode"]))
    if container.get("restartCount"):
        parts.append(_("restarts: {count}").format(count=container["restartCount"]))
    return f"{name}: {', '.join(parts)}" if parts else ""
