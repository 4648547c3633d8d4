"""What articles show, for tests: the objects of their code blocks, and small pods to show the rest with.

Articles are read in English; that the Korean ones have the same code is for lint to hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import yaml

from cluster.errors import ApiRefused
from grader.content.catalogue import ARTICLES, article_names, content_dir
from grader.content.catalogue import load_article as load
from grader.content.code import NOT_INSTALLED, is_complete
from tests.cluster.conftest import Machine, until

Manifest = dict[str, Any]
NAMESPACE = "team-a"
FAKE = {
    "nodeSelector": {"type": "kwok"},
    "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}],
}
IDLE = "trap 'exit 0' TERM; echo listens; tail -f /dev/null & wait"


def objects(*, installed: bool) -> Iterator[tuple[str, Manifest]]:
    """(where it stands, object) of every complete object of every article."""
    for name in article_names(content_dir() / ARTICLES):
        for block in load(name).blocks:
            if is_complete(block) and (NOT_INSTALLED in block.flags) is not installed:
                for number, manifest in enumerate(yaml.safe_load_all(block.text), start=1):
                    yield f"{name}:{block.line}:{number}-{manifest['kind']}", manifest


def shown(article: str, kind: str, name: str) -> Manifest:
    """The object of that name in the article, for the tests' namespace."""
    for block in load(article).blocks:
        for manifest in yaml.safe_load_all(block.text) if is_complete(block) else ():
            if (manifest["kind"], manifest["metadata"]["name"]) == (kind, name):
                return placed(manifest)
    raise LookupError(f"{article} shows no {kind} {name}")


def placed(manifest: Manifest) -> Manifest:
    """A copy in the tests' namespace (objects of no namespace bear it)."""
    copy = deepcopy(manifest)
    copy["metadata"].setdefault("namespace", NAMESPACE)
    return copy


def pod(name: str, script: str = IDLE, **spec: Any) -> Manifest:
    """A pod of one container that runs a shell script; `mounts` are its volumeMounts."""
    mounts = spec.pop("mounts", [])
    container = {
        "name": "c",
        "image": "busybox:stable",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", script],
        "volumeMounts": mounts,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [container], **spec},
    }


def job(name: str, script: str = IDLE, *, pods: Manifest | None = None, **spec: Any) -> Manifest:
    """A Job of one such pod; `pods` is added to the pod's spec."""
    template = {"spec": {**pod("x", script)["spec"], "restartPolicy": "Never", **(pods or {})}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"template": template, **spec},
    }


def only_pod(machine: Machine, selector: str) -> Manifest:
    """The one pod of that selector, as soon as it runs."""

    def running() -> Manifest | None:
        pods = [one for one in machine.pods(selector) if "deletionTimestamp" not in one["metadata"]]
        return pods[0] if [one["status"].get("phase") for one in pods] == ["Running"] else None

    found: Manifest = until(running, what=f"one pod of {selector} Running")
    return found


def of_job(name: str) -> str:
    """The selector of a Job's pods."""
    return f"batch.kubernetes.io/job-name={name}"


def runs(machine: Machine, name: str) -> Manifest:
    """The pod of that name, as soon as it runs."""

    def running() -> Manifest | None:
        found = machine.api.get("v1", "Pod", name, NAMESPACE)
        return found if found is not None and found["status"].get("phase") == "Running" else None

    found: Manifest = until(running, what=f"pod {name} Running")
    return found


def listens(machine: Machine, name: str) -> None:
    """Wait until the shell of a pod has set its trap: a signal before that is lost."""
    until(lambda: "listens" in machine.desk(f"kubectl logs {name}").stdout, what=f"{name} listens")


def evict(machine: Machine, name: str) -> None:
    """Evict a pod by the API that drains use."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": NAMESPACE}}
    machine.api.call("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction", body)


def condition(manifest: Manifest | None, kind: str) -> Manifest:
    """The condition of that type; nothing where there is none."""
    found = ((manifest or {}).get("status") or {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind), {})


def events(machine: Machine, name: str) -> str:
    """What is said of the object of that name, one message a line."""
    found = machine.api.list("v1", "Event", NAMESPACE, fields=f"involvedObject.name={name}")
    return "\n".join(f"{one['reason']}: {one['message']}" for one in found)


def remove(machine: Machine, *manifests: Manifest) -> None:
    """Delete objects, the last first, with all that they made (a Job's pods would else be left behind)."""
    for manifest in reversed(manifests):
        metadata = manifest["metadata"]
        path = machine.api._path(manifest["apiVersion"], manifest["kind"], metadata.get("namespace"), metadata["name"])
        try:
            machine.api.call("DELETE", path, query={"propagationPolicy": "Background"})
        except ApiRefused as refusal:
            if refusal.status != 404:
                raise
