"""The functions of lab-topology's checks.py: where pods stood, and what a learner's mistakes are answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.i18n import set_language
from grader.checks.python import load
from grader.checks.recorded import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.checks.objects import Object
    from grader.checks.world import World
    from grader.results import Verdict

CHECKS = load(Path(__file__).parents[3] / "labs" / "lab-topology" / "checks.py")
NAMESPACE = "team-a"
RACKS = {"gpu-a": "r1", "gpu-b": "r2", "gpu-c": "r3", "gpu-d": "r1", "gpu-e": "r2", "gpu-f": "r3"}
REFUSED = "0/6 nodes are available: 6 node(s) didn't match pod anti-affinity rules."


class Racks:
    """Six nodes in three racks, and pods that come to stand on them."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        for node, rack in RACKS.items():
            trace.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": {CHECKS.RACK: rack}}})

    def job(self, name: str, *nodes: str, placed: bool = True, **template: Any) -> list[Object]:
        """A Job, and a running pod on each of the nodes; `placed`: by Kueue."""
        meta = {"name": name, "namespace": NAMESPACE}
        spec = {"template": {"metadata": template, "spec": {}}}
        self.trace.put({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec})
        notes = {"kueue.x-k8s.io/workload": "w"} if placed else {}
        return [
            self.pod(f"{name}-{number}", node, labels={"job-name": name}, annotations=notes)
            for number, node in enumerate(nodes)
        ]

    def pairs(self, *places: tuple[str, ...], replicas: int = 4) -> None:
        """The JobSet `pairs`, and for each Job pods on these nodes; an empty name is a pod that finds none."""
        spec = {"replicatedJobs": [{"name": "w", "replicas": replicas}]}
        meta = {"name": "pairs", "namespace": NAMESPACE}
        self.trace.put({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta, "spec": spec})
        for job, nodes in enumerate(places):
            for number, node in enumerate(nodes):
                self.pod(f"pairs-w-{job}-{number}", node, labels={CHECKS.JOBSET: "pairs", CHECKS.JOB_INDEX: str(job)})

    def pod(self, name: str, node: str, **metadata: Any) -> Object:
        meta = {"name": name, "namespace": NAMESPACE, **metadata}
        status = {"type": "PodScheduled", "status": "True"}
        if not node:
            status = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": REFUSED}
        return self.trace.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": meta,
                "spec": {"nodeName": node} if node else {},
                "status": {"phase": "Running" if node else "Pending", "conditions": [status]},
            }
        )


@pytest.fixture
def trace() -> Trace:
    return Trace()


@pytest.fixture
def racks(trace: Trace) -> Racks:
    return Racks(trace)


@pytest.fixture
def now(trace: Trace, tmp_path: Path) -> Iterator[Callable[[], World]]:
    yield lambda: trace.world(tmp_path, namespace=NAMESPACE)
    set_language("en")


def said(verdict: Verdict) -> str:
    assert not verdict.passed
    return verdict.finding.saw


def test_scattered_counts_also_when_the_job_is_gone(racks: Racks, now: Callable[[], World]) -> None:
    assert said(CHECKS.scattered(now(), "loose", 3)) == "there has been no Job loose yet"
    pods = racks.job("loose", "gpu-a", "gpu-b", "gpu-d", placed=False)
    assert CHECKS.scattered(now(), "loose", 3).passed
    for pod in pods:
        racks.trace.remove(pod)
    assert CHECKS.scattered(now(), "loose", 3).passed


def test_in_one_rack_is_not_scattered(racks: Racks, now: Callable[[], World]) -> None:
    racks.job("loose", "gpu-a", "gpu-d", "gpu-a", placed=False)
    assert said(CHECKS.scattered(now(), "loose", 3)) == "all of them in one rack"
    set_language("ko")
    assert said(CHECKS.scattered(now(), "loose", 3)) == "모두 한 랙에 있습니다"


def test_too_few_pods_are_told(racks: Racks, now: Callable[[], World]) -> None:
    racks.job("loose", "gpu-a", "gpu-b", placed=False)
    assert said(CHECKS.scattered(now(), "loose", 3)) == "never 3 of its pods at once; 2 run now"


@pytest.mark.parametrize(
    ("text", "saw"),
    [
        ("rack=r1 pods=2\nrack=r2 pods=1\n", None),
        ("# mine\n pods=1   rack=r2\n\nrack=r1 pods=2", None),
        ("rack=r1 pods=1\nrack=r2 pods=2\n", "numbers that are not those of its pods"),
        ("rack=r1 pods=2\n", "2 pods in all, the Job has 3"),
        ("rack=r1 pods=2\nrack=rx pods=1\n", "there is no rack rx"),
        ("rack=r1 pods=two\n", 'line 1: "rack=r1 pods=two"'),
        ("r1 2\n", 'line 1: "r1 2"'),
        ("rack=r1 pods=1\nrack=r1 pods=2\n", "line 2: r1 again"),
    ],
)
def test_counts_of_each_rack(
    racks: Racks, now: Callable[[], World], tmp_path: Path, text: str, saw: str | None
) -> None:
    racks.job("loose", "gpu-a", "gpu-b", "gpu-d", placed=False)
    (tmp_path / "loose.txt").write_text(text)
    verdict = CHECKS.racks_told(now(), "loose.txt", "loose", 3)
    assert verdict.passed if saw is None else said(verdict) == saw


