"""A machine with everything: what a lab can count on when it is READY."""

from __future__ import annotations

import json
import os
from base64 import b64decode
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.errors import ApiRefused
from cluster.spec import GPU
from tests.cluster.conftest import Machine, until

KWOK = {
    "nodeSelector": {"type": "kwok"},
    "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
}


def pod_spec(*, fake: bool = True, gpus: int = 0, **more: Any) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "c",
        "image": "busybox:stable",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", "trap exit TERM; while :; do sleep 0.2; done"],
    }
    if gpus:
        container["resources"] = {"limits": {GPU: gpus}}
    return {"terminationGracePeriodSeconds": 1, "containers": [container], **(KWOK if fake else {}), **more}


def running(machine: Machine, selector: str, count: int) -> list[dict[str, Any]]:
    def enough() -> list[dict[str, Any]]:
        pods = machine.pods(selector)
        return pods if [p["status"].get("phase") for p in pods] == ["Running"] * count else []

    found: list[dict[str, Any]] = until(enough, what=f"{count} pods of {selector} Running")
    return found


def test_every_task_said_that_it_is_ready(machine: Machine) -> None:
    started = {event.task for event in machine.events if event.state == "started"}
    ready = {event.task for event in machine.events if event.state == "ready"}
    assert ready == started | {"READY"}
    assert {"lws-probe", "kueue-probe", "jobset-probe", "real-node", "fake-nodes"} <= ready


def test_nodes_are_ready_with_their_gpus(machine: Machine) -> None:
    nodes = {node["metadata"]["name"]: node["status"] for node in machine.api.list("v1", "Node")}
    assert set(nodes) == {"lab", "gpu-a", "gpu-b"}
    for status in nodes.values():
        assert status["allocatable"][GPU] == "4"
        assert {"type": "Ready", "status": "True"}.items() <= next(
            c for c in status["conditions"] if c["type"] == "Ready"
        ).items()
    assert nodes["lab"]["nodeInfo"]["kubeletVersion"] == "v1.35.4"


def test_a_pod_runs_on_the_real_node_and_finds_a_service_by_name(machine: Machine) -> None:
    api = machine.api
    labels = {"app": "named"}
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "named", "namespace": "team-a"},
            "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 80}]},
        }
    )
    spec = pod_spec(fake=False, hostname="one", subdomain="named")
    api.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "one", "namespace": "team-a", "labels": labels},
            "spec": spec,
        }
    )
    (pod,) = running(machine, "app=named", 1)
    assert pod["spec"]["nodeName"] == "lab"
    name = "one.named.team-a.svc.cluster.local"
    assert machine.desk("kubectl exec one -- hostname -f").stdout.strip() == name
    until(lambda: pod["status"]["podIP"] in machine.desk(f"kubectl exec one -- nslookup {name}").stdout)
    api.delete("v1", "Pod", "one", "team-a")


def test_jobset_makes_its_jobs_and_pods(machine: Machine) -> None:
    template = {
        "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {**pod_spec(), "restartPolicy": "Never"}}}
    }
    machine.api.apply(
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "train", "namespace": "team-a"},
            "spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": template}]},
        }
    )
    pods = running(machine, "jobset.sigs.k8s.io/jobset-name=train", 2)
    assert {pod["spec"]["nodeName"] for pod in pods} <= {"gpu-a", "gpu-b"}
    machine.api.delete("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "team-a")


def test_lws_pods_carry_their_place_in_the_group(machine: Machine) -> None:
    template = {"spec": pod_spec()}
    machine.api.apply(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "eng", "namespace": "team-a"},
            "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
        }
    )
    prefix = "leaderworkerset.sigs.k8s.io"
    pods = running(machine, f"{prefix}/name=eng", 4)
    places = {p["metadata"]["name"]: p["metadata"]["labels"][f"{prefix}/worker-index"] for p in pods}
    assert places == {"eng-0": "0", "eng-0-1": "1", "eng-1": "0", "eng-1-1": "1"}
    machine.api.delete("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "eng", "team-a")


def test_kueue_admits_what_fits_and_shows_what_waits(machine: Machine) -> None:
    api, kueue = machine.api, "kueue.x-k8s.io/v1beta2"
    flavor = {"name": "gpu", "resources": [{"name": GPU, "nominalQuota": 2}]}
    api.apply({"apiVersion": kueue, "kind": "ResourceFlavor", "metadata": {"name": "gpu"}})
    api.apply(
        {
            "apiVersion": kueue,
            "kind": "ClusterQueue",
            "metadata": {"name": "q"},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": [GPU], "flavors": [flavor]}],
            },
        }
    )
    api.apply(
        {
            "apiVersion": kueue,
            "kind": "LocalQueue",
            "metadata": {"name": "q", "namespace": "team-a"},
            "spec": {"clusterQueue": "q"},
        }
    )
    for name, gpus in (("fits", 2), ("waits", 1)):
        spec = pod_spec(gpus=gpus)
        spec["containers"][0]["resources"]["requests"] = {GPU: gpus}
        api.apply(
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": name, "namespace": "team-a", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
                "spec": {"template": {"spec": {**spec, "restartPolicy": "Never"}}},
            }
        )
        if name == "fits":
            running(machine, "batch.kubernetes.io/job-name=fits", 1)

    def pending() -> list[str]:
        path = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/q/pendingworkloads"
        return [item["metadata"]["name"] for item in api.call("GET", path)["items"]]

    assert until(pending)[0].startswith("job-waits-")
    assert machine.pods("batch.kubernetes.io/job-name=waits") == []


