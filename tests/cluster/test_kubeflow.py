"""Kubeflow's add-ons on fake nodes: what their kinds become, what is refused, and a manager that is killed.

Each is tried after a cold start and after a warm one, on machines of their own: not all of them go together.
"""

from __future__ import annotations

import os
import signal
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import local
from cluster.errors import ApiRefused
from cluster.spec import GPU, Manifest
from tests.cluster.conftest import Machine, machine_config, started, until
from tests.cluster.test_machine import KWOK, running

TRAINER = "trainer.kubeflow.org/v1alpha1"
KUEUE = "kueue.x-k8s.io/v1beta2"
ONE_GPU = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}


def machines(folder: Path, binaries: Path, *addons: str) -> Iterator[Machine]:
    """A cold machine, and once that is done with, a warm one of the same recipe."""
    for name in ("cold", "warm"):
        config = machine_config(folder / name, binaries, addons=addons)
        try:
            yield started(config, folder / "snapshots")
        finally:
            local.stop(config.home)


def killed(machine: Machine, program: str) -> None:
    """Until `program`, killed, is back."""
    _state, restarts = machine.state_of(program)
    os.kill(machine.host_pid(program), signal.SIGKILL)
    until(lambda: machine.state_of(program) == ("running", restarts + 1), what=f"{program} back")


def test_trainer(tmp_path: Path, binaries: Path) -> None:
    temperatures = []
    for machine in machines(tmp_path, binaries, "jobset", "kueue", "trainer"):
        temperatures.append({event.task for event in machine.events} >= {"trainer-probe", "trainer-objects"})
        _trains(machine, "first")
        odd = train_job("odd")
        odd["spec"]["trainer"]["env"] = [{"name": "PET_NNODES", "value": "9"}]
        _is_refused(machine, odd, "PET_NNODES")
        _waits_for_quota(machine, train_job, "jobset.sigs.k8s.io/jobset-name", 2)
        killed(machine, "trainer")
        _trains(machine, "second")
    assert temperatures == [True, False]  # the runtimes of the second come out of the snapshot


def test_mpi_operator(tmp_path: Path, binaries: Path) -> None:
    for machine in machines(tmp_path, binaries, "kueue", "mpi-operator"):
        _launches(machine, "first")
        _waits_for_quota(machine, mpi_job, "training.kubeflow.org/job-name", 3)
        began = time.monotonic()
        killed(machine, "mpi-operator")
        _launches(machine, "second")
        # Nobody waits for the lease of the one that was killed, which lasts for 15 s.
        assert time.monotonic() - began < 15


def test_training_operator(tmp_path: Path, binaries: Path) -> None:
    for machine in machines(tmp_path, binaries, "kueue", "training-operator"):
        _masters_and_workers(machine, "first")
        _waits_for_quota(machine, pytorch_job, "training.kubeflow.org/job-name", 3)
        odd = pytorch_job("odd")
        odd["spec"]["pytorchReplicaSpecs"]["Driver"] = odd["spec"]["pytorchReplicaSpecs"].pop("Master")
        _is_refused(machine, odd, "pytorchReplicaSpecs")
        killed(machine, "training-operator")
        _is_refused(machine, odd, "pytorchReplicaSpecs")
        _masters_and_workers(machine, "second")
        # The certificate that the webhooks are trusted by is still the one that was made for it.
        webhooks = machine.api.get(
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "validator.training-operator.kubeflow.org",
        )
        assert webhooks is not None
        bundles = {b64decode(webhook["clientConfig"]["caBundle"]) for webhook in webhooks["webhooks"]}
        assert bundles == {(machine.home / "pki/training-operator/ca.crt").read_bytes()}


def named(name: str, queue: str) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    return {"name": name, "namespace": "team-a", "labels": labels}


def replicas(container: str, count: int = 1) -> dict[str, Any]:
    one = {"name": container, "image": "busybox:stable", "resources": ONE_GPU}
    return {
        "replicas": count,
        "restartPolicy": "Never",
        "template": {"spec": {**KWOK, "containers": [one]}},
    }


def mpi_job(name: str, *, queue: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": named(name, queue),
        "spec": {"mpiReplicaSpecs": {"Launcher": replicas("mpi"), "Worker": replicas("mpi", 2)}},
    }


def pytorch_job(name: str, *, queue: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": named(name, queue),
        "spec": {"pytorchReplicaSpecs": {"Master": replicas("pytorch"), "Worker": replicas("pytorch", 2)}},
    }


def _condition(machine: Machine, api_version: str, kind: str, name: str, wanted: str) -> bool:
    found = machine.api.get(api_version, kind, name, "team-a") or {}
    conditions = found.get("status", {}).get("conditions") or []
    return any(each["type"] == wanted and each["status"] == "True" for each in conditions)


