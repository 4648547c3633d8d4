"""The functions of lab-cohort's checks.py: what a learner's mistakes are answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.i18n import set_language
from grader.checks.python import load
from grader.checks.recorded import Trace
from tests.unit.lab.queues import NAMESPACE, Kueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.checks.world import World
    from grader.results import Verdict

CHECKS = load(Path(__file__).parents[3] / "labs" / "lab-cohort" / "checks.py")
AT_MOST_5 = "insufficient quota for nvidia.com/gpu in flavor gpu, current podset request (6) > maximum capacity (5)"
AT_MOST_4 = AT_MOST_5.replace("(5)", "(4)")


@pytest.fixture
def trace() -> Trace:
    return Trace()


@pytest.fixture
def kueue(trace: Trace) -> Kueue:
    return Kueue(trace)


@pytest.fixture
def now(trace: Trace, tmp_path: Path) -> Iterator[Callable[[], World]]:
    yield lambda: trace.world(tmp_path, namespace=NAMESPACE)
    set_language("en")


def said(verdict: Verdict) -> str:
    assert not verdict.passed
    return verdict.finding.saw


def cluster_queue(trace: Trace, name: str, *, quota: dict[str, Any] | None = None, **parts: Any) -> None:
    resource = {"name": "nvidia.com/gpu", "nominalQuota": "4"} | (quota or {})
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "gpu", "resources": [resource]}]}
    status = parts.pop("status", {})
    trace.put(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ClusterQueue",
            "metadata": {"name": name, "uid": f"uid-of-{name}"},
            "spec": {"cohortName": "ml", "resourceGroups": [group], **parts},
            "status": status,
        }
    )


class TestKeptOut:
    def test_the_limit_as_it_is_now_is_told(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("six", 6, "JobSet")
        kueue.admit("six")
        cluster_queue(kueue.trace, "team-a")
        saw = said(CHECKS.kept_out(now(), "six", 6, "team-a", 5))
        assert saw == "six asks for 6 nvidia.com/gpu; ClusterQueue team-a admitted it; its borrowingLimit now: none"
        cluster_queue(kueue.trace, "team-a", quota={"borrowingLimit": "1"})
        assert said(CHECKS.kept_out(now(), "six", 6, "team-a", 5)).endswith("; its borrowingLimit now: 1")

    def test_kept_out(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("six", 6, "JobSet")
        kueue.waits("six", AT_MOST_4)
        assert not CHECKS.kept_out(now(), "six", 6, "team-a", 5).passed
        kueue.waits("six", AT_MOST_5)
        assert CHECKS.kept_out(now(), "six", 6, "team-a", 5).passed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (AT_MOST_5, ""),
        ("maximum capacity (5)", "only a part of the message"),
        (AT_MOST_4, "what was said at another time, before the limit"),
        ("it may have five", "no such message"),
    ],
)
def test_the_message_that_is_quoted(kueue: Kueue, now: Callable[[], World], text: str, words: str) -> None:
    kueue.queue("six", 6, "JobSet")
    kueue.waits("six", AT_MOST_4)
    kueue.waits("six", AT_MOST_5)
    world = now()
    (world.work.root / "limit.txt").write_text(text, encoding="utf-8")
    verdict = CHECKS.quoted(world, "limit.txt", "six", 5)
    assert (verdict.passed, verdict.finding.saw) == (not words, words)


class TestPreempted:
    """Who had to go for whom, and by which rule."""

    def look(self, world: World, reason: str = "InCohortReclamation", field: str = "reclaimWithinCohort") -> Verdict:
        verdict: Verdict = CHECKS.preempted(
            world,
            {"name": "extra"},
            {"name": "owner", "namespace": "team-b"},
            {"name": "base"},
            reason,
            {"queue": "team-b", "field": field},
        )
        return verdict

    @pytest.fixture
    def begun(self, kueue: Kueue) -> None:
        """`owner` waits for what `extra` has borrowed."""
        for name, gpus in (("base", 4), ("extra", 2)):
            kueue.queue(name, gpus)
            kueue.admit(name)
        kueue.queue("owner", 4, namespace="team-b")
        kueue.waits("owner")

    @pytest.mark.usefixtures("begun")
    def test_reclaimed(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.preempt("extra", "InCohortReclamation", "owner")
        kueue.admit("owner", "team-b")
        assert self.look(now()).passed

    @pytest.mark.usefixtures("begun")
    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_the_reason_is_not_given_away(self, now: Callable[[], World], language: str) -> None:
        set_language(language)
        verdict = self.look(now())
        assert not verdict.passed
        assert "InCohortReclamation" not in verdict.finding.wanted + verdict.finding.saw

    @pytest.mark.usefixtures("begun")
    @pytest.mark.parametrize(
        ("preemption", "words"),
        [
            ({}, "; reclaimWithinCohort of ClusterQueue team-b is Never"),
            ({"reclaimWithinCohort": "Never"}, "; reclaimWithinCohort of ClusterQueue team-b is Never"),
            ({"reclaimWithinCohort": "LowerPriority"}, "; priorities: owner 0, extra 0"),
            ({"reclaimWithinCohort": "Any"}, ""),
        ],
    )
    def test_what_keeps_it_from_happening(
        self, kueue: Kueue, now: Callable[[], World], preemption: dict[str, str], words: str
    ) -> None:
        cluster_queue(kueue.trace, "team-a", preemption={"reclaimWithinCohort": "Any"})
        cluster_queue(kueue.trace, "team-b", preemption=preemption)
        verdict = self.look(now())
        assert said(verdict) == f"job-extra-1a2b3 has not been preempted{words}"
        assert verdict.moving

    def test_the_winner_is_in_the_wrong_namespace(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("extra", 2)
        kueue.queue("owner", 4)
        verdict = self.look(now())
        assert said(verdict) == "there has been no Job team-b/owner yet (there is Job team-a/owner)"
        assert verdict.finding.where == ()


class TestMetrics:
    """What waits and what is in, by the ClusterQueues' own status."""

    def look(self, world: World, text: str) -> Verdict:
        (world.work.root / "metrics.txt").write_text(text, encoding="utf-8")
        verdict: Verdict = CHECKS.metrics_told(world, "metrics.txt", ["team-a", "team-b"])
        return verdict

    def stand(self, trace: Trace, pending: int) -> None:
        cluster_queue(trace, "team-a", status={"pendingWorkloads": pending, "admittedWorkloads": 1})
        cluster_queue(trace, "team-b", status={"admittedWorkloads": 1})

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("queue=team-b pending=0 admitted=1\nqueue=team-a pending=2 admitted=1\n", ""),
            ("queue=team-a pending=0 admitted=1\nqueue=team-b pending=0 admitted=1\n", "not the numbers of team-a"),
            ("queue=team-a pending=2 admitted=1\n", "lines for: team-a"),
            ("team-a pending=2 admitted=1\n", "line 1 is not a new queue=… pending=<number> admitted=<number>"),
            ("queue=team-a, pending=2, admitted=1\n", "line 1 is not a new"),
            ("queue=team-a pending=2 admitted=1\nqueue=team-a pending=2 admitted=1\n", "line 2 is not a new"),
        ],
    )
    def test_each(self, trace: Trace, now: Callable[[], World], text: str, words: str) -> None:
        self.stand(trace, 2)
        verdict = self.look(now(), text)
        assert verdict.passed is not bool(words)
        assert words in verdict.finding.saw

    def test_nobody_waits(self, trace: Trace, now: Callable[[], World]) -> None:
        self.stand(trace, 0)
        text = "queue=team-a pending=0 admitted=1\nqueue=team-b pending=0 admitted=1\n"
        assert said(self.look(now(), text)) == "nobody waits, and nobody waited when the file was written"


def test_a_log_that_is_not_there_comes_from_the_player(now: Callable[[], World]) -> None:
    saw = said(CHECKS.went_on(now(), "train", "train.log"))
    assert saw == "train.log does not exist; play.sh writes it while a pod of the Job runs"
