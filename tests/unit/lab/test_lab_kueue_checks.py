"""The functions of lab-kueue's checks.py: what a learner's mistakes are answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.i18n import set_language
from grader.checks.python import load
from grader.checks.recorded import Trace
from tests.unit.lab.queues import NAMESPACE, NOT_YET, Kueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.checks.world import World
    from grader.results import Verdict

CHECKS = load(Path(__file__).parents[3] / "labs" / "lab-kueue" / "checks.py")
NEVER = "insufficient quota for nvidia.com/gpu in flavor gpu, current podset request (5) > maximum capacity (4)"
LOST = "LocalQueue team-a doesn't exist"


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


class TestWaitedWhole:
    """A JobSet that waits for quota behind a Job."""

    def look(self, world: World) -> Verdict:
        verdict: Verdict = CHECKS.waited_whole(world, "wide", 4, "first")
        return verdict

    def test_waiting_for_quota(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("first", 2)
        kueue.admit("first")
        kueue.queue("wide", 4, "JobSet")
        kueue.waits("wide")
        assert self.look(now()).passed
        kueue.finish("first")
        kueue.admit("wide")
        assert self.look(now()).passed

    def test_waiting_for_a_queue_is_another_matter(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("first", 2)
        kueue.admit("first")
        kueue.queue("wide", 4, "JobSet")
        kueue.waits("wide", LOST, "Inadmissible")
        verdict = self.look(now())
        assert said(verdict) == f"wide asks for 4 nvidia.com/gpu; {LOST}"
        assert not verdict.finding.plain, "a cause may be looked for"

    def test_another_size_needs_no_cause(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("first", 2)
        kueue.admit("first")
        kueue.queue("wide", 6, "JobSet")
        kueue.waits("wide", NEVER)
        verdict = self.look(now())
        assert said(verdict) == f"wide asks for 6 nvidia.com/gpu; {NEVER}"
        assert verdict.finding.plain

    def test_in_another_namespace(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.job("wide", "JobSet", namespace="old")
        verdict = self.look(now())
        assert said(verdict) == "there has been no JobSet team-a/wide yet (there is JobSet old/wide)"
        assert not verdict.moving


class TestAdmittedAfter:
    def test_right_after_the_first_was_told_to_end(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("first", 2)
        kueue.admit("first")
        kueue.queue("wide", 4, "JobSet")
        kueue.waits("wide")
        kueue.trace.wait(60)
        assert not CHECKS.admitted_after(now(), "wide", "first").moving
        kueue.trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first-x", "namespace": NAMESPACE}})
        verdict = CHECKS.admitted_after(now(), "wide", "first")
        assert said(verdict).startswith("Job first has not completed; wide asks for 4 nvidia.com/gpu; ")
        assert verdict.moving, "its pod changed just now: it may end"


class TestReasonGiven:
    """What Kueue said, copied into a file."""

    def look(self, world: World, text: str) -> Verdict:
        (world.work.root / "waiting.txt").write_text(text, encoding="utf-8")
        fields = {"condition": "QuotaReserved", "reason": "<reason>", "message": "<message>"}
        verdict: Verdict = CHECKS.reason_given(world, "waiting.txt", "wide", "insufficient unused quota", fields)
        return verdict

    @pytest.fixture
    def wide(self, kueue: Kueue) -> None:
        kueue.queue("wide", 4, "JobSet")
        kueue.waits("wide", LOST, "Inadmissible")
        kueue.waits("wide")
        kueue.admit("wide")

    @pytest.mark.usefixtures("wide")
    def test_what_it_said_of_the_quota(self, now: Callable[[], World]) -> None:
        text = f"condition=QuotaReserved\nreason=Pending\nmessage={NOT_YET}\n"
        assert self.look(now(), text).passed

    @pytest.mark.usefixtures("wide")
    @pytest.mark.parametrize(
        ("text", "words", "where"),
        [
            (
                f"condition=QuotaReserved\nreason=Inadmissible\nmessage={LOST}\n",
                (
                    'line 2: reason is not what Kueue said, but "Inadmissible"; '
                    f'line 3: message is not what Kueue said, but "{LOST}"'
                ),
                ("waiting.txt:2", "waiting.txt:3"),
            ),
            (
                f"condition=Admitted\nreason=Pending\nmessage={NOT_YET}\n",
                'line 1: condition is not what Kueue said, but "Admitted"',
                ("waiting.txt:1",),
            ),
            ("reason=Pending\n", "no line for condition, message", ("waiting.txt",)),
            (
                f"condition=QuotaReserved\nreason=Pending\nmessage={NOT_YET}\nwhy=x\n",
                "not asked for: why",
                ("waiting.txt",),
            ),
        ],
    )
    def test_what_is_wrong(self, now: Callable[[], World], text: str, words: str, where: tuple[str, ...]) -> None:
        verdict = self.look(now(), text)
        assert said(verdict) == words
        assert verdict.finding.where == where

    @pytest.mark.parametrize(
        ("given", "passes"), [("never", True), ("Never", True), ("waits", False), ("<never>", False)]
    )
    def test_a_choice(self, kueue: Kueue, now: Callable[[], World], given: str, passes: bool) -> None:
        kueue.queue("never", 5, "JobSet")
        kueue.waits("never", NEVER)
        world = now()
        (world.work.root / "never.txt").write_text(f"verdict={given}\nmessage={NEVER}\n", encoding="utf-8")
        verdict = CHECKS.reason_given(
            world,
            "never.txt",
            "never",
            "maximum capacity",
            {"verdict": "never", "message": "<message>"},
            {"verdict": ["waits", "never"]},
        )
        assert verdict.passed is passes
        if given == "<never>":
            assert said(verdict) == 'verdict is "<never>", neither waits nor never'


class TestClasses:
    """Priorities of two Jobs."""

    def queue(self, kueue: Kueue, name: str, priority: int, kind: str = "WorkloadPriorityClass") -> None:
        kueue.queue(name, 4, priority=priority, priorityClassRef={"kind": kind} if kind else None)

    def test_from_classes(self, kueue: Kueue, now: Callable[[], World]) -> None:
        self.queue(kueue, "low", 100)
        self.queue(kueue, "high", 1000)
        assert CHECKS.classes(now(), "low", "high").passed

    @pytest.mark.parametrize(
        ("low", "kind", "words"),
        [
            (2000, "WorkloadPriorityClass", "the priorities: low 2000, high 1000"),
            (100, "PriorityClass", "the priority of low comes from: PriorityClass"),
            (0, "", "the priority of low comes from: no class"),
        ],
    )
    def test_otherwise(self, kueue: Kueue, now: Callable[[], World], low: int, kind: str, words: str) -> None:
        self.queue(kueue, "low", low, kind)
        self.queue(kueue, "high", 1000)
        verdict = CHECKS.classes(now(), "low", "high")
        assert said(verdict) == words
        assert verdict.finding.plain, "that it waits does not explain where its priority comes from"

    def test_an_earlier_workload_is_no_evidence(self, kueue: Kueue, now: Callable[[], World]) -> None:
        self.queue(kueue, "low", 100)
        self.queue(kueue, "high", 0, "")
        kueue.delete("high")
        kueue.job("high", **{"kueue.x-k8s.io/priority-class": "hihg"})
        verdict = CHECKS.classes(now(), "low", "high")
        assert said(verdict) == "Kueue has made no Workload for Job high"
        assert verdict.finding.where == ("Job team-a/high",)


class TestOvertook:
    """Who goes before whom."""

    def test_high_before_low(self, kueue: Kueue, now: Callable[[], World]) -> None:
        for name in ("low", "high"):
            kueue.queue(name, 4)
            kueue.waits(name)
        verdict = CHECKS.overtook(now(), "low", "high")
        assert said(verdict) == "high is not admitted yet"
        assert verdict.moving
        kueue.admit("high")
        assert CHECKS.overtook(now(), "low", "high").passed

    def test_kueue_has_not_looked_yet(self, kueue: Kueue, now: Callable[[], World]) -> None:
        for name in ("low", "high"):
            kueue.queue(name, 4)
        assert CHECKS.overtook(now(), "low", "high").moving

    def test_low_was_admitted_first(self, kueue: Kueue, now: Callable[[], World]) -> None:
        for name in ("low", "high"):
            kueue.queue(name, 4)
            kueue.waits(name)
        kueue.admit("low")
        verdict = CHECKS.overtook(now(), "low", "high")
        assert said(verdict) == "low was admitted first"
        assert not verdict.moving

    def test_low_was_gone(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("low", 4)
        kueue.waits("low")
        kueue.delete("low")
        kueue.queue("high", 4)
        kueue.waits("high")
        kueue.admit("high")
        assert said(CHECKS.overtook(now(), "low", "high")) == "they did not wait at the same time"

    def test_high_was_first(self, kueue: Kueue, now: Callable[[], World]) -> None:
        for name in ("high", "low"):
            kueue.queue(name, 4)
            kueue.waits(name)
        kueue.admit("high")
        assert said(CHECKS.overtook(now(), "low", "high")) == "high was there before low"


class TestPositions:
    """The places in the line, and no answer in what is said of wrong ones."""

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            ({"job-urgent-1a2b3": 0, "job-low-1a2b3": 1, "job-never-1a2b3": 2}, ""),
            ({"urgent": 0, "job-low-1a2b3": 1, "job-never-1a2b3": 2}, "no Workload of this name waits: urgent"),
            ({"job-urgent-1a2b3": 1, "job-low-1a2b3": 2, "job-never-1a2b3": 3}, "nobody is at place 0"),
            ({"job-urgent-1a2b3": 0, "job-low-1a2b3": 1}, "lines for 2 of 3 waiting Workloads"),
            ({"job-urgent-1a2b3": 0, "job-low-1a2b3": 2, "job-never-1a2b3": 1}, "the places are not"),
        ],
    )
    def test_each(self, kueue: Kueue, now: Callable[[], World], lines: dict[str, int], words: str) -> None:
        for name, priority in (("never", 0), ("low", 100), ("urgent", 1000)):
            kueue.queue(name, 1, priority=priority)
            kueue.trace.wait(1)
        world = now()
        text = "".join(f"workload={name} position={place}\n" for name, place in lines.items())
        (world.work.root / "position.txt").write_text(text, encoding="utf-8")
        verdict = CHECKS.positions(world, "position.txt", "queue", "urgent", 3)
        assert verdict.passed is not bool(words)
        assert words in verdict.finding.saw


class TestWentThrough:
    def test_admitted_and_its_pod_waits(self, kueue: Kueue, now: Callable[[], World]) -> None:
        kueue.queue("probe", 1)
        kueue.admit("probe")
        verdict = CHECKS.went_through(now(), "probe")
        assert said(verdict) == "admitted, and its pod has not ended"
        assert verdict.finding.where == ("Job team-a/probe",), "whose pod may have a cause"
        kueue.finish("probe")
        assert CHECKS.went_through(now(), "probe").passed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('pods "gang-w-0-4" is forbidden: exceeded quota: gpus', "only a part of such a message"),
        ("the quota is full", "no such message, word for word"),
    ],
)
def test_a_refusal_that_is_not_copied(trace: Trace, now: Callable[[], World], text: str, words: str) -> None:
    trace.put(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "gang-w-0.1", "namespace": "old"},
            "involvedObject": {"kind": "Job", "name": "gang-w-0"},
            "reason": "FailedCreate",
            "message": 'Error creating: pods "gang-w-0-4" is forbidden: exceeded quota: gpus, requested: x=1',
        }
    )
    world = now()
    (world.work.root / "refused.txt").write_text(text, encoding="utf-8")
    assert said(CHECKS.refusal_quoted(world, "old", "gang", "refused.txt")) == words


def test_a_gang_in_another_namespace_is_named(kueue: Kueue, now: Callable[[], World]) -> None:
    kueue.job("gang", "JobSet")
    saw = said(CHECKS.half_started(now(), "old", "gang"))
    assert saw == "there has been no JobSet old/gang yet (there is JobSet team-a/gang)"
