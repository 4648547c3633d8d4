"""Steps 7 and 8 of lab-lws: the set `wide`, the half-started `orphan`, and the wrong ways to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look

EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
ANNOTATED = f"""
resource:
  of: {{kind: LeaderWorkerSet, name: wide}}
  match: {{metadata: {{annotations: {{{EXCLUSIVE}: kubernetes.io/hostname}}}}}}
"""
PLACED = """
resources:
  of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=wide}
  count: 4
  all: {status: {phase: Running}}
  spread:
    group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
    over: spec.nodeName
    each: same
    groups: different
"""


class TestWide:
    """The annotation belongs on the set, and each group has a node of its own."""

    @staticmethod
    def put(trace: Trace, annotations: dict[str, str], template: dict[str, str], *nodes: str) -> None:
        trace.put(
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "metadata": {"name": "wide", "namespace": "infer", "annotations": annotations},
                "spec": {"leaderWorkerTemplate": {"workerTemplate": {"metadata": {"annotations": template}}}},
            }
        )
        for number, node in enumerate(nodes):
            group, worker = divmod(number, 2)
            labels = {
                "leaderworkerset.sigs.k8s.io/name": "wide",
                "leaderworkerset.sigs.k8s.io/group-index": str(group),
            }
            trace.put(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": f"wide-{group}-{worker}", "namespace": "infer", "labels": labels},
                    "spec": {"nodeName": node},
                    "status": {"phase": "Running"},
                }
            )

    def test_right(self, trace: Trace, look: Look) -> None:
        self.put(trace, {EXCLUSIVE: "kubernetes.io/hostname"}, {}, "gpu-b", "gpu-b", "gpu-a", "gpu-a")
        assert look(ANNOTATED).passed
        assert look(PLACED).passed

    def test_annotation_on_the_template(self, trace: Trace, look: Look) -> None:
        self.put(trace, {}, {EXCLUSIVE: "kubernetes.io/hostname"}, "gpu-b", "gpu-b", "gpu-a", "gpu-a")
        assert look(ANNOTATED).finding.saw == f'metadata.annotations["{EXCLUSIVE}"] is not there'

    def test_both_groups_on_one_node_by_chance(self, trace: Trace, look: Look) -> None:
        self.put(trace, {}, {}, "gpu-a", "gpu-a", "gpu-a", "gpu-a")
        assert not look(ANNOTATED).passed
        assert look(PLACED).finding.saw == "group 0: gpu-a; group 1: gpu-a"

    def test_node_pinned_by_hand(self, trace: Trace, look: Look) -> None:
        self.put(trace, {EXCLUSIVE: "kubernetes.io/hostname"}, {}, "gpu-a", "gpu-a", "gpu-a", "gpu-a")
        assert look(ANNOTATED).passed
        assert not look(PLACED).passed


MESSAGE = "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s)."
LEADER = """
resource:
  of: {kind: Pod, name: orphan-0}
  match:
    spec: {containers: [{resources: {limits: {nvidia.com/gpu: <absent>}}}]}
    status: {phase: Running}
"""
WORKER = """
resource:
  of: {kind: Pod, name: orphan-0-1}
  match:
    spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}
    status:
      phase: Pending
      conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]
"""
QUOTED = "quotes: {file: partial.txt, of: {kind: Pod, name: orphan-0-1}, when: written}"


class TestOrphan:
    """A leader that runs, a worker that has no place."""

    @staticmethod
    def pod(name: str, gpu: bool, scheduled: bool) -> dict[str, Any]:
        condition = {"type": "PodScheduled", "status": "True"}
        if not scheduled:
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "infer", "uid": name},
            "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}} if gpu else {}}]},
            "status": {"phase": "Running" if scheduled else "Pending", "conditions": [condition]},
        }

    def test_right(self, trace: Trace, look: Look) -> None:
        trace.put(self.pod("orphan-0", gpu=False, scheduled=True))
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=False))
        assert look(LEADER).passed
        assert look(WORKER).passed

    def test_leader_asks_too(self, trace: Trace, look: Look) -> None:
        trace.put(self.pod("orphan-0", gpu=True, scheduled=False))
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=False))
        finding = look(LEADER).finding
        assert finding.saw == (
            'spec.containers[0].resources.limits["nvidia.com/gpu"] is "1"; status.phase is "Pending"'
        )
        assert look(WORKER).passed

    def test_room_was_made_for_the_worker(self, trace: Trace, look: Look) -> None:
        trace.put(self.pod("orphan-0", gpu=False, scheduled=True))
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=True))
        finding = look(WORKER).finding
        assert finding.saw == (
            'status.phase is "Running"; status.conditions["PodScheduled"].status is "True"; '
            'status.conditions["PodScheduled"].reason is not there'
        )

    def test_reason_noted_and_room_made_later(self, trace: Trace, look: Look, write: Any) -> None:
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=False))
        write("partial.txt", MESSAGE)
        trace.wait(30)
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=True))
        assert look(QUOTED).passed

    @pytest.mark.parametrize(
        "text",
        [
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            "there is no GPU left for the worker",
        ],
    )
    def test_another_reason(self, text: str, trace: Trace, look: Look, write: Any) -> None:
        trace.put(self.pod("orphan-0-1", gpu=True, scheduled=False))
        write("partial.txt", text)
        assert not look(QUOTED).passed