def _masters_and_workers(machine: Machine, name: str) -> None:
    machine.api.create(pytorch_job(name))
    pods = running(machine, f"training.kubeflow.org/job-name={name}", 3)
    assert {pod["metadata"]["name"] for pod in pods} == {f"{name}-master-0", f"{name}-worker-0", f"{name}-worker-1"}
    until(lambda: _condition(machine, "kubeflow.org/v1", "PyTorchJob", name, "Running"), what=f"{name} Running")
    machine.api.delete("kubeflow.org/v1", "PyTorchJob", name, "team-a")
    until(lambda: machine.pods() == [], what="no pod is left")


def _launches(machine: Machine, name: str) -> None:
    api_version = "kubeflow.org/v2beta1"
    machine.api.create(mpi_job(name))
    pods = running(machine, f"training.kubeflow.org/job-name={name}", 3)
    owners = {pod["metadata"]["ownerReferences"][0]["kind"] for pod in pods}
    assert owners == {"Job", "MPIJob"}
    assert {f"{name}-worker-0", f"{name}-worker-1"} <= {pod["metadata"]["name"] for pod in pods}
    until(lambda: _condition(machine, api_version, "MPIJob", name, "Running"), what=f"{name} Running")
    machine.api.delete(api_version, "MPIJob", name, "team-a")
    until(lambda: machine.pods() == [], what="no pod is left")


def train_job(name: str, *, queue: str = "") -> dict[str, Any]:
    patch = {
        "manager": "lab.test/fake-nodes",
        "trainingRuntimeSpec": {
            "template": {
                "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": KWOK}}}}]}
            }
        },
    }
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": named(name, queue),
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "trainer": {"numNodes": 2, "resourcesPerNode": ONE_GPU},
            "runtimePatches": [patch],
        },
    }


def _trains(machine: Machine, name: str) -> None:
    api = machine.api
    api.create(train_job(name))
    pods = running(machine, f"jobset.sigs.k8s.io/jobset-name={name}", 2)
    assert {pod["spec"]["nodeName"] for pod in pods} <= {"gpu-a", "gpu-b"}
    variables = {one["name"]: one.get("value") for one in pods[0]["spec"]["containers"][0]["env"]}
    assert variables["PET_NNODES"] == "2"
    jobset = api.get("jobset.x-k8s.io/v1alpha2", "JobSet", name, "team-a")
    assert jobset is not None
    assert [owner["kind"] for owner in jobset["metadata"]["ownerReferences"]] == ["TrainJob"]
    api.delete(TRAINER, "TrainJob", name, "team-a")
    until(lambda: not machine.pods(f"jobset.sigs.k8s.io/jobset-name={name}"), what=f"no pod of {name}")


def _is_refused(machine: Machine, manifest: dict[str, Any], words: str) -> None:
    """By what the webhook says; just after its manager is back there is a moment in which it does not serve yet."""

    def refusal() -> str:
        with pytest.raises(ApiRefused) as refused:
            machine.api.create(manifest)
        return "" if "failed calling webhook" in refused.value.message else refused.value.message

    assert words in until(refusal, what=f"{words} is refused")


def _waits_for_quota(machine: Machine, make: Callable[..., Manifest], label: str, pods: int) -> None:
    """Kueue lets a job of `pods` pods in that fits, and holds one back that does not."""
    api = machine.api
    flavor = {"name": "gpu", "resources": [{"name": GPU, "nominalQuota": pods}]}
    groups = [{"coveredResources": [GPU], "flavors": [flavor]}]
    api.apply({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "gpu"}})
    api.apply(
        {
            "apiVersion": KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": "q"},
            "spec": {"namespaceSelector": {}, "resourceGroups": groups},
        }
    )
    queue = {"name": "q", "namespace": "team-a"}
    api.apply({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": queue, "spec": {"clusterQueue": "q"}})
    api.create(make("fits", queue="q"))
    running(machine, f"{label}=fits", pods)
    waiting = api.create(make("waits", queue="q"))

    def pending() -> bool:
        for workload in api.list(KUEUE, "Workload", "team-a"):
            if workload["metadata"]["ownerReferences"][0]["name"] == "waits":
                conditions = workload.get("status", {}).get("conditions") or []
                return {"type": "QuotaReserved", "status": "False"}.items() <= {
                    item for each in conditions for item in each.items() if each["type"] == "QuotaReserved"
                }
        return False

    until(pending, what="waits is held back")
    assert machine.pods(f"{label}=waits") == []
    for name in ("waits", "fits"):
        api.delete(waiting["apiVersion"], waiting["kind"], name, "team-a")
    until(lambda: machine.pods() == [], what="no pod is left")
