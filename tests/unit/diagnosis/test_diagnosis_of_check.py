"""The cause behind a check: which objects it is about, what may be told, what it costs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cluster.errors import ApiUnavailable
from grader.checks import CheckSource
from grader.checks.base import Check
from grader.checks.engine import run_checks
from grader.checks.python import load as load_python
from grader.checks.world import World
from grader.diagnosis.of_check import Explainer, references
from grader.results import Finding, State
from tests.unit.checks.test_checks_engine import Lab, Step
from tests.unit.diagnosis.conftest import Load


def check(text: str, name: str = "a-check") -> Check:
    return CheckSource.model_validate({"id": name, "says": "it is so", **yaml.safe_load(text)}).check()


def why(world: World, one: Check) -> str:
    """The cause that a failure of a check gets."""
    verdict = one.kind.evaluate(world)
    assert not verdict.passed, verdict
    return Explainer()(one, verdict.finding, world)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "resource: {of: {kind: Job, name: big}, match: {spec: {suspend: false}}}",
            "Job lab/big can never be admitted",
        ),
        # There is no pod yet: what should make it says why.
        ("resources: {of: {kind: Pod, selector: job-name=big}, count: 2}", "Job lab/big can never be admitted"),
        (
            "resources: {of: {kind: Pod, selector: jobset.sigs.k8s.io/jobset-name=excl}, count: 6}",
            "needs 3 free lab.example.com/rack domains",
        ),
        (
            "resource: {of: {kind: JobSet, name: slow}, match: {status: {restarts: 1}}}",
            "a JobSet reacts to the failure of a Job only",
        ),
        (
            """
            resource:
              of: {kind: ClusterQueue, name: typo}
              match: {status: {conditions: [{type: Active, status: "True"}]}}
            """,
            "ResourceFlavor h100",
        ),
        (
            "resources: {of: {kind: Workload}, all: {status: {conditions: [{type: Admitted, status: 'True'}]}}}",
            "Job lab/big can never be admitted",
        ),
        ("resource: {of: {kind: LeaderWorkerSet, name: serve}, match: {spec: {replicas: 5}}}", ""),
        ("resource: {of: {kind: Job, name: absent}}", ""),
        # What the learner wrote is not as asked for: nothing else has to explain that.
        ("resource: {of: {kind: Job, name: big}, match: {spec: {parallelism: 3}}}", ""),
        ("resource: {of: {kind: ClusterQueue, name: typo}, match: {spec: {cohortName: ml}}}", ""),
        (
            "resource: {of: {kind: Job, name: big}, match: {spec: {parallelism: 3}, status: {ready: 3}}}",
            "Job lab/big can never be admitted",
        ),
    ],
)
def test_a_failure_gets_the_cause_of_what_it_is_about(load: Load, text: str, words: str) -> None:
    said = why(load("trials").world(), check(text))
    assert words in said
    assert bool(words) == bool(said)


def test_a_missing_label_is_told_only_where_queues_matter(load: Load) -> None:
    world = load("trials").world()
    other = check("resource: {of: {kind: JobSet, name: plain}, match: {spec: {suspend: true}}}")
    assert why(world, other) == ""
    queues = check(
        "resource: {of: {kind: JobSet, name: plain}, "
        'match: {metadata: {labels: {"kueue.x-k8s.io/queue-name": "<any>"}}}}'
    )
    assert "has no label kueue.x-k8s.io/queue-name" in why(world, queues)


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_a_label_on_the_parts_is_not_on_the_whole(load: Load, kind: str) -> None:
    cluster = load("trials")
    part = cluster.find(kind, "plain-workers-0")
    part["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = "small"
    queues = check(
        "resource: {of: {kind: JobSet, name: plain}, "
        'match: {metadata: {labels: {"kueue.x-k8s.io/queue-name": "<any>"}}}}'
    )
    assert why(cluster.world(), queues) == (
        f"JobSet lab/plain has no label kueue.x-k8s.io/queue-name, but {kind} lab/{part['metadata']['name']} has: "
        f"Kueue takes each {kind} with it for a job of its own"
    )


def test_a_file_gets_no_cause_for_it_could_be_the_answer(load: Load) -> None:
    cluster = load("trials")
    (cluster.work / "never.txt").write_text("it waits\n", encoding="utf-8")
    quotes = check('quotes: {file: never.txt, of: {kind: Job, name: big}, message: "{{ metadata.name }} can never"}')
    world = cluster.world()
    assert why(world, quotes) == ""
    assert cluster.cluster.asked == [("batch/v1", "Job", None)], "nothing but what the check itself asks for"


def test_a_function_of_the_lab_gets_one_for_the_objects_it_names(load: Load, tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(
        "from grader.results import Finding, Verdict\n"
        "def places(world, where, saw='no', plain=False):\n"
        "    return Verdict(passed=False, finding=Finding(saw=saw, where=tuple(where), plain=plain))\n",
        encoding="utf-8",
    )
    load_python(tmp_path / "checks.py")
    world = load("trials").world()
    named = "python: {function: places, arguments: {where: [%s]}}"
    assert "can never be admitted" in why(world, check(named % "Job lab/big, history 12:00:00 to 12:00:01"))
    assert why(world, check(named % "'position.txt:3', Job lab/big")) == "", "it is about a file"
    mistake = "python: {function: places, arguments: {where: [Job lab/big], plain: true}}"
    assert why(world, check(mistake)) == "", "what it saw is the mistake"
    said = "python: {function: places, arguments: {where: [Job lab/big], saw: Job lab/big can never be admitted}}"
    assert why(world, check(said)) == "", "it was said already"
    assert why(world, check(named % "Job big, Node lab/gpu-a1, Nothing lab/x, ClusterQueue nosuch")) == ""


def test_what_is_ours_is_said_as_ours(load: Load) -> None:
    said = why(
        load("webhook").world(), check("resources: {of: {kind: Pod, selector: job-name=unhooked-w-0}, count: 1}")
    )
    assert said.startswith("our fault, not yours: the webhook mpod.kb.io")


def test_every_list_is_asked_for_once_and_objects_are_diagnosed_once(load: Load) -> None:
    cluster = load("queues")
    world = cluster.world()
    one = check("resources: {of: {kind: Pod, selector: job-name=nine}, all: {status: {phase: Running}}}")
    explain = Explainer()
    finding = one.kind.evaluate(world).finding
    first = explain(one, finding, world)
    asked = len(cluster.cluster.asked)
    assert "free is 5 of 8" in first
    assert len(set(cluster.cluster.asked)) == asked
    assert explain(one, finding, world) == first
    assert len(cluster.cluster.asked) == asked


def test_a_cluster_that_can_not_be_asked_gives_none(load: Load) -> None:
    cluster = load("trials")
    one = check("resource: {of: {kind: Job, name: big}, match: {spec: {suspend: false}}}")
    world = cluster.world()
    finding = one.kind.evaluate(world).finding
    cluster.cluster.trouble = ApiUnavailable("gone")
    assert Explainer()(one, finding, world) == ""


def test_references_are_found_at_any_depth() -> None:
    rolled = check(
        """
        happened:
          created_after:
            of: {kind: Pod, selector: a=b}
            other: {kind: Pod, name: x}
            condition: {type: Ready, status: "True"}
        """
    )
    assert [(ref.kind, ref.name, ref.selector) for ref in references(rolled.kind)] == [
        ("Pod", "", "a=b"),
        ("Pod", "x", ""),
    ]
    answer = check("answer: {file: f, fields: {a: '{{ p.kind }}'}, with: {p: {kind: Pod, name: y}}}")
    assert [ref.name for ref in references(answer.kind)] == ["y"]


# -- in a run -----------------------------------------------------------------------------------------


def test_a_run_explains_what_fails_and_asks_nothing_more_where_all_passes(load: Load) -> None:
    cluster = load("trials")
    fails = check("resource: {of: {kind: Job, name: big}, match: {spec: {suspend: false}}}", "fails")
    passes = check("resource: {of: {kind: Job, name: big}, match: {spec: {suspend: true}}}", "passes")
    world = cluster.world()
    results = run_checks(Lab([Step(1, "one", [passes])]), lambda: world, explain=Explainer())
    assert [result.state for result in results] == [State.PASSED]
    assert cluster.cluster.asked == [("batch/v1", "Job", None)]
    (result,) = run_checks(Lab([Step(1, "one", [fails])]), lambda: world, explain=Explainer())
    assert result.state is State.FAILED
    assert result.finding.saw == "spec.suspend is true"
    assert "can never be admitted" in result.finding.why


def test_a_bug_in_an_explanation_changes_no_verdict(load: Load) -> None:
    def explain(one: Check, finding: Finding, world: World) -> str:
        raise KeyError(one.id, finding, world)

    fails = check("resource: {of: {kind: Job, name: big}, match: {spec: {suspend: false}}}")
    world = load("trials").world()
    (result,) = run_checks(Lab([Step(1, "one", [fails])]), lambda: world, explain=explain)
    assert (result.state, result.finding.why, result.our_bug) == (State.FAILED, "", False)
    assert any(line.startswith("why: KeyError") for line in result.evidence)
