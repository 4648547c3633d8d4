"""From changes to lives, rows and groups: with what a real cluster did, and with what it seldom does."""

from __future__ import annotations

from typing import Any

import pytest

from grader.history.model import Gap
from grader.timeline.build import TimelineBuilder
from grader.timeline.model import Phase, Source, Timeline
from tests import histories
from tests.unit.timeline.conftest import T0, Play, group, row, timeline_of

JOB = {"batch.kubernetes.io/job-name": "train-w-0", "batch.kubernetes.io/job-completion-index": "1"}
SET = {"jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/replicatedjob-name": "w"}


class TestLabLws:
    """Step 5: a container of llm-0-1 exits, and LeaderWorkerSet makes group 0 anew."""

    def test_groups_are_those_of_the_set(self, lws: Timeline) -> None:
        assert [(each.kind, each.name, each.part) for each in lws.groups] == [
            ("LeaderWorkerSet", "llm", "group 0"),
            ("LeaderWorkerSet", "llm", "group 1"),
        ]
        assert [[each.label for each in found.rows] for found in lws.groups] == [
            ["llm-0", "llm-0-1"],
            ["llm-1", "llm-1-1"],
        ]

    def test_group_0_ends_and_begins_again(self, lws: Timeline) -> None:
        assert group(lws, "llm", "group 0").recreations == 1
        for label in ("llm-0", "llm-0-1"):
            first, second = row(lws, label).lives
            assert first.uid != second.uid
            assert first.gone is not None
            assert first.gone <= second.born
            phases = [span.phase for span in first.spans]
            assert phases == [Phase.PENDING, Phase.CREATING, Phase.RUNNING, Phase.TERMINATING]
            assert second.spans[-1].phase is Phase.RUNNING
            assert second.gone is None

    def test_group_1_goes_on(self, lws: Timeline) -> None:
        other = group(lws, "llm", "group 1")
        assert (other.recreations, other.restarts) == (0, 0)
        assert all(len(each.lives) == 1 and each.lives[0].gone is None for each in other.rows)

    def test_the_cause_is_the_restart_of_one_container(self, lws: Timeline) -> None:
        restarted = [each.label for _group, each in lws.rows if each.restarts]
        assert restarted == ["llm-0-1"]
        (at,) = row(lws, "llm-0-1").restarts
        assert at < min(row(lws, "llm-0").recreations)

    def test_what_happened_is_said_in_order(self, lws: Timeline) -> None:
        life = row(lws, "llm-0-1").lives[0]
        said = [moment.says for moment in life.moments if moment.source is Source.CHANGE]
        assert said == [
            "created",
            "placed on node lab",
            "container engine runs",
            "phase Pending → Running",
            "ready",
            "container engine ended with exit code 1 (Error)",
            "no longer ready",
            "container engine was started again (restart 1)",
            "ready",
            "its deletion began; it has 1 s to end",
            "container engine ended with exit code 0 (Completed)",
            "phase Running → Succeeded",
            "gone",
        ]
        bad = [moment.says for moment in life.moments if moment.warning and moment.source is Source.CHANGE]
        assert bad == [said[5], said[6], said[7]]

    def test_what_is_said_about_the_set_is_with_its_groups(self, lws: Timeline) -> None:
        for found in lws.groups:
            assert any("deleted leader pod llm-0 to recreate group 0" in moment.says for moment in found.moments)


class TestSpans:
    def test_have_no_holes_and_end_with_the_life(self, lws: Timeline) -> None:
        for _group, each in lws.rows:
            for life in each.lives:
                assert life.spans[0].start == life.born
                assert life.spans[-1].end == life.gone
                for one, other in zip(life.spans, life.spans[1:], strict=False):
                    assert one.end == other.start

    def test_a_deletion_without_a_warning_ends_a_life(self, play: Play) -> None:
        play.pod(0, "a", "ADDED", phase="Running", node="n")
        play.pod(5, "a", "DELETED", phase="Running", node="n")
        (life,) = row(timeline_of(play.changes), "a").lives
        assert [(span.phase, span.start, span.end) for span in life.spans] == [(Phase.RUNNING, T0, T0 + 5)]

    def test_of_what_is_only_seen_as_it_goes(self, play: Play) -> None:
        play.pod(9, "a", "DELETED", phase="Failed", created=3)
        (life,) = row(timeline_of(play.changes), "a").lives
        assert [(span.phase, span.start, span.end) for span in life.spans] == [(Phase.FAILED, T0 + 3, T0 + 9)]

    def test_of_what_was_there_before_the_recorder(self, play: Play) -> None:
        play.pod(20, "old", "ADDED", phase="Running", node="n", created=2)
        play.pod(20, "new", "ADDED", phase="Running", node="n", created=19)
        found = timeline_of(play.changes)
        assert row(found, "old").lives[0].born == T0 + 2
        assert row(found, "new").lives[0].born == T0 + 20, "whole seconds of the API are coarser than what was seen"

    @pytest.mark.parametrize(
        ("fields", "phase"),
        [
            ({"phase": "Pending"}, Phase.PENDING),
            ({"phase": "Pending", "node": "n"}, Phase.CREATING),
            ({"phase": "Running", "node": "n"}, Phase.RUNNING),
            ({"phase": "Succeeded", "node": "n"}, Phase.SUCCEEDED),
            ({"phase": "Failed", "node": "n"}, Phase.FAILED),
            ({"phase": "Failed", "node": "n", "doomed": True}, Phase.TERMINATING),
            ({"phase": "Unknown", "node": "n"}, Phase.UNKNOWN),
        ],
    )
    def test_phases(self, play: Play, fields: dict[str, Any], phase: Phase) -> None:
        play.pod(0, "a", "ADDED", **fields)
        assert row(timeline_of(play.changes, more=1), "a").lives[0].phase_at(T0 + 0.5) is phase


