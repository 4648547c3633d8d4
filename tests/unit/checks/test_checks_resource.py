"""`resource`: one object as asked, or gone after it was there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look

LIVE = """
resource:
  of: {kind: LeaderWorkerSet, name: llm}
  match:
    spec: {replicas: 2, leaderWorkerTemplate: {size: 2, restartPolicy: RecreateGroupOnPodRestart}}
    status:
      updatedReplicas: "{{ spec.replicas }}"
      conditions: [{type: Available, status: "True"}]
"""


def lws(**spec: object) -> Object:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "namespace": "infer", "uid": "one"},
        "spec": {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 2, "restartPolicy": "RecreateGroupOnPodRestart", "more": {}},
            **spec,
        },
        "status": {
            "updatedReplicas": 2,
            "conditions": [{"type": "Progressing", "status": "False"}, {"type": "Available", "status": "True"}],
        },
    }


def test_as_asked(trace: Trace, look: Look) -> None:
    trace.put(lws())
    verdict = look(LIVE)
    assert verdict.passed
    assert verdict.evidence == ("LeaderWorkerSet infer/llm",)


def test_another_policy(trace: Trace, look: Look) -> None:
    trace.put(lws(leaderWorkerTemplate={"size": 2, "restartPolicy": "None"}))
    finding = look(LIVE).finding
    assert finding.wanted == 'spec.leaderWorkerTemplate.restartPolicy "RecreateGroupOnPodRestart"'
    assert finding.saw == 'spec.leaderWorkerTemplate.restartPolicy is "None"'
    assert finding.where == ("LeaderWorkerSet infer/llm",)
    assert finding.look_at == "kubectl -n infer get leaderworkerset llm -o yaml"


def test_condition_not_true(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["status"]["conditions"] = [{"type": "Available", "status": "False"}]
    trace.put(obj)
    assert look(LIVE).finding.saw == 'status.conditions["Available"].status is "False"'


def test_condition_not_there(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["status"]["conditions"] = []
    trace.put(obj)
    finding = look(LIVE).finding
    assert finding.saw == 'status.conditions["Available"] is not there'


def test_rolling_may_still_turn_true(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["status"] = {"updatedReplicas": 1, "conditions": [{"type": "UpdateInProgress", "status": "True"}]}
    trace.put(obj)
    assert look(LIVE).moving


def test_spec_not_seen_by_its_controller(trace: Trace, look: Look) -> None:
    obj = lws(replicas=3)
    obj["metadata"]["generation"] = 2
    obj["status"]["observedGeneration"] = 1
    trace.put(obj)
    assert look(LIVE).moving


def test_missing_with_a_near_name(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["metadata"]["name"] = "lmm"
    trace.put(obj)
    assert look(LIVE).finding.saw == "there is no LeaderWorkerSet infer/llm (there is lmm)"


def test_being_deleted_is_not_there(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["metadata"]["deletionTimestamp"] = "2025-11-30T10:53:20Z"
    trace.put(obj)
    verdict = look(LIVE)
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "it is being deleted"


def test_another_namespace_does_not_count(trace: Trace, look: Look) -> None:
    obj = lws()
    obj["metadata"]["namespace"] = "default"
    trace.put(obj)
    verdict = look(LIVE)
    assert not verdict.passed
    assert verdict.finding.saw == ("there is no LeaderWorkerSet infer/llm (there is LeaderWorkerSet default/llm)")
    assert look(LIVE.replace("name: llm", "name: llm, namespace: default")).passed


def test_cluster_wide_kind(trace: Trace, look: Look) -> None:
    trace.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "lab"}, "status": {"capacity": {"cpu": "2"}}})
    assert look("resource: {of: {kind: Node, name: lab}, match: {status: {capacity: {cpu: 2000m}}}}").passed


def test_compared_with_another_object(trace: Trace, look: Look) -> None:
    text = """
resource:
  of: {kind: Pod, name: worker}
  with: {leader: {kind: Pod, name: leader}}
  match: {spec: {nodeName: "{{ leader.spec.nodeName }}"}}
"""
    for name, node in (("leader", "gpu-a"), ("worker", "gpu-a")):
        trace.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "infer"},
                "spec": {"nodeName": node},
            }
        )
    assert look(text).passed
    trace.cluster.objects[1]["spec"]["nodeName"] = "gpu-b"
    assert look(text).finding.saw == 'spec.nodeName is "gpu-b"'


class TestAbsent:
    """Gone counts only after it was there."""

    GONE = "resource: {of: {kind: LeaderWorkerSet, name: llm}, absent: true}"

    def test_gone(self, trace: Trace, look: Look) -> None:
        trace.remove(trace.put(lws()))
        assert look(self.GONE).passed

    def test_still_there(self, trace: Trace, look: Look) -> None:
        obj = trace.put(lws())
        verdict = look(self.GONE)
        assert (verdict.passed, verdict.moving) == (False, False)
        assert verdict.finding.saw == "still there: LeaderWorkerSet infer/llm"
        obj["metadata"]["deletionTimestamp"] = "2025-11-30T10:53:20Z"
        trace.put(obj)
        assert look(self.GONE).moving

    def test_never_there(self, look: Look) -> None:
        verdict = look(self.GONE)
        assert not verdict.passed
        assert verdict.finding.saw == "it was never there"

    def test_perhaps_there_while_nobody_looked(self, trace: Trace, look: Look) -> None:
        trace.gap("LeaderWorkerSet", trace.now - 5)
        with pytest.raises(HistoryGap):
            look(self.GONE)
