"""The set `llm` of lab-lws played as the controllers play it, and small helpers for looking at it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader.checks import CheckSource
from grader.checks.base import Check
from grader.checks.objects import Object
from grader.checks.recorded import Trace
from grader.checks.world import Executor
from grader.results import Verdict

LWS = "leaderworkerset.sigs.k8s.io"
NAMESPACE = "infer"


def check(text: str) -> Check:
    """A check from its YAML, the envelope filled in where it is left out."""
    raw = yaml.safe_load(text)
    return CheckSource.model_validate({"id": "a-check", "says": "it is so", **raw}).check()


class Llm:
    """Two groups of two pods, their leader-worker set, and what happens to them."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.pods: dict[str, Object] = {}
        self.set: Object = {}
        self.version = "v1"
        self.worker_version = "v1"
        self.node = "lab"

    # -- as the learner does ------------------------------------------------------------------------

    def apply(self, groups: int = 2) -> None:
        """`kubectl apply` of a new set, until all its pods run."""
        self.create_set(groups)
        for group in range(groups):
            self.create(group, 0)
        for group in range(groups):
            self.create(group, 1)
        self.run_all()

    def create_set(self, groups: int = 2) -> None:
        """The set alone."""
        self.trace.wait(1)
        self.set = self.trace.put(
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "metadata": {"name": "llm", "namespace": NAMESPACE, "generation": 1},
                "spec": {
                    "replicas": groups,
                    "leaderWorkerTemplate": {"size": 2, "restartPolicy": "RecreateGroupOnPodRestart"},
                },
                "status": {"replicas": groups},
            }
        )

    def delete_set(self) -> None:
        """`kubectl delete`, until its pods are gone."""
        self.trace.remove(self.set)
        names = list(self.pods)
        for name in names:
            self.doom(name)
        self.trace.wait(1)
        for name in names:
            self.gone(name)

    def fail(self, name: str = "llm-0-1") -> None:
        """`touch /tmp/fail`: the container ends with 1 and is restarted in place."""
        self.trace.wait(0.5)
        self.contain(name, state={"terminated": {"exitCode": 1, "reason": "Error"}})
        self.trace.wait(0.5)
        self.contain(
            name,
            restartCount=1,
            state={"running": {}},
            lastState={"terminated": {"exitCode": 1, "reason": "Error"}},
        )

    # -- as the controllers do ----------------------------------------------------------------------

    def recreate(self, group: int = 0) -> None:
        """LWS deletes the leader in the foreground; the worker is remade twice; both run again."""
        self.recreate_begin(group)
        self.recreate_end(group)

    def recreate_begin(self, group: int = 0) -> None:
        """Until the old pods are gone and the worker was remade once by the StatefulSet that goes too."""
        leader, worker = f"llm-{group}", f"llm-{group}-1"
        self.doom(leader)
        self.doom(worker)
        self.trace.wait(1)
        self.terminated(worker)
        self.gone(worker)
        self.create(group, 1)
        self.doom(worker)
        self.gone(worker)
        self.terminated(leader)
        self.gone(leader)

    def recreate_end(self, group: int = 0) -> None:
        """The new leader, its worker, both running."""
        self.create(group, 0)
        self.run(f"llm-{group}")
        self.create(group, 1)
        self.trace.wait(1)
        self.run(f"llm-{group}-1")

    def roll(self, *groups: int) -> None:
        """A rolling update in LWS 0.8: the next leader goes before the last worker runs."""
        for group in groups or (1, 0):
            leader, worker = f"llm-{group}", f"llm-{group}-1"
            self.doom(leader)
            self.trace.wait(1)
            self.gone(leader)
            self.create(group, 0)
            self.doom(worker)
            self.gone(worker)
            self.create(group, 1)
            self.run(leader)
        self.trace.wait(1)
        self.run_all()

    def create(self, group: int, worker: int) -> None:
        """A pod of the current version, Pending."""
        name = f"llm-{group}" + (f"-{worker}" if worker else "")
        version = self.worker_version if worker else self.version
        env = [
            {"name": "LWS_LEADER_ADDRESS", "value": f"llm-{group}.llm.{NAMESPACE}"},
            {"name": "LWS_GROUP_SIZE", "value": "2"},
            {
                "name": "LWS_WORKER_INDEX",
                "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{LWS}/worker-index']"}},
            },
            {"name": "VERSION", "value": version},
        ]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "labels": {
                    f"{LWS}/name": "llm",
                    f"{LWS}/group-index": str(group),
                    f"{LWS}/worker-index": str(worker),
                    f"{LWS}/template-revision-hash": f"hash-{self.version}-{self.worker_version}",
                },
            },
            "spec": {
                "nodeName": self.node,
                "containers": [
                    {
                        "name": "engine",
                        "env": env,
                        "resources": {
                            "limits": {"nvidia.com/gpu": "1"},
                            "requests": {"nvidia.com/gpu": "1"},
                        },
                    }
                ],
            },
            "status": {"phase": "Pending"},
        }
        self.pods[name] = self.trace.put(pod)

    def run(self, name: str) -> None:
        """A pod's container starts."""
        number = len(self.trace.history.recorded)
        self.change(
            name,
            status={
                "phase": "Running",
                "podIP": f"10.88.0.{number}",
                "conditions": [
                    {"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": "True"},
                ],
                "containerStatuses": [{"name": "engine", "restartCount": 0, "state": {"running": {}}}],
            },
        )

    def run_all(self) -> None:
        """Every pod that does not run yet starts."""
        for name, pod in list(self.pods.items()):
            if pod["status"]["phase"] == "Pending":
                self.run(name)

    def doom(self, name: str) -> None:
        """A pod's deletion begins."""
        self.change(name, metadata={"deletionTimestamp": "2025-11-30T10:53:20Z"})

    def terminated(self, name: str) -> None:
        """The container of a pod that is being deleted ends, as it does, with an error."""
        self.contain(name, state={"terminated": {"exitCode": 137, "reason": "Error"}})

    def gone(self, name: str) -> None:
        """A pod's deletion ends."""
        self.trace.remove(self.pods.pop(name))

    def change(self, name: str, **parts: dict[str, Any]) -> None:
        """Parts of a pod are replaced key by key."""
        pod = copy.deepcopy(self.pods[name])
        for part, values in parts.items():
            pod[part].update(values)
        self.pods[name] = self.trace.put(pod)

    def contain(self, name: str, **values: Any) -> None:
        """A pod's container status changes."""
        statuses = copy.deepcopy(self.pods[name]["status"]["containerStatuses"])
        statuses[0].update(values)
        self.change(name, status={"containerStatuses": statuses})

    def uid(self, name: str) -> str:
        """A pod's UID."""
        return str(self.pods[name]["metadata"]["uid"])


@pytest.fixture
def trace() -> Trace:
    """An empty cluster."""
    return Trace()


@pytest.fixture
def llm(trace: Trace) -> Llm:
    """The set before it was applied."""
    return Llm(trace)


Look = Callable[..., Verdict]


@pytest.fixture
def look(trace: Trace, tmp_path: Path) -> Look:
    """Evaluate a check given as YAML, once, now; other checks of the lab by id."""

    def evaluate(
        text: str, *, executor: Executor | None = None, lab_folder: Path | None = None, **others: str
    ) -> Verdict:
        checks = {name.replace("_", "-"): check(other) for name, other in others.items()}
        world = trace.world(tmp_path, namespace=NAMESPACE, checks=checks, executor=executor, lab_folder=lab_folder)
        return check(text).kind.evaluate(world)

    return evaluate


Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, trace: Trace) -> Write:
    """A learner's file, written at the trace's time."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        os.utime(path, (trace.now, trace.now))
        return path

    return written