def test_levels(trace: Trace, now: Callable[[], World]) -> None:
    wanted = ["b", "r", "h"]

    def topology(*levels: str) -> Verdict:
        trace.cluster.objects.clear()
        spec = {"levels": [{"nodeLabel": level} for level in levels]}
        trace.put({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "t"}, "spec": spec})
        verdict: Verdict = CHECKS.levels(now(), "t", wanted)
        return verdict

    assert said(CHECKS.levels(now(), "t", wanted)) == "there is no Topology t"
    assert topology("b", "r", "h").passed
    assert said(topology("r", "b", "h")) == "these levels in another order"
    assert said(topology("b", "h")) == "2 levels"
    assert said(topology("b", "x", "h")) == "a level x"


class TestPlaced:
    def test_together(self, racks: Racks, now: Callable[[], World]) -> None:
        racks.job("tight", "gpu-a", "gpu-d", "gpu-a")
        assert CHECKS.together(now(), "tight", 3).passed

    def test_in_two_racks(self, racks: Racks, now: Callable[[], World]) -> None:
        racks.job("tight", "gpu-a", "gpu-b", "gpu-a")
        assert said(CHECKS.together(now(), "tight", 3)) == "they stand in 2 racks"

    def test_by_chance_without_kueue(self, racks: Racks, now: Callable[[], World]) -> None:
        racks.job("tight", "gpu-a", "gpu-d", "gpu-a", placed=False)
        assert said(CHECKS.together(now(), "tight", 3)) == "its pods did not come through Kueue"

    @pytest.mark.parametrize(
        ("text", "saw"),
        [
            ("rack=r1\n", None),
            ("rack=r2\n", "its pods stood elsewhere than in r2"),
            ("rack=r1\nrack=r2\n", "not one line rack=…"),
            ("node=gpu-a\n", "not one line rack=…"),
        ],
    )
    def test_its_rack(self, racks: Racks, now: Callable[[], World], tmp_path: Path, text: str, saw: str | None) -> None:
        racks.job("tight", "gpu-a", "gpu-d")
        (tmp_path / "tight.txt").write_text(text)
        verdict = CHECKS.rack_told(now(), "tight.txt", "tight", 2)
        assert verdict.passed if saw is None else saw in said(verdict).replace('"', "")

    def test_preferred(self, racks: Racks, now: Callable[[], World]) -> None:
        racks.job("roomy", "gpu-a", "gpu-b", annotations={CHECKS.PREFERRED: CHECKS.RACK})
        assert CHECKS.preferred(now(), "roomy", 2, 2, CHECKS.RACK).passed

    def test_required_is_not_preferred(self, racks: Racks, now: Callable[[], World]) -> None:
        racks.job("roomy", "gpu-a", "gpu-b", annotations={"other": CHECKS.RACK})
        assert said(CHECKS.preferred(now(), "roomy", 2, 2, CHECKS.RACK)) == "its pod template does not prefer a rack"


class TestExclusive:
    def look(self, world: World) -> Verdict:
        verdict: Verdict = CHECKS.exclusive(world, "pairs", 4, 2, 3)
        return verdict

    def test_three_run_and_one_waits(self, racks: Racks, now: Callable[[], World], tmp_path: Path) -> None:
        racks.pairs(("gpu-a", "gpu-d"), ("",), ("gpu-b", "gpu-b"), ("gpu-f", "gpu-c"))
        assert self.look(now()).passed
        (tmp_path / "fourth.txt").write_text(REFUSED.replace(" ", "\n", 3))
        assert CHECKS.fourth_quoted(now(), "fourth.txt", "pairs").passed
        (tmp_path / "fourth.txt").write_text("0/6 nodes are available: too few")
        assert said(CHECKS.fourth_quoted(now(), "fourth.txt", "pairs")).startswith("fourth.txt quotes it as far as")

    @pytest.mark.parametrize(
        ("places", "saw"),
        [
            (
                (("gpu-a", "gpu-d"), ("gpu-a", "gpu-d"), ("gpu-b", "gpu-b"), ("gpu-c", "gpu-c")),
                "Jobs that share a rack",
            ),
            ((("gpu-a", "gpu-b"), ("",), ("",), ("",)), "a Job in more than one rack"),
            ((("gpu-a", "gpu-d"), ("gpu-b",), ("",), ("",)), "1 Jobs run whole"),
        ],
    )
    def test_otherwise(
        self, racks: Racks, now: Callable[[], World], places: tuple[tuple[str, ...], ...], saw: str
    ) -> None:
        racks.pairs(*places)
        assert said(self.look(now())) == saw

    def test_no_set_or_another_number_of_jobs(self, racks: Racks, now: Callable[[], World]) -> None:
        assert said(self.look(now())) == "there is no JobSet team-a/pairs"
        racks.pairs(replicas=3)
        assert said(self.look(now())) == "it has 3 Jobs"

    @pytest.mark.usefixtures("racks")
    def test_nobody_was_refused(self, now: Callable[[], World], tmp_path: Path) -> None:
        (tmp_path / "fourth.txt").write_text("anything")
        assert said(CHECKS.fourth_quoted(now(), "fourth.txt", "pairs")) == "no such pod was refused a node"
