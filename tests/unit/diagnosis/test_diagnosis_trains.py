"""What Kubeflow's kinds become: a diagnosis follows them down to their pods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.checks.objects import Object
from tests.unit.diagnosis.conftest import Recorded

TRAINER, JOBSET = "trainer.kubeflow.org/v1alpha1", "jobset.x-k8s.io/v1alpha2"
PENDING = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
        }
    ],
}


def obj(api_version: str, kind: str, name: str, owner: Object | None = None, **more: Any) -> Object:
    meta: dict[str, Any] = {"name": name, "namespace": "team-a", "uid": f"{kind}-{name}"}
    if owner is not None:
        ref = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True}
        meta["ownerReferences"] = [ref | {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": {}, "status": {}, **more}


def train() -> list[Object]:
    trainjob = obj(TRAINER, "TrainJob", "tune")
    roles = [{"name": "node", "active": 1, "ready": 0}]
    jobset = obj(JOBSET, "JobSet", "tune", trainjob, status={"replicatedJobsStatus": roles})
    job = obj("batch/v1", "Job", "tune-node-0", jobset, spec={"parallelism": 1, "completions": 1})
    return [trainjob, jobset, job, obj("v1", "Pod", "tune-node-0-0", job, status=PENDING)]


def mpi() -> list[Object]:
    mpijob = obj("kubeflow.org/v2beta1", "MPIJob", "sum")
    job = obj("batch/v1", "Job", "sum-launcher", mpijob, spec={"parallelism": 1, "completions": 1})
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    launcher = obj("v1", "Pod", "sum-launcher-x", job, status=running)
    return [mpijob, job, launcher, obj("v1", "Pod", "sum-worker-0", mpijob, status=PENDING)]


def torch() -> list[Object]:
    pytorchjob = obj("kubeflow.org/v1", "PyTorchJob", "sgd")
    return [pytorchjob, obj("v1", "Pod", "sgd-worker-0", pytorchjob, status=PENDING)]


@pytest.mark.parametrize(
    ("made", "target", "pod"),
    [
        (train, "trainjob/tune", "tune-node-0-0"),
        (mpi, "mpijob/sum", "sum-worker-0"),
        (torch, "pytorchjob/sgd", "sgd-worker-0"),
    ],
    ids=["TrainJob", "MPIJob", "PyTorchJob"],
)
def test_a_pod_without_room_is_found_from_the_top(tmp_path: Path, made: Any, target: str, pod: str) -> None:
    told = Recorded(made(), tmp_path).why(target, "team-a")
    assert f"Pod team-a/{pod}" in {link.object for link in told.chain}
    assert not told.healthy


def test_a_trainjob_that_runs_is_told_by_its_jobset(tmp_path: Path) -> None:
    told = Recorded(train(), tmp_path).why("trainjob/tune", "team-a")
    assert told.state == "node: 1 active; restarts: 0"


def test_a_trainjob_beside_a_queue_names_none(tmp_path: Path) -> None:
    objects = [*train()[:1], obj("kueue.x-k8s.io/v1beta2", "LocalQueue", "q")]
    told = Recorded(objects, tmp_path).why("trainjob/tune", "team-a")
    assert told.cause is not None
    assert told.cause.id == "no-queue-label"