class TestRows:
    def test_a_successor_of_the_same_name_goes_on_in_the_row(self, play: Play) -> None:
        play.pod(0, "llm-0", "ADDED", uid="1")
        play.pod(5, "llm-0", "DELETED", uid="1")
        play.pod(6, "llm-0", "ADDED", uid="2")
        found = row(timeline_of(play.changes), "llm-0")
        assert [life.uid for life in found.lives] == ["1", "2"]
        assert found.recreations == (T0 + 6,)
        assert (found.life_at(T0 + 1) or found.lives[1]).uid == "1"
        assert found.life_at(T0 + 5.5) is None

    def test_an_index_has_one_row_whatever_its_pods_are_called(self, play: Play) -> None:
        for second, name, attempt in ((0, "train-w-0-1-abcde", "0"), (8, "train-w-0-1-fghij", "1")):
            marks = {**JOB, **SET, "jobset.sigs.k8s.io/restart-attempt": attempt}
            play.pod(second, name, "ADDED", labels=marks)
            play.pod(second + 5, name, "DELETED", labels=marks)
        found = timeline_of(play.changes)
        assert row(found, "w-0-1").recreations == (T0 + 8,)
        assert group(found, "train", "w").attempts == ("0", "1")

    def test_pods_of_a_job_without_indexes_have_a_row_each(self, play: Play) -> None:
        marks = {"batch.kubernetes.io/job-name": "eval"}
        play.pod(0, "eval-zz", "ADDED", labels=marks)
        play.pod(3, "eval-aa", "ADDED", labels=marks)
        (found,) = timeline_of(play.changes).groups
        assert (found.kind, found.name) == ("Job", "eval")
        assert [each.label for each in found.rows] == ["eval-zz", "eval-aa"], "in the order they came"

    def test_numbers_sort_as_numbers(self, play: Play) -> None:
        for number in (10, 9, 2):
            marks = {"leaderworkerset.sigs.k8s.io/name": "s", "leaderworkerset.sigs.k8s.io/group-index": str(number)}
            play.pod(0, f"s-{number}", "ADDED", labels=marks)
        assert [each.part for each in timeline_of(play.changes).groups] == ["group 2", "group 9", "group 10"]

    def test_a_deployment_stands_for_its_replica_sets(self, play: Play) -> None:
        for stamp in ("77", "99"):
            owner = {"kind": "ReplicaSet", "name": f"web-{stamp}", "uid": stamp, "controller": True}
            play.pod(0, f"web-{stamp}-x", "ADDED", labels={"pod-template-hash": stamp}, owners=[owner])
        (found,) = timeline_of(play.changes).groups
        assert (found.kind, found.name, len(found.rows)) == ("Deployment", "web", 2)


