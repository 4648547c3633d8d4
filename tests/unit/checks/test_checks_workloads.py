"""Kueue's Workloads as they are read for the labs' own checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.checks.workloads import QUEUE_LABEL, in_motion, none_made, queued, refuse_unseen, standing, why_none
from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from grader.checks.world import World


@pytest.fixture
def now(trace: Trace, tmp_path: Path) -> Callable[[], World]:
    """The world as it is when called."""
    return lambda: trace.world(tmp_path, namespace="team-a")


def workload(job: str, *pod_sets: tuple[int, dict[str, Any]], kind: str = "Job") -> Object:
    """The Workload of a job: (count, resources of the one container) for each of its pod sets."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"{kind.lower()}-{job}-1a2b3",
            "namespace": "team-a",
            "ownerReferences": [{"kind": kind, "name": job, "uid": f"uid-of-{job}"}],
        },
        "spec": {
            "queueName": "queue",
            "podSets": [
                {"count": count, "template": {"spec": {"containers": [{"resources": resources}]}}}
                for count, resources in pod_sets
            ],
        },
    }


def job(name: str, labels: dict[str, str]) -> Object:
    """A Job with these labels."""
    metadata = {"name": name, "namespace": "team-a", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}


def becomes(trace: Trace, obj: Object, queue: str = "", **conditions: str) -> Object:
    """The Workload goes on with these conditions: `Type="Status Reason"`."""
    found = []
    for kind, words in conditions.items():
        value, _space, reason = words.partition(" ")
        found.append({"type": kind, "status": value, "reason": reason, "message": f"{reason} it is"})
    status: dict[str, Any] = {"conditions": found}
    if queue:
        status["admission"] = {"clusterQueue": queue}
    return trace.put({**obj, "status": status})


GPU = "nvidia.com/gpu"


class TestWhatItAsksFor:
    """All pods together, from requests or, where there are none, limits."""

    def test_counts_times_requests(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("big", (2, {"requests": {GPU: "2"}}), (3, {"limits": {GPU: 1}}), (5, {})))
        assert queued(now(), "Job", "big")[0].asks() == 7

    def test_of_another_resource(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("big", (4, {"requests": {GPU: "1", "cpu": "500m"}})))
        assert queued(now(), "Job", "big")[0].asks("cpu") == 2

    def test_only_the_jobs_own(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("one", (1, {})))
        trace.put(workload("one", (2, {}), kind="JobSet"))
        trace.put(workload("two", (3, {})))
        assert [one.life.name for one in queued(now(), "Job", "one")] == ["job-one-1a2b3"]


class TestWhatItWentThrough:
    """Waiting, admitted, evicted, admitted again, finished."""

    @pytest.fixture
    def history(self, trace: Trace) -> list[int]:
        """The order (seq) of what one Workload went through, in this order: see each line."""
        obj = trace.put(workload("train", (4, {"requests": {GPU: 1}})))
        seqs = []

        def step(queue: str = "", **conditions: str) -> None:
            nonlocal obj
            obj = becomes(trace, obj, queue, **conditions)
            seqs.append(trace.history.recorded[-1].seq)

        step(QuotaReserved="False Pending")
        step("team-a", QuotaReserved="True QuotaReserved", Admitted="True Admitted")
        step(QuotaReserved="False Pending", Admitted="False NoReservation", Evicted="True Preempted")
        step(QuotaReserved="False Pending", Admitted="False NoReservation", Evicted="True Preempted")
        step("team-b", QuotaReserved="True QuotaReserved", Admitted="True Admitted", Evicted="False QuotaReserved")
        step("team-b", Admitted="True Admitted", Evicted="True Deactivated")
        step("team-b", Admitted="True Admitted", Finished="True Succeeded")
        return seqs

    def test_waits(self, history: list[int], now: Callable[[], World]) -> None:
        one = queued(now(), "Job", "train")[0]
        assert [when.seq for when, _why in one.waits()] == [history[0], history[2], history[3]]
        assert next(one.waits())[1]["message"] == "Pending it is"

    def test_admissions(self, history: list[int], now: Callable[[], World]) -> None:
        one = queued(now(), "Job", "train")[0]
        first = one.admitted()
        assert first is not None
        assert first.seq == history[1]
        out = one.when("Evicted")
        assert out is not None
        again = one.admitted(since=out)
        assert again is not None
        assert again.seq == history[4]
        assert one.queue == "team-a"

    def test_turns_are_counted_once_each(self, history: list[int], now: Callable[[], World]) -> None:
        one = queued(now(), "Job", "train")[0]
        assert [when.seq for when, _why in one.turns("Evicted")] == [history[2], history[5]]
        assert [when.seq for when, _why in one.turns("Evicted", reason="Preempted")] == [history[2]]

    def test_when_by_reason(self, history: list[int], now: Callable[[], World]) -> None:
        found = queued(now(), "Job", "train")[0].when("Evicted", reason="Deactivated")
        assert found is not None
        assert found.seq == history[5]
        assert queued(now(), "Job", "train")[0].when("Evicted", reason="Else") is None

    def test_admitted_at(self, history: list[int], now: Callable[[], World]) -> None:
        one = queued(now(), "Job", "train")[0]
        assert [one.is_admitted(seq) for seq in history] == [False, True, False, False, True, True, False]
        assert not one.is_admitted(history[0] - 2)

    def test_ends_with_its_job(self, history: list[int], now: Callable[[], World]) -> None:
        ended = queued(now(), "Job", "train")[0].ended
        assert ended is not None
        assert ended.seq == history[-1]

    def test_ends_with_its_deletion(self, trace: Trace, now: Callable[[], World]) -> None:
        obj = becomes(trace, trace.put(workload("gone", (1, {}))), "team-a", Admitted="True Admitted")
        running = trace.history.recorded[-1].seq
        trace.remove(obj)
        one = queued(now(), "Job", "gone")[0]
        assert one.ended == one.life.doomed
        assert one.finished is None
        assert one.is_admitted(running)
        assert not one.is_admitted(trace.history.recorded[-1].seq)

    def test_runs_on(self, trace: Trace, now: Callable[[], World]) -> None:
        becomes(trace, trace.put(workload("on", (1, {}))), "team-a", Admitted="True Admitted")
        assert queued(now(), "Job", "on")[0].ended is None