@pytest.mark.parametrize(
    ("annotation", "restart_policy", "phase"),
    [
        ({"batchlab/fail": "42"}, "Never", "Failed"),
        ({"batchlab/complete": "true"}, "Never", "Succeeded"),
        ({"batchlab/run-for": "300ms"}, "OnFailure", "Succeeded"),
    ],
)
def test_fake_pods_end_on_purpose(
    machine: Machine, annotation: dict[str, str], restart_policy: str, phase: str
) -> None:
    name = f"ends-{phase.lower()}-{restart_policy.lower()}"
    metadata = {"name": name, "namespace": "team-a", "annotations": annotation}
    machine.api.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(restartPolicy=restart_policy)}
    )
    ended = until(
        lambda: (p := machine.api.get("v1", "Pod", name, "team-a")) and p["status"].get("phase") == phase and p
    )
    code = ended["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
    assert code == (42 if phase == "Failed" else 0)
    machine.api.delete("v1", "Pod", name, "team-a")


def test_a_fake_pods_container_restarts_once_for_each_annotation(machine: Machine) -> None:
    api = machine.api
    api.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "again", "namespace": "team-a"}, "spec": pod_spec()}
    )
    for count in (1, 2):
        until(lambda: (api.get("v1", "Pod", "again", "team-a") or {}).get("status", {}).get("phase") == "Running")
        api.merge("v1", "Pod", "again", {"metadata": {"annotations": {"batchlab/fail": "true"}}}, namespace="team-a")

        def restarts() -> int:
            pod = api.get("v1", "Pod", "again", "team-a")
            assert pod is not None
            return int(pod["status"]["containerStatuses"][0]["restartCount"])

        until(lambda count=count: restarts() == count)  # type: ignore[misc]
    api.delete("v1", "Pod", "again", "team-a")


def test_the_grader_reads_and_changes_nothing(machine: Machine) -> None:
    grader = machine.api_as("grader.kubeconfig")
    assert grader.list("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet") is not None
    assert len(grader.list("v1", "Node")) == 3
    for refused in (
        lambda: grader.list("v1", "Secret"),
        lambda: grader.delete("v1", "Node", "gpu-a"),
        lambda: grader.apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "team-a"}}
        ),
    ):
        with pytest.raises(ApiRefused) as refusal:
            refused()
        assert refusal.value.status == 403


@pytest.mark.parametrize(
    ("program", "account"),
    [
        ("lws", "lws-system:lws-controller-manager"),
        ("jobset", "jobset-system:jobset-controller-manager"),
        ("kueue", "kueue-system:kueue-controller-manager"),
        ("kwok", "kube-system:kwok-controller"),
        ("coredns", "kube-system:coredns"),
    ],
)
def test_controllers_are_their_own_service_accounts(machine: Machine, program: str, account: str) -> None:
    folder = Path(f"/proc/{machine.host_pid(program)}/root/run/secrets/kubernetes.io/serviceaccount")
    claims = (folder / "token").read_text().split(".")[1]
    subject = json.loads(b64decode(claims + "=" * (-len(claims) % 4), altchars=b"-_"))["sub"]
    assert subject == f"system:serviceaccount:{account}"
    assert not any("kubeconfig" in word for word in psutil.Process(machine.host_pid(program)).cmdline())


def test_session_secrets_are_private(machine: Machine) -> None:
    for path in (machine.home, machine.home / "pki"):
        assert path.stat().st_mode & 0o077 == 0
    for secret in ("kubeconfig", "grader.kubeconfig", "pki/sa.key", "run/control.sock"):
        assert (machine.home / secret).stat().st_mode & 0o077 == 0
        assert (machine.home / secret).stat().st_uid == os.geteuid()
