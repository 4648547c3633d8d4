"""Any program of a machine is killed: it comes back, it is said, and the learner's work is there."""

from __future__ import annotations

import os
import signal

import pytest

from cluster.spec import GPU
from tests.cluster.conftest import Machine, until
from tests.cluster.test_machine import pod_spec, running

PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "jobset",
    "lws",
    "kueue",
    "coredns",
    "containerd",
    "kubelet",
)


@pytest.fixture(scope="module")
def work(machine: Machine) -> dict[str, str]:
    """Pods of the learner's, one real and one fake: name → uid."""
    for name, fake in (("real-work", False), ("fake-work", True)):
        machine.api.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "team-a", "labels": {"work": "mine"}},
                "spec": pod_spec(fake=fake),
            }
        )
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in running(machine, "work=mine", 2)}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_killed_program_comes_back_and_nothing_is_lost(machine: Machine, work: dict[str, str], program: str) -> None:
    _state, restarts = machine.state_of(program)
    os.kill(machine.host_pid(program), signal.SIGKILL)
    until(lambda: machine.state_of(program) == ("running", restarts + 1), what=f"{program} back")
    assert f"{program}: killed by SIGKILL; restarting" in machine.status.notes
    assert {p["metadata"]["name"]: p["metadata"]["uid"] for p in running(machine, "work=mine", 2)} == work


def test_gpus_come_back_after_a_kubelet_restart(machine: Machine) -> None:
    _state, restarts = machine.state_of("kubelet")
    log = machine.home / "logs" / "kubelet.log"
    registered = log.read_text().count("Successfully registered node")
    os.kill(machine.host_pid("kubelet"), signal.SIGKILL)
    until(lambda: machine.state_of("kubelet") == ("running", restarts + 1))
    # Wait for the restarted kubelet's own word on its node before looking: until then the old status stands.
    until(lambda: log.read_text().count("Successfully registered node") > registered, what="kubelet registered")

    def gpus() -> str:
        node = machine.api.get("v1", "Node", "lab")
        assert node is not None
        return str(node["status"]["allocatable"].get(GPU))

    until(lambda: gpus() == "4")
    machine.api.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "on-gpus", "namespace": "team-a", "labels": {"gpus": "four"}},
            "spec": pod_spec(fake=False, gpus=4),
        }
    )
    (pod,) = running(machine, "gpus=four", 1)
    assert pod["spec"]["nodeName"] == "lab"
    machine.api.delete("v1", "Pod", "on-gpus", "team-a")


def test_gpus_that_are_patched_away_are_put_back_and_it_is_said(machine: Machine) -> None:
    machine.api.merge(
        "v1", "Node", "lab", {"status": {"capacity": {GPU: "0"}, "allocatable": {GPU: "0"}}}, subresource="status"
    )
    until(lambda: (machine.api.get("v1", "Node", "lab") or {})["status"]["allocatable"][GPU] == "4")
    assert any("nvidia.com/gpu of lab set to 4 again" in note for note in machine.status.notes)


def test_fake_pods_start_within_seconds_after_kwok_died(machine: Machine) -> None:
    """Without the leases' removal they would stay Pending for up to 40 s."""
    _state, restarts = machine.state_of("kwok")
    os.kill(machine.host_pid("kwok"), signal.SIGKILL)
    until(lambda: machine.state_of("kwok") == ("running", restarts + 1))
    machine.api.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "after-kwok", "namespace": "team-a", "labels": {"after": "kwok"}},
            "spec": pod_spec(),
        }
    )
    until(lambda: running(machine, "after=kwok", 1), 15)
    machine.api.delete("v1", "Pod", "after-kwok", "team-a")
