"""`happened.recreated` on the traces of step 5 of lab-lws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Llm, Look

RECREATED = """
happened:
  recreated:
    of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
    group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
    group: "0"
    because: container-exited
    others: untouched
"""


def test_worker_fails_and_its_group_comes_back(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.recreate()
    verdict = look(RECREATED)
    assert verdict.passed
    assert verdict.evidence[0] == "Pod infer/llm-0-1"
    assert verdict.evidence[1].startswith("history ")


def test_leader_fails(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail("llm-0")
    llm.recreate()
    assert look(RECREATED).passed


def test_restart_without_a_recorded_termination(llm: Llm, look: Look) -> None:
    """A kubelet may report only the restart."""
    llm.apply()
    llm.contain("llm-0-1", restartCount=1)
    llm.recreate()
    assert look(RECREATED).passed


def test_nothing_happened_yet(llm: Llm, look: Look) -> None:
    llm.apply()
    verdict = look(RECREATED)
    assert (verdict.passed, verdict.moving) == (False, False)
    assert verdict.finding.saw == "no container of group 0 has exited"
    assert verdict.finding.where == ("Pod infer/llm-0", "Pod infer/llm-0-1")


def test_leader_deleted_by_hand(llm: Llm, look: Look) -> None:
    """Its containers end with an error too, but after the deletion was asked for."""
    llm.apply()
    llm.recreate()
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "pods of group 0 were deleted, no container had exited"
    assert verdict.finding.where[0] == "Pod infer/llm-0"  # and not the one that went because of it


def test_container_ends_just_after_a_deletion_by_hand(llm: Llm, look: Look) -> None:
    """The leader is gone and its worker, not yet asked to go, gives up because of that."""
    llm.apply()
    llm.doom("llm-0")
    llm.trace.wait(1)
    llm.gone("llm-0")
    llm.fail("llm-0-1")
    llm.create(0, 0)
    llm.run("llm-0")
    llm.doom("llm-0-1")
    llm.gone("llm-0-1")
    llm.create(0, 1)
    llm.run("llm-0-1")
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "a pod of group 0 was already being deleted when llm-0-1 exited"


def test_set_deleted_and_applied_again(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.delete_set()
    llm.apply()
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "pods of group 0 and of other groups were deleted, no container had exited"


def test_set_deleted_and_applied_again_after_a_failure(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.delete_set()
    llm.apply()
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "llm-0-1 exited; llm-1, llm-1-1 of another group went as well"


def test_other_group_failed(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail("llm-1-1")
    llm.recreate(1)
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "no container of group 0 has exited"


def test_policy_none_leaves_the_pods(llm: Llm, look: Look) -> None:
    """Restarted in place, and later deleted by hand: the deletion is no answer to the exit."""
    llm.apply()
    llm.fail()
    llm.trace.wait(300)
    verdict = look(RECREATED)
    assert (verdict.passed, verdict.moving) == (False, False)
    same = f"llm-0 ({llm.uid('llm-0')[:8]}), llm-0-1 ({llm.uid('llm-0-1')[:8]})"
    assert verdict.finding.saw == f"llm-0-1 exited; still the same pod as before: {same}"
    llm.recreate()
    assert look(RECREATED).finding.saw == "llm-0-1 exited, but the group was replaced only long after"


def test_only_the_failed_pod_is_new(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.doom("llm-0-1")
    llm.gone("llm-0-1")
    llm.create(0, 1)
    llm.run("llm-0-1")
    llm.trace.wait(100)
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == f"llm-0-1 exited; still the same pod as before: llm-0 ({llm.uid('llm-0')[:8]})"


def test_under_way(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    assert look(RECREATED).moving
    llm.recreate_begin()
    llm.create(0, 0)
    verdict = look(RECREATED)
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "llm-0-1 exited; group 0 is not whole and Running again"
    llm.trace.wait(200)
    assert not look(RECREATED).moving


def test_whole_only_when_every_pod_runs(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.recreate_begin()
    llm.create(0, 0)
    llm.run("llm-0")
    llm.create(0, 1)
    assert not look(RECREATED).passed
    llm.run("llm-0-1")
    assert look(RECREATED).passed


def test_a_later_roll_does_not_spoil_it(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.fail()
    llm.recreate()
    llm.trace.wait(60)
    llm.version = llm.worker_version = "v2"
    llm.roll()
    assert look(RECREATED).passed


def test_a_roll_alone_is_none(llm: Llm, look: Look) -> None:
    llm.apply()
    llm.version = llm.worker_version = "v2"
    llm.roll()
    assert not look(RECREATED).passed


@pytest.mark.parametrize("pause", [0, 30])
def test_by_hand_first_then_properly(pause: float, llm: Llm, look: Look) -> None:
    """However soon after: the pods that fail came after that deletion."""
    llm.apply()
    llm.recreate()
    llm.trace.wait(pause)
    llm.fail()
    llm.recreate()
    assert look(RECREATED).passed


def test_no_other_group_to_leave_alone(llm: Llm, look: Look) -> None:
    llm.apply(groups=1)
    llm.fail()
    llm.recreate()
    verdict = look(RECREATED)
    assert not verdict.passed
    assert verdict.finding.saw == "llm-0-1 exited while there was no other group"
    assert look(RECREATED.replace("untouched", "any")).passed


def test_gap_that_hides_the_recreation(llm: Llm, look: Look, trace: Trace) -> None:
    llm.apply()
    start = trace.now
    trace.recording = False
    llm.fail()
    llm.recreate_begin()
    trace.recording = True
    llm.recreate_end()
    trace.gap("Pod", start)
    with pytest.raises(HistoryGap):
        look(RECREATED)


def test_gap_that_hides_nothing(llm: Llm, look: Look, trace: Trace) -> None:
    llm.apply()
    trace.wait(30)
    trace.gap("Pod", trace.now - 5)
    trace.wait(30)
    assert look(RECREATED).finding.saw == "no container of group 0 has exited"
    llm.fail()
    llm.recreate()
    assert look(RECREATED).passed
