"""`resources`: how many, what all, some or none match, where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Llm, Look

FOUR = """
resources:
  of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
  count: 4
  all:
    spec: {nodeName: lab, containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}
    status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
"""


def test_four_pods_run(llm: Llm, look: Look) -> None:
    llm.apply()
    assert look(FOUR).passed


def test_one_group_too_few(llm: Llm, look: Look) -> None:
    llm.apply(groups=1)
    finding = look(FOUR).finding
    assert (finding.wanted, finding.saw) == ("4", "2: llm-0, llm-0-1")
    assert finding.where == ("Pod[leaderworkerset.sigs.k8s.io/name=llm] in infer",)


def test_in_another_namespace(trace: Trace, look: Look) -> None:
    labels = {"leaderworkerset.sigs.k8s.io/name": "llm"}
    trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm-0", "namespace": "old", "labels": labels}})
    assert look(FOUR).finding.saw == "0 (there is Pod old/llm-0)"


def test_on_fake_nodes(llm: Llm, look: Look) -> None:
    llm.node = "gpu-a"
    llm.apply()
    verdict = look(FOUR)
    assert (verdict.passed, verdict.moving) == (False, False)
    assert verdict.finding.saw == 'spec.nodeName is "gpu-a"'
    assert verdict.finding.where == ("Pod infer/llm-0",)


def test_gpu_only_on_the_workers(llm: Llm, look: Look) -> None:
    llm.apply()
    for name in ("llm-0", "llm-1"):
        llm.change(name, spec={"containers": [{"name": "engine", "resources": {}}]})
    assert look(FOUR).finding.saw == 'spec.containers[0].resources.limits["nvidia.com/gpu"] is not there'


def test_pods_on_their_way(llm: Llm, look: Look) -> None:
    llm.create_set()
    for group in (0, 1):
        llm.create(group, 0)
        llm.create(group, 1)
    assert look(FOUR).moving


def test_unschedulable_for_long_is_not_on_its_way(llm: Llm, look: Look) -> None:
    llm.create_set()
    llm.create(0, 0)
    since = "2025-11-30T10:53:21Z"
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": since}
    llm.change("llm-0", status={"conditions": [condition]})
    assert look(FOUR).moving
    llm.trace.wait(30)
    assert not look(FOUR).moving


def test_image_that_never_comes_is_not_on_its_way(llm: Llm, look: Look) -> None:
    llm.create_set()
    llm.create(0, 0)
    status = {"name": "engine", "restartCount": 0, "state": {"waiting": {"reason": "ErrImageNeverPull"}}}
    llm.change("llm-0", status={"containerStatuses": [status]})
    assert not look(FOUR).moving


def test_terminating_pods_do_not_count(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.doom("llm-0-1")
    verdict = look(FOUR)
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "3: llm-0, llm-1, llm-1-1"


COUNTS = "resources: {of: {kind: Pod, selector: 'x=y'}, count: %s}"


@pytest.mark.parametrize(
    ("count", "there", "passes"),
    [
        ("0", 0, True),
        ("0", 1, False),
        ("3", 3, True),
        ("{min: 1}", 1, True),
        ("{min: 1}", 0, False),
        ("{min: 1, max: 2}", 3, False),
        ("{max: 2}", 0, True),
        ("{max: 2}", 2, True),
    ],
)
def test_count(count: str, there: int, passes: bool, trace: Trace, look: Look) -> None:
    for number in range(there):
        labels = {"x": "y"}
        metadata = {"name": f"p{number}", "namespace": "infer", "labels": labels}
        trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
    assert look(COUNTS % count).passed is passes


def test_none_left_means_none_on_its_way_out(trace: Trace, look: Look) -> None:
    metadata = {"name": "p", "namespace": "infer", "labels": {"x": "y"}, "deletionTimestamp": "2025-11-30T10:53:20Z"}
    trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})
    verdict = look(COUNTS % "0")
    assert (verdict.passed, verdict.moving) == (False, True)


def test_rules_over_nothing_fail(look: Look) -> None:
    for rule in ("all: {spec: {a: 1}}", "none: {spec: {a: 1}}", "some: {spec: {a: 1}}", "same: [spec.a]"):
        assert not look(f"resources: {{of: {{kind: Pod}}, {rule}}}").passed


def test_some_and_none(llm: Llm, look: Look) -> None:
    llm.apply()
    text = "resources: {of: {kind: Pod}, %s: {metadata: {name: %s}}}"
    assert look(text % ("some", "llm-0")).passed
    assert not look(text % ("some", "llm-7")).passed
    assert look(text % ("none", "llm-7")).passed
    finding = look(text % ("none", "llm-0")).finding
    assert (finding.saw, finding.where) == ("it has that", ("Pod infer/llm-0",))


def test_same(llm: Llm, look: Look) -> None:
    llm.apply()
    path = 'metadata.labels["leaderworkerset.sigs.k8s.io/template-revision-hash"]'
    text = f"resources: {{of: {{kind: Pod}}, same: ['{path}']}}"
    assert look(text).passed
    llm.version = llm.worker_version = "v2"
    llm.roll(1)
    finding = look(text).finding
    assert finding.saw == '2 different ones: "hash-v1-v1", "hash-v2-v2"'


SPREAD = """
resources:
  of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
  spread:
    group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
    over: spec.nodeName
    each: same
    groups: different
"""


class TestSpread:
    """Step 7 of lab-lws: one node for each group."""

    @staticmethod
    def place(llm: Llm, **nodes: str) -> None:
        llm.apply()
        for name, node in nodes.items():
            llm.change(name.replace("_", "-"), spec={"nodeName": node})

    def test_group_by_group(self, llm: Llm, look: Look) -> None:
        self.place(llm, llm_0="gpu-a", llm_0_1="gpu-a", llm_1="gpu-b", llm_1_1="gpu-b")
        assert look(SPREAD).passed

    def test_torn_group(self, llm: Llm, look: Look) -> None:
        self.place(llm, llm_0="gpu-a", llm_0_1="gpu-b", llm_1="gpu-b", llm_1_1="gpu-b")
        finding = look(SPREAD).finding
        assert finding.wanted == "each group with one spec.nodeName, no two groups the same"
        assert finding.saw == "group 0: gpu-a, gpu-b"

    def test_both_on_one_node(self, llm: Llm, look: Look) -> None:
        self.place(llm, llm_0="gpu-a", llm_0_1="gpu-a", llm_1="gpu-a", llm_1_1="gpu-a")
        assert look(SPREAD).finding.saw == "group 0: gpu-a; group 1: gpu-a"
        assert look(SPREAD.replace("groups: different", "groups: same")).passed
        assert look(SPREAD.replace("groups: different", "groups: any")).passed

    def test_each_on_its_own(self, llm: Llm, look: Look) -> None:
        own = SPREAD.replace("each: same", "each: different").replace("groups: different", "groups: same")
        self.place(llm, llm_0="gpu-a", llm_0_1="gpu-b", llm_1="gpu-b", llm_1_1="gpu-a")
        assert look(own).passed
        llm.change("llm-1", spec={"nodeName": "gpu-a"})
        assert look(own).finding.saw == "group 1: gpu-a"

    def test_not_placed_yet(self, llm: Llm, look: Look) -> None:
        self.place(llm)
        llm.create(2, 0)
        llm.change("llm-2", spec={"nodeName": None})
        verdict = look(SPREAD)
        assert (verdict.passed, verdict.moving) == (False, True)
        assert (verdict.finding.saw, verdict.finding.where) == ("it has no spec.nodeName", ("Pod infer/llm-2",))
