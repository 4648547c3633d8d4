"""A group that was not recreated: what the record shows of a forced deletion, and of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.checks.objects import Object
from grader.checks.recorded import Trace
from grader.diagnosis import Cause, diagnose

LWS = "leaderworkerset.sigs.k8s.io"
STAMP = "2026-11-30T11:42:48Z"


class Serve:
    """A LeaderWorkerSet `serve` of one group of two, as it is recorded on a real cluster."""

    def __init__(self, policy: str = "RecreateGroupOnPodRestart") -> None:
        self.trace = Trace()
        self.set = self.trace.put(
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "metadata": {"name": "serve", "namespace": "lab"},
                "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "restartPolicy": policy}},
                "status": {"replicas": 1, "readyReplicas": 1},
            }
        )
        self.leader = self.pod("serve-0", "0")
        self.worker = self.pod("serve-0-1", "1")

    def pod(self, name: str, worker: str, node: str = "gpu-a") -> Object:
        labels = {f"{LWS}/name": "serve", f"{LWS}/group-index": "0", f"{LWS}/worker-index": worker}
        return self.trace.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "lab", "labels": labels},
                "spec": {"nodeName": node, "containers": [{"name": "c", "image": "c:1"}]},
                "status": {
                    "phase": "Running" if node else "Pending",
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"running": {}}}],
                },
            }
        )

    def delete(self, pod: Object, grace: int | None) -> None:
        """`kubectl delete`: it is written down with its grace, and then gone; None: only its end is seen."""
        if grace is not None:
            pod["metadata"] |= {"deletionTimestamp": STAMP, "deletionGracePeriodSeconds": grace}
            pod = self.trace.put(pod)
            self.trace.wait(grace)
        self.trace.remove(pod)

    def why(self, *, history: bool = True, after: float = 10.0) -> Cause | None:
        self.trace.wait(after)
        found = diagnose(self.trace.world(Path(), namespace="lab"), "LeaderWorkerSet", "serve", history=history)
        assert found is not None
        return found.cause


@pytest.mark.parametrize("grace", [0, None])
def test_a_forced_deletion_leaves_the_leader_as_it_was(grace: int | None) -> None:
    serve = Serve()
    serve.delete(serve.worker, grace)
    serve.pod("serve-0-1", "1")
    found = serve.why()
    assert found is not None
    assert (found.id, found.where) == ("forced-delete", ("Pod lab/serve-0-1", "Pod lab/serve-0"))
    assert found.says == (
        "group 0 of LeaderWorkerSet lab/serve was not recreated: Pod lab/serve-0-1 was deleted by force and gone "
        "before the controller saw it go, so Pod lab/serve-0 is still the same"
    )


def test_without_the_record_nobody_can_know() -> None:
    serve = Serve()
    serve.delete(serve.worker, 0)
    serve.pod("serve-0-1", "1")
    assert serve.why(history=False) is None


def test_the_controller_is_given_its_time() -> None:
    serve = Serve()
    serve.delete(serve.worker, 0)
    serve.pod("serve-0-1", "1")
    assert serve.why(after=1) is None
    assert serve.why() is not None


def test_a_deletion_with_grace_is_none() -> None:
    serve = Serve()
    serve.delete(serve.worker, 2)
    serve.pod("serve-0-1", "1")
    assert serve.why() is None


def test_a_group_that_came_back_all_the_same_lacks_nothing() -> None:
    serve = Serve()
    serve.delete(serve.worker, 0)
    worker = serve.pod("serve-0-1", "1")
    serve.delete(serve.leader, 2)
    serve.delete(worker, 2)
    serve.pod("serve-0", "0")
    serve.pod("serve-0-1", "1")
    assert serve.why() is None


def test_a_pod_that_had_ended_needs_no_force() -> None:
    serve = Serve()
    serve.worker["status"]["phase"] = "Failed"
    serve.delete(serve.trace.put(serve.worker), 0)
    serve.pod("serve-0-1", "1")
    assert serve.why() is None


def test_a_pod_without_a_node_goes_as_fast_as_by_force() -> None:
    serve = Serve()
    serve.delete(serve.worker, 2)
    serve.trace.remove(serve.leader)
    serve.leader = serve.pod("serve-0", "0")
    serve.delete(serve.pod("serve-0-1", "1", node=""), 0)
    serve.pod("serve-0-1", "1")
    found = serve.why()
    assert found is not None
    assert "was deleted while it had no node" in found.says


def test_a_set_that_recreates_nothing_says_so_once_a_container_restarted() -> None:
    serve = Serve(policy="None")
    assert serve.why() is None
    serve.worker["status"]["containerStatuses"][0]["restartCount"] = 1
    serve.trace.put(serve.worker)
    found = serve.why()
    assert found is not None
    assert found.id == "restart-policy-none"
    assert found.says.endswith("LeaderWorkerSet lab/serve has restartPolicy None")