class TestPriority:
    """What decides about the place in the line, and where it came from."""

    def test_of_a_class(self, trace: Trace, now: Callable[[], World]) -> None:
        obj = workload("high", (1, {}))
        obj["spec"] |= {"priority": 1000, "priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "high"}}
        trace.put(obj)
        one = queued(now(), "Job", "high")[0]
        assert (one.priority, one.priority_from) == (1000, "WorkloadPriorityClass")

    def test_none(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("plain", (1, {})))
        one = queued(now(), "Job", "plain")[0]
        assert (one.priority, one.priority_from, one.queue) == (0, "", "")


class TestWhyNone:
    """A job that Kueue made no Workload for."""

    def test_no_job(self, now: Callable[[], World]) -> None:
        assert why_none(now(), "Job", "first") == "there has been no Job team-a/first yet"

    def test_no_label(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("first", {"app": "x"}))
        assert why_none(now(), "Job", "first").startswith(f"Job team-a/first has no label {QUEUE_LABEL}, ")

    def test_label(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("first", {QUEUE_LABEL: "queue"}))
        assert why_none(now(), "Job", "first") == "there has been no Workload of Job first in team-a yet"

    def test_elsewhere(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("first", {QUEUE_LABEL: "queue"}))
        said = "there has been no Job team-b/first yet (there is Job team-a/first)"
        assert why_none(now(), "Job", "first", "team-b") == said


class TestNoneMade:
    """The verdict on a job without a Workload."""

    def test_no_job(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("other", {}))
        verdict = none_made(now(), "a job", "Job", "first")
        assert not verdict.passed
        assert not verdict.moving, "nothing of it is on its way, whatever else is"
        assert (verdict.finding.wanted, verdict.finding.where, verdict.finding.plain) == ("a job", (), True)
        assert verdict.finding.saw == why_none(now(), "Job", "first")

    def test_no_label_is_the_mistake(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("first", {}))
        verdict = none_made(now(), "a job", "Job", "first")
        assert (verdict.finding.where, verdict.finding.plain) == (("Job team-a/first",), True)
        assert not verdict.moving, "Kueue will never take it in"

    def test_with_a_label_a_cause_is_looked_for(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(job("first", {QUEUE_LABEL: "queue"}))
        verdict = none_made(now(), "a job", "Job", "first")
        assert (verdict.finding.where, verdict.finding.plain) == (("Job team-a/first",), False)
        assert verdict.moving
        trace.wait(3)
        assert not none_made(now(), "a job", "Job", "first").moving


class TestStanding:
    """What became of a job, in words."""

    def test_each_state(self, trace: Trace, now: Callable[[], World]) -> None:
        def said() -> str:
            return standing(queued(now(), "Job", "train")[0], "train")

        obj = trace.put(workload("train", (4, {"requests": {GPU: 1}})))
        assert said() == "train asks for 4 nvidia.com/gpu; Kueue has not looked at it yet"
        obj = becomes(trace, obj, QuotaReserved="False Pending")
        assert said() == "train asks for 4 nvidia.com/gpu; Pending it is"
        obj = becomes(trace, obj, "team-a", Admitted="True Admitted")
        assert said() == "train asks for 4 nvidia.com/gpu; ClusterQueue team-a admitted it"
        becomes(trace, obj, "team-a", Admitted="True Admitted", Finished="True Succeeded")
        assert said() == "train asks for 4 nvidia.com/gpu; it has finished"


class TestUnseen:
    """What a gap in the record may hide."""

    def test_a_change_in_the_gap(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("train", (1, {})))
        trace.gap("Workload", trace.now - 5)
        world = now()
        with pytest.raises(HistoryGap):
            refuse_unseen(world, queued(world, "Job", "train"))

    def test_nothing_changed_in_it(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("train", (1, {})))
        trace.wait(30)
        trace.gap("Workload", trace.now - 5)
        world = now()
        refuse_unseen(world, queued(world, "Job", "train"))


class TestMotion:
    """Whether waiting a little may help."""

    def test_just_now_and_later(self, trace: Trace, now: Callable[[], World]) -> None:
        trace.put(workload("train", (1, {})))
        assert in_motion(now())
        trace.wait(3)
        assert not in_motion(now())

    def test_events_are_no_motion(self, trace: Trace, now: Callable[[], World]) -> None:
        metadata = {"name": "e", "namespace": "team-a"}
        trace.put({"apiVersion": "v1", "kind": "Event", "metadata": metadata})
        assert not in_motion(now())
