"""Kubernetes objects as checks speak of them: known kinds, dotted paths into an object, names for people.

Owns the table of lab kinds and the path syntax `metadata.labels["a.b/c"]`; reads nothing from anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterable

Object = dict[str, Any]
"""One Kubernetes object as JSON has it."""

ABSENT: Any = object()
"""What `dig` gives where there is nothing."""

_KUEUE = "kueue.x-k8s.io/v1beta2"

NAMESPACED = {
    "Pod": "v1",
    "Event": "v1",
    "Service": "v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "PersistentVolumeClaim": "v1",
    "ResourceQuota": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "StatefulSet": "apps/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "LocalQueue": _KUEUE,
    "Workload": _KUEUE,
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"), "kubeflow.org/v1"),
    "MPIJob": "kubeflow.org/v2beta1",
    "TrainingRuntime": "trainer.kubeflow.org/v1alpha1",
}
CLUSTER_WIDE = {
    "Node": "v1",
    "Namespace": "v1",
    "PersistentVolume": "v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "ClusterQueue": _KUEUE,
    "ResourceFlavor": _KUEUE,
    "Cohort": _KUEUE,
    "WorkloadPriorityClass": _KUEUE,
    "Topology": _KUEUE,
    "AdmissionCheck": _KUEUE,
    "ClusterTrainingRuntime": "trainer.kubeflow.org/v1alpha1",
}
KINDS = {**NAMESPACED, **CLUSTER_WIDE}
"""apiVersion of every kind a lab may name without saying it."""

SHORT = {"PVC": "PersistentVolumeClaim", "LWS": "LeaderWorkerSet"}
"""Short names people write; `ObjectRef` takes them too."""


@dataclass(frozen=True, slots=True)
class DottedPath:
    """`status.conditions["Ready"].status` in pieces; int pieces index lists, words pick maps' keys."""

    text: str
    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        return self.text


def parse_path(text: str) -> DottedPath:
    """The path `text` spells; ValueError says what is wrong with it."""
    parts: list[str | int] = []
    rest = "." + text.strip()
    while rest:
        if parts and rest.startswith("["):
            part, rest = _bracket(rest, text)
            parts.append(part)
            continue
        word = rest[1:]  # without its dot
        end = min((word.find(stop) for stop in ".[" if stop in word), default=len(word))
        if not rest.startswith(".") or end == 0:
            raise ValueError(_('{path} is not a path like metadata.labels["a/b"]').format(path=repr(text)))
        parts.append(word[:end])
        rest = word[end:]
    return DottedPath(text.strip(), tuple(parts))


def _bracket(rest: str, whole: str) -> tuple[str | int, str]:
    quote = rest[1:2]
    if quote in ('"', "'"):
        end = rest.find(quote + "]", 2)
        if end > 0:
            return rest[2:end], rest[end + 2 :]
    elif (end := rest.find("]")) > 0 and rest[1:end].isdecimal():
        return int(rest[1:end]), rest[end + 1 :]
    raise ValueError(_('{path}: a bracket holds "a quoted key" or a number').format(path=whole))


def dig(obj: Any, path: DottedPath) -> Any:  # JSON: any value may be there
    """The value at `path`, or ABSENT. A word picks from a list of maps by `name`, `type` or `key`."""
    value = obj
    for part in path.parts:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part, ABSENT)
        elif isinstance(value, list):
            value = _element(value, part)
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return ABSENT if value is None else value


LIST_KEYS = ("name", "type", "key")
"""What tells the elements of a list of maps apart, in this order."""


def _element(values: list[Any], part: str | int) -> Any:  # JSON
    if isinstance(part, int):
        return values[part] if part < len(values) else ABSENT
    for value in values:
        if isinstance(value, dict) and any(value.get(key) == part for key in LIST_KEYS):
            return value
    return ABSENT


def meta(obj: Object) -> dict[str, Any]:
    """metadata, empty where there is none."""
    found = obj.get("metadata")
    return found if isinstance(found, dict) else {}


def uid(obj: Object) -> str:
    """metadata.uid: an object's identity; names are reused."""
    return str(meta(obj).get("uid", ""))


def labels(obj: Object) -> dict[str, str]:
    """metadata.labels, empty where there are none."""
    return meta(obj).get("labels") or {}


def terminating(obj: Object) -> bool:
    """Whether its deletion was asked for."""
    return bool(meta(obj).get("deletionTimestamp"))


def owned_by(obj: Object, kind: str, name: str) -> bool:
    """Whether one of its ownerReferences is that object."""
    owners = meta(obj).get("ownerReferences") or []
    return any(owner.get("kind") == kind and owner.get("name") == name for owner in owners)


def the_one(objects: Iterable[Object]) -> Object | None:
    """The object that is meant where one is: the youngest of those nobody has asked to delete, else the youngest."""
    by_age = sorted(objects, key=lambda obj: str(meta(obj).get("creationTimestamp", "")))
    standing = [obj for obj in by_age if not terminating(obj)]
    return next(reversed(standing or by_age), None)


def title(obj: Object) -> str:
    """`Pod infer/llm-0`, `Node gpu-a`."""
    return titled(str(obj.get("kind", "")), str(meta(obj).get("namespace") or ""), str(meta(obj).get("name", "")))


def titled(kind: str, namespace: str, name: str) -> str:
    """The same from its parts."""
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def condition(obj: Object, kind: str) -> dict[str, Any] | None:
    """status.conditions' element of that type."""
    status = obj.get("status")
    for found in (status.get("conditions") or []) if isinstance(status, dict) else []:
        if isinstance(found, dict) and found.get("type") == kind:
            return found
    return None
