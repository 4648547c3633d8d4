"""`happened`: never, created_after, changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.checks.settling import PATIENCE
from grader.checks.words import clock
from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look


def pod(name: str, role: str, **status: Any) -> Object:
    """A pod of infer with a role."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "infer", "labels": {"role": role}},
        "status": status,
    }


def again(obj: Object, **status: Any) -> Object:
    """The same object with another status."""
    return {**obj, "status": status}


READY = [{"type": "Ready", "status": "True"}]


class TestNever:
    """No such object ever."""

    CHECK = "happened: {never: {of: {kind: Pod, selector: role=worker}}}"

    def test_never(self, trace: Trace, look: Look) -> None:
        trace.put(pod("a", "leader"))
        assert look(self.CHECK).passed

    def test_once_is_too_often(self, trace: Trace, look: Look) -> None:
        trace.remove(trace.put(pod("w", "worker")))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.finding.saw.startswith("Pod infer/w was there at ")
        assert verdict.finding.plain, "why something waits now does not explain that another thing was there"

    def test_any_gap_may_hide_one(self, trace: Trace, look: Look) -> None:
        trace.wait(10)
        trace.gap("Pod", trace.now - 5)
        with pytest.raises(HistoryGap):
            look(self.CHECK)

    def test_gap_of_another_kind(self, trace: Trace, look: Look) -> None:
        trace.gap("Job", trace.now - 5)
        assert look(self.CHECK).passed


class TestCreatedAfter:
    """Workers only once the leader is Ready."""

    CHECK = """
happened:
  created_after:
    of: {kind: Pod, selector: role=worker}
    other: {kind: Pod, selector: role=leader}
    condition: {type: Ready}
"""

    def test_after(self, trace: Trace, look: Look) -> None:
        leader = trace.put(pod("l", "leader", phase="Pending"))
        trace.put(again(leader, conditions=READY))
        trace.put(pod("w", "worker"))
        assert look(self.CHECK).passed

    def test_before(self, trace: Trace, look: Look) -> None:
        leader = trace.put(pod("l", "leader", phase="Pending"))
        trace.put(pod("w", "worker"))
        trace.put(again(leader, conditions=READY))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.finding.saw.endswith("before l was Ready=True")

    def test_every_other_must_have_met_it(self, trace: Trace, look: Look) -> None:
        trace.put(again(trace.put(pod("l1", "leader")), conditions=READY))
        late = trace.put(pod("l2", "leader"))
        trace.put(pod("w", "worker"))
        trace.put(again(late, conditions=READY))
        assert look(self.CHECK).finding.saw.endswith("before l2 was Ready=True")

    def test_no_other_at_all(self, trace: Trace, look: Look) -> None:
        trace.put(pod("w", "worker"))
        assert not look(self.CHECK).passed

    def test_nothing_begun(self, look: Look) -> None:
        assert look(self.CHECK).finding.saw == "there has been no Pod[role=leader] in infer yet"

    def test_not_created_yet(self, trace: Trace, look: Look) -> None:
        """Its controller needs a moment; after that something keeps it from coming."""
        trace.put(pod("l", "leader", conditions=READY))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.moving
        since = clock(trace.now)
        assert verdict.finding.saw == (
            f"there is no Pod[role=worker] in infer, although l has been Ready=True since {since}"
        )
        assert verdict.finding.where == ("Pod infer/l",)
        trace.wait(PATIENCE)
        assert not look(self.CHECK).moving

    def test_other_not_ready_yet(self, trace: Trace, look: Look) -> None:
        trace.put(pod("l", "leader", conditions=[{"type": "Ready", "status": "False"}]))
        trace.wait(60)
        verdict = look(self.CHECK)
        assert verdict.moving
        assert verdict.finding.saw == "there is no Pod[role=worker] in infer, and l is not Ready=True yet"

    def test_other_never_gets_ready(self, trace: Trace, look: Look) -> None:
        stuck = {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}
        trace.put(pod("l", "leader", conditions=[{"type": "Ready", "status": "False"}], containerStatuses=[stuck]))
        assert not look(self.CHECK).moving

    def test_the_try_that_goes_on_is_told(self, trace: Trace, look: Look) -> None:
        """And not the one before it, whose pods are gone."""
        leader, worker = trace.put(pod("l", "leader")), trace.put(pod("w", "worker"))
        trace.remove(worker)
        trace.remove(leader)
        assert look(self.CHECK).finding.saw.endswith("before l was Ready=True")
        trace.put(pod("l", "leader", conditions=READY))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert "although l has been Ready=True since" in verdict.finding.saw

    def test_a_try_that_is_decided_is_told_as_such(self, trace: Trace, look: Look) -> None:
        trace.put(pod("l", "leader"))
        trace.remove(trace.put(pod("w", "worker")))
        verdict = look(self.CHECK)
        assert verdict.finding.saw.endswith("before l was Ready=True")
        assert not verdict.moving

    def test_second_try(self, trace: Trace, look: Look) -> None:
        """The first try was wrong; a learner may do it again."""
        leader = trace.put(pod("l", "leader"))
        worker = trace.put(pod("w", "worker"))
        trace.remove(worker)
        trace.remove(leader)
        trace.wait(5)
        trace.put(again(trace.put(pod("l", "leader")), conditions=READY))
        trace.put(pod("w", "worker"))
        assert look(self.CHECK).passed

    def test_successor_of_the_other_does_not_spoil_it(self, trace: Trace, look: Look) -> None:
        leader = trace.put(again(trace.put(pod("l", "leader")), conditions=READY))
        trace.put(pod("w", "worker"))
        trace.put(pod("l", "leader"))
        trace.remove(leader)
        assert look(self.CHECK).passed


class TestChanged:
    """A queue's limit was raised."""

    CHECK = """
happened:
  changed:
    of: {kind: ConfigMap, name: limits}
    from: {data: {max: "1"}}
    to: {data: {max: "2"}}
"""

    @staticmethod
    def limits(value: str) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "limits", "namespace": "infer"},
            "data": {"max": value},
        }

    def test_changed(self, trace: Trace, look: Look) -> None:
        first = trace.put(self.limits("1"))
        trace.put({**first, "data": {"max": "3"}})
        trace.put({**first, "data": {"max": "2"}})
        assert look(self.CHECK).passed

    def test_changed_back_later(self, trace: Trace, look: Look) -> None:
        first = trace.put(self.limits("1"))
        trace.put({**first, "data": {"max": "2"}})
        trace.put({**first, "data": {"max": "1"}})
        assert look(self.CHECK).passed

    def test_not_yet(self, trace: Trace, look: Look) -> None:
        trace.put(self.limits("1"))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.finding.wanted == 'data.max "2"'
        assert verdict.finding.saw == 'data.max is "1"'

    def test_never_was_the_old(self, trace: Trace, look: Look) -> None:
        trace.put(self.limits("2"))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.finding.wanted == 'first: data.max "1"'

    def test_another_object_of_the_name(self, trace: Trace, look: Look) -> None:
        trace.remove(trace.put(self.limits("1")))
        trace.put(self.limits("2"))
        verdict = look(self.CHECK)
        assert not verdict.passed
        assert verdict.finding.wanted == "the same object changed to that"
        assert look(self.CHECK + "    same_uid: false\n").passed

    def test_gap(self, trace: Trace, look: Look) -> None:
        start = trace.now
        trace.put(self.limits("2"))
        trace.gap("ConfigMap", start)
        with pytest.raises(HistoryGap):
            look(self.CHECK)
