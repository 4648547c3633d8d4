"""`happened.rolled` on the traces of step 6 of lab-lws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Llm, Look

ROLLED = """
happened:
  rolled:
    of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
    group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
    owner: {kind: LeaderWorkerSet, name: llm}
    revision: metadata.labels["leaderworkerset.sigs.k8s.io/template-revision-hash"]
    from: {spec: {containers: [{env: [{name: VERSION, value: v1}]}]}}
    to: {spec: {containers: [{env: [{name: VERSION, value: v2}]}]}}
"""


def to(llm: Llm, version: str) -> None:
    llm.version = llm.worker_version = version


def test_group_by_group(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.roll()
    assert look(ROLLED).passed


def test_order_of_the_groups_does_not_matter(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.roll(0, 1)
    assert look(ROLLED).passed


def test_not_begun(llm: Llm, look: Look) -> None:
    llm.apply()
    verdict = look(ROLLED)
    assert (verdict.passed, verdict.moving) == (False, False)
    assert verdict.finding.saw == "no group has been replaced by such pods"


def test_second_group_not_yet(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.roll(1)
    verdict = look(ROLLED)
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "not new yet: llm-0, llm-0-1"
    llm.trace.wait(100)
    assert not look(ROLLED).moving


def test_new_pods_must_run(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.roll(1)
    llm.doom("llm-0")
    llm.gone("llm-0")
    llm.create(0, 0)
    llm.doom("llm-0-1")
    llm.gone("llm-0-1")
    llm.create(0, 1)
    verdict = look(ROLLED)
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "not Running yet: llm-0, llm-0-1"


def test_only_the_leader_template(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.version = "v2"
    llm.roll()
    verdict = look(ROLLED)
    assert (verdict.passed, verdict.moving) == (False, False)
    assert verdict.finding.saw == ('Pod infer/llm-0-1: spec.containers[0].env["VERSION"].value is "v1"')


def test_only_the_leader_template_then_both(llm: Llm, look: Look) -> None:
    """The leaders were v2 before the roll that counts; the groups once were v1 all the same."""
    llm.apply()
    llm.version = "v2"
    llm.roll()
    llm.trace.wait(30)
    llm.worker_version = "v2"
    llm.roll()
    assert look(ROLLED).passed


def test_set_made_anew(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.trace.wait(30)
    llm.delete_set()
    to(llm, "v2")
    llm.apply()
    verdict = look(ROLLED)
    assert not verdict.passed
    assert "LeaderWorkerSet infer/llm was deleted and made anew at " in verdict.finding.saw


def test_set_made_anew_then_rolled_properly(llm: Llm, look: Look) -> None:
    """Back to v1 and to v2 again: the revision is the one the wrong way led to."""
    llm.apply()
    llm.trace.wait(30)
    llm.delete_set()
    to(llm, "v2")
    llm.apply()
    llm.trace.wait(30)
    to(llm, "v1")
    llm.roll()
    llm.trace.wait(30)
    to(llm, "v2")
    llm.roll()
    assert look(ROLLED).passed


def test_what_comes_later_does_not_spoil_it(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.roll()
    llm.trace.wait(30)
    llm.fail()
    llm.recreate()
    llm.trace.wait(30)
    llm.delete_set()
    llm.apply()
    assert look(ROLLED).passed


def test_after_a_group_was_recreated(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.recreate()
    to(llm, "v2")
    llm.roll()
    assert look(ROLLED).passed


def test_both_groups_at_once(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    for name in ("llm-1", "llm-0", "llm-0-1", "llm-1-1"):
        llm.doom(name)
    llm.trace.wait(1)
    for name in ("llm-1", "llm-0", "llm-0-1", "llm-1-1"):
        llm.gone(name)
    for group in (1, 0):
        llm.create(group, 0)
        llm.create(group, 1)
    llm.run_all()
    verdict = look(ROLLED)
    assert (verdict.passed, verdict.moving) == (False, False)
    assert verdict.finding.saw.endswith("before group 1 had a new leader")


def test_group_of_two_revisions(llm: Llm, look: Look) -> None:
    llm.apply()
    to(llm, "v2")
    llm.doom("llm-1")
    llm.gone("llm-1")
    llm.create(1, 0)
    llm.run("llm-1")
    llm.trace.wait(20)  # old worker, new leader, both at work
    llm.doom("llm-1-1")
    llm.gone("llm-1-1")
    llm.create(1, 1)
    llm.run("llm-1-1")
    llm.roll(0)
    verdict = look(ROLLED)
    assert not verdict.passed
    assert verdict.finding.saw.startswith("group 1 ran with pods of two revisions from ")


def test_another_change_is_not_the_one_asked_for(llm: Llm, look: Look) -> None:
    """The new set had v2 from its start; what is rolled afterwards is something else."""
    llm.apply()
    llm.trace.wait(30)
    llm.delete_set()
    to(llm, "v2")
    llm.apply()
    llm.trace.wait(30)
    for pod in (1, 0):
        _with_another_hash(llm, pod)
    verdict = look(ROLLED)
    assert not verdict.passed
    assert verdict.finding.saw == "group 1 was not what is to be updated before"


def _with_another_hash(llm: Llm, group: int) -> None:
    leader, worker = f"llm-{group}", f"llm-{group}-1"
    for name, number in ((leader, 0), (worker, 1)):
        llm.doom(name)
        llm.gone(name)
        llm.create(group, number)
        pod = llm.pods[name]
        llm.trace.history.recorded[-1].object["metadata"]["labels"][
            "leaderworkerset.sigs.k8s.io/template-revision-hash"
        ] = "hash-other"
        pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/template-revision-hash"] = "hash-other"
        llm.run(name)


def test_gap_that_hides_the_roll(llm: Llm, look: Look, trace: Trace) -> None:
    llm.apply()
    start = trace.now
    to(llm, "v2")
    trace.recording = False
    llm.roll(1)
    trace.recording = True
    llm.roll(0)
    trace.gap("Pod", start)
    with pytest.raises(HistoryGap):
        look(ROLLED)