class TestWorkloads:
    @staticmethod
    def workload(play: Play, seconds: float, conditions: list[dict[str, str]], verb: str = "MODIFIED") -> None:
        owner = {"kind": "Job", "name": "big", "uid": "uid-job", "controller": True}
        meta = {"name": "job-big-1a2b3", "namespace": "lab", "uid": "uid-wl", "ownerReferences": [owner]}
        obj = {"metadata": meta, "spec": {"queueName": "small"}, "status": {"conditions": conditions}}
        play.change(seconds, "Workload", verb, obj, "kueue.x-k8s.io/v1beta2")

    def test_stand_above_the_pods_they_are_for(self, play: Play) -> None:
        self.workload(play, 0, [], "ADDED")
        self.workload(play, 5, [{"type": "QuotaReserved", "status": "True", "message": "there is room"}])
        admitted = [{"type": "QuotaReserved", "status": "True"}, {"type": "Admitted", "status": "True"}]
        self.workload(play, 6, admitted)
        play.pod(7, "big-x", "ADDED", labels={"batch.kubernetes.io/job-name": "big"})
        play.pod(8, "big-x", phase="Running", node="n", labels={"batch.kubernetes.io/job-name": "big"})
        (found,) = timeline_of(play.changes).groups
        assert [(each.kind, each.label) for each in found.rows] == [("Workload", "quota"), ("Pod", "big-x")]
        phases = [span.phase for span in found.rows[0].lives[0].spans]
        assert phases == [Phase.QUEUED, Phase.RESERVED, Phase.ADMITTED]
        said = [moment.says for moment in found.rows[0].moments]
        assert said[:2] == ["created, for queue small", "QuotaReserved=True: there is room"]

    def test_an_eviction_is_bad_news(self, play: Play) -> None:
        self.workload(play, 0, [{"type": "Admitted", "status": "True"}], "ADDED")
        evicted = {"type": "Evicted", "status": "True", "message": "Preempted to accommodate a workload"}
        self.workload(play, 5, [{"type": "Admitted", "status": "False"}, evicted])
        (found,) = timeline_of(play.changes).groups
        assert [moment.says for moment in found.rows[0].moments if moment.warning] == [
            "Evicted=True: Preempted to accommodate a workload"
        ]

    def test_those_of_the_scheduler_are_others(self, play: Play) -> None:
        meta = {"name": "w", "namespace": "lab", "uid": "u"}
        play.change(0, "Workload", "ADDED", {"metadata": meta}, "scheduling.k8s.io/v1alpha1")
        assert timeline_of(play.changes).groups == ()


class TestRealJobSetAndQueues:
    def test_each_restart_of_a_jobset_is_an_attempt(self) -> None:
        found = group(timeline_of(histories.load("lab-jobset"), "team-a"), "train", "worker")
        assert len(found.attempts) > 1
        assert all(len(each.lives) == len(found.attempts) for each in found.rows if each.kind == "Pod")

    def test_a_workload_waits_and_is_admitted(self) -> None:
        found = timeline_of(histories.load("lab-cohort"), "team-a")
        rows = [each for _group, each in found.rows if each.kind == "Workload"]
        phases = {span.phase for each in rows for life in each.lives for span in life.spans}
        assert {Phase.QUEUED, Phase.ADMITTED} <= phases


class TestFollowing:
    def test_in_pieces_is_as_in_one(self) -> None:
        changes = histories.load("lab-lws")
        builder = TimelineBuilder("infer")
        for change in changes:
            builder.add([change])
            builder.timeline(change.at, live=True)
        assert builder.timeline(changes[-1].at, live=False) == timeline_of(changes, "infer")

    def test_the_end_moves_on_although_nothing_happens(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        found = timeline_of(play.changes, live=True, more=60)
        assert (found.start, found.end) == (T0, T0 + 60)

    def test_a_short_history_is_not_blown_up(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        found = timeline_of(play.changes)
        assert found.end - found.start == 10.0

    def test_nothing_at_all(self) -> None:
        found = timeline_of([])
        assert (found.groups, found.end) == ((), T0)

    def test_gaps_are_kept_with_their_reason(self, play: Play) -> None:
        play.pod(10, "a", "ADDED")
        gaps = (Gap("Pod", T0 + 20, T0 + 25, "expired"), Gap("*", 0.0, T0 + 5, "damaged"))
        found = timeline_of(play.changes, gaps=gaps, more=30)
        assert [(gap.start, gap.end) for gap in found.unseen] == [(T0 + 20, T0 + 25)], "one before all pods hides none"
        assert "no longer had the changes" in found.unseen[0].says
        assert found.was_unseen(T0 + 24, T0 + 26)
        assert not found.was_unseen(T0 + 25, T0 + 26)


def test_an_event_that_is_forgotten_did_happen(play: Play) -> None:
    play.pod(0, "a", "ADDED")
    event = {
        "metadata": {"name": "a.1", "namespace": "lab", "uid": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "a", "uid": "uid-a"},
        "type": "Warning",
        "reason": "BackOff",
        "message": "again",
    }
    play.change(2, "Event", "ADDED", event)
    play.change(3, "Event", "MODIFIED", event)
    play.change(9, "Event", "DELETED", event)
    moments = [moment for moment in row(timeline_of(play.changes), "a").moments if moment.source is Source.EVENT]
    assert [(moment.at - T0, moment.says, moment.warning) for moment in moments] == [
        (2, "BackOff: again", True),
        (3, "BackOff: again", True),
    ]
