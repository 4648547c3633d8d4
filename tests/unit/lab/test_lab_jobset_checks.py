"""The functions of lab-jobset's checks.py: counted restarts, quoted events, noted podsets."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.i18n import set_language
from grader.checks.python import load
from grader.checks.recorded import Trace
from grader.checks.words import clock
from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.objects import Object
    from grader.checks.world import World

CHECKS = load(Path(__file__).parents[3] / "labs" / "lab-jobset" / "checks.py")
NAMESPACE = "team-a"
LABELS = {"jobset.sigs.k8s.io/jobset-name": "train"}
MESSAGE = "applying RestartJobSet failure policy action (first failed job: train-worker-0)"


def named(api_version: str, kind: str, name: str, **parts: Any) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": LABELS} | parts.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


jobset = partial(named, "jobset.x-k8s.io/v1alpha2", "JobSet", "train")
job = partial(named, "batch/v1", "Job", "train-worker-0")
pod = partial(named, "v1", "Pod", "train-worker-0-0-x")


def failed_pod(of: Object) -> Object:
    return pod(
        metadata={"ownerReferences": [{"kind": "Job", "name": "train-worker-0", "uid": of["metadata"]["uid"]}]},
        status={"phase": "Failed", "containerStatuses": [{"name": "train", "restartCount": 0}]},
    )


def event(message: str = MESSAGE, name: str = "train", reason: str = "RestartJobSetFailurePolicyAction") -> Object:
    return named(
        "v1", "Event", f"{name}.18", involvedObject={"kind": "JobSet", "name": name}, reason=reason, message=message
    )


@pytest.fixture
def trace() -> Trace:
    return Trace()


@pytest.fixture
def world(trace: Trace, tmp_path: Path) -> Iterator[World]:
    yield trace.world(tmp_path, namespace=NAMESPACE)
    set_language("en")


class TestRestartCounted:
    def test_counted_and_for_ever(self, trace: Trace, world: World) -> None:
        first = trace.put(jobset(status={"restarts": 0}))
        trace.put(first | {"status": {"restarts": 1}})
        assert CHECKS.restart_counted(world, "train").passed

    def test_counted_once_more(self, trace: Trace, world: World) -> None:
        first = trace.put(jobset())
        trace.put(first | {"status": {"restarts": 1}})
        trace.remove(first)
        assert CHECKS.restart_counted(world, "train").passed

    def test_nothing_failed(self, trace: Trace, world: World) -> None:
        trace.put(jobset(status={"restarts": 0}))
        trace.put(pod(status={"phase": "Running"}))
        verdict = CHECKS.restart_counted(world, "train")
        assert (verdict.passed, verdict.moving) == (False, False)
        assert verdict.finding.saw == "no pod of JobSet team-a/train has failed yet"
        assert (verdict.finding.where, verdict.finding.plain) == (("JobSet team-a/train",), True)

    def test_restarted_in_place(self, trace: Trace, world: World) -> None:
        trace.put(jobset(status={"restarts": 0}))
        statuses = [{"name": "train", "restartCount": 1}]
        trace.put(pod(spec={"restartPolicy": "OnFailure"}, status={"phase": "Running", "containerStatuses": statuses}))
        verdict = CHECKS.restart_counted(world, "train")
        assert "in place (restartPolicy OnFailure)" in verdict.finding.saw
        assert not verdict.moving

    def test_retried_by_the_job(self, trace: Trace, world: World) -> None:
        trace.put(jobset(status={"restarts": 0}))
        trace.put(failed_pod(trace.put(job(spec={"backoffLimit": 6}))))
        verdict = CHECKS.restart_counted(world, "train")
        assert "Job team-a/train-worker-0 may make up for 6 pods (backoffLimit)" in verdict.finding.saw
        assert not verdict.moving

    def test_on_its_way(self, trace: Trace, world: World) -> None:
        trace.put(jobset(status={"restarts": 0}))
        trace.put(failed_pod(trace.put(job(spec={"backoffLimit": 0}))))
        assert CHECKS.restart_counted(world, "train").moving

    def test_over(self, trace: Trace, world: World) -> None:
        condition = {"type": "Failed", "status": "True", "message": "jobset failed due to failed jobs"}
        trace.put(jobset(status={"restarts": 0, "conditions": [condition]}))
        failed = [{"type": "Failed", "status": "True"}]
        trace.put(failed_pod(trace.put(job(spec={"backoffLimit": 6}, status={"conditions": failed}))))
        verdict = CHECKS.restart_counted(world, "train")
        assert verdict.finding.saw == "JobSet team-a/train is over: jobset failed due to failed jobs"
        assert not verdict.moving

    def test_made_anew(self, trace: Trace, world: World) -> None:
        trace.remove(trace.put(jobset(status={"restarts": 0})))
        born = "2025-11-30T10:53:20Z"
        trace.put(jobset(metadata={"creationTimestamp": born}, status={"restarts": 1}))
        verdict = CHECKS.restart_counted(world, "train")
        since = clock(datetime.fromisoformat(born).timestamp())
        assert verdict.finding.saw.startswith(
            f"no pod of JobSet team-a/train has failed since it was made anew at {since}"
        )
        assert not verdict.moving

    def test_a_gap_may_hide_it(self, trace: Trace, world: World) -> None:
        trace.put(jobset(status={"restarts": 0}))
        trace.gap("JobSet", trace.now - 1)
        with pytest.raises(HistoryGap):
            CHECKS.restart_counted(world, "train")


class TestQuotesEvent:
    def look(self, world: World, text: str) -> Any:
        (world.work.root / "reason.txt").write_text(text)
        arguments = ("reason.txt", "JobSet", "train", "RestartJobSetFailurePolicyAction")
        return CHECKS.quotes_event(world, *arguments)

    def test_an_event_that_is_there_or_was(self, trace: Trace, world: World, tmp_path: Path) -> None:
        there = trace.put(event())
        assert self.look(world, f"Warning: {MESSAGE}\n").passed
        trace.remove(there)
        assert self.look(trace.world(tmp_path, namespace=NAMESPACE), MESSAGE).passed

    @pytest.mark.parametrize(
        ("text", "saw"),
        [
            ("a worker failed", 'reason.txt says "a worker failed"'),
            (
                MESSAGE[: MESSAGE.index("train")] + "leader",
                'reason.txt quotes it as far as "…failure policy action (first failed job:", then it says "leader"',
            ),
        ],
    )
    def test_other_words(self, text: str, saw: str, trace: Trace, world: World) -> None:
        trace.put(event())
        verdict = self.look(world, text)
        assert not verdict.passed
        assert verdict.finding.saw == saw

    @pytest.mark.parametrize("other", [event(name="other"), event(reason="JobCreationFailed")])
    def test_other_events(self, other: Object, trace: Trace, world: World) -> None:
        trace.put(other)
        verdict = self.look(world, MESSAGE)
        assert verdict.finding.saw == "JobSet team-a/train has no event RestartJobSetFailurePolicyAction"

    def test_no_file(self, world: World) -> None:
        assert not CHECKS.quotes_event(world, "reason.txt", "JobSet", "train", "x").passed


class TestPodsetsNoted:
    WORKLOAD = named(
        "kueue.x-k8s.io/v1beta2",
        "Workload",
        "jobset-train-0f3e1",
        metadata={"ownerReferences": [{"kind": "JobSet", "name": "train"}]},
        spec={"podSets": [{"name": "leader", "count": 1}, {"name": "worker", "count": 2}]},
    )

    def look(self, trace: Trace, tmp_path: Path, text: str) -> Any:
        path = tmp_path / "podsets.txt"
        path.write_text(text)
        os.utime(path, (trace.now, trace.now))
        return CHECKS.podsets_noted(trace.world(tmp_path, namespace=NAMESPACE), "podsets.txt", "train")

    @pytest.mark.parametrize(
        "text",
        [
            "podset=leader count=1\npodset=worker count=2\n",
            "# roles\r\ncount=2   podset=worker\r\n\r\npodset=leader count=1",
        ],
    )
    def test_right(self, text: str, trace: Trace, tmp_path: Path) -> None:
        trace.put(self.WORKLOAD)
        assert self.look(trace, tmp_path, text).passed

    @pytest.mark.parametrize(
        ("text", "extra", "missing"),
        [
            ("podset=leader count=1\n", "", 1),
            ("podset=leader count=1\npodset=worker count=1\n", '"podset=worker count=1"', 1),
            ("podset=leader count=1\npodset=worker count=2\ntotal=3\n", '"total=3"', 0),
            ("podset=leader count=1\npodset=leader count=1\npodset=worker count=2\n", '"podset=leader count=1"', 0),
        ],
    )
    def test_wrong(self, text: str, extra: str, missing: int, trace: Trace, tmp_path: Path) -> None:
        trace.put(self.WORKLOAD)
        saw = self.look(trace, tmp_path, text).finding.saw
        parts = [f"lines that are no podset of it: {extra}"] if extra else []
        parts += [f"podsets without a line: {missing}"] if missing else []
        assert saw == "; ".join(parts)

    def test_as_it_was_when_written(self, trace: Trace, tmp_path: Path) -> None:
        there = trace.put(self.WORKLOAD)
        assert self.look(trace, tmp_path, "podset=leader count=1\npodset=worker count=2\n").passed
        trace.wait(5)
        trace.remove(there)
        world = trace.world(tmp_path, namespace=NAMESPACE)
        assert CHECKS.podsets_noted(world, "podsets.txt", "train").passed

    def test_no_workload(self, trace: Trace, tmp_path: Path) -> None:
        saw = self.look(trace, tmp_path, "podset=leader count=1\n").finding.saw
        assert saw == "there is no Workload of JobSet train in team-a"


def test_every_sentence_in_both_languages(world: World) -> None:
    words = CHECKS.WORDS
    assert all(set(each) == {"en", "ko"} for each in words.values())
    set_language("ko")
    assert CHECKS.say("none", set="JobSet train") == "JobSet train: 아직 실패한 파드가 없습니다"
