"""The engine: states, order, prerequisites, achievements, patience, and whose fault it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from cluster.errors import ApiRefused, ApiUnavailable, UsageProblem
from grader.checks.base import Check, CheckKind
from grader.checks.engine import run_checks, select_checks
from grader.checks.recorded import Trace
from grader.checks.world import HistoryGap
from grader.results import Finding, Result, State, Verdict

if TYPE_CHECKING:
    from grader.checks.world import World

Answer = Callable[["World"], Verdict]
YES = Verdict(passed=True, evidence=("seen",))
NO = Verdict(passed=False, finding=Finding(wanted="a", saw="b", look_at="there"))
MOVING = Verdict(passed=False, finding=Finding(saw="on its way"), moving=True)


class Scripted(CheckKind):
    """Gives its answers one after the other, the last one for ever."""

    name: ClassVar[str] = "scripted"

    script: list[Any]
    asked: list[Any] = []  # noqa: RUF012  # pydantic copies it
    looks_at: str = "Pod"

    def kinds(self) -> frozenset[str]:
        return frozenset({self.looks_at})

    def evaluate(self, world: World) -> Verdict:
        answer = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(world)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Verdict)
        return answer


def scripted(check_id: str, *script: Verdict | Exception, **envelope: Any) -> Check:
    return Check(id=check_id, says=f"{check_id} is so", kind=Scripted(script=list(script)), **envelope)


def asked(check: Check) -> int:
    assert isinstance(check.kind, Scripted)
    return len(check.kind.asked)


@dataclass
class Step:
    number: int
    id: str
    checks: list[Check]


@dataclass
class Lab:
    steps: list[Step]
    id: str = "lab-x"


@dataclass
class Runner:
    """Runs checks on a clock of its own: waiting takes no time."""

    trace: Trace
    work: Path
    clock: float = 100.0
    waits: list[float] = field(default_factory=list)
    worlds: int = 0

    def world(self) -> World:
        self.worlds += 1
        return self.trace.world(self.work)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock += seconds
        self.trace.now += seconds

    def run(self, *checks: Check, **options: Any) -> list[Result]:
        steps = [Step(number, f"step-{number}", [check]) for number, check in enumerate(checks, start=1)]
        return run_checks(Lab(steps), self.world, monotonic=lambda: self.clock, wait=self.wait, **options)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(Trace(), tmp_path)


def states(results: list[Result]) -> list[str]:
    return [str(result.state) for result in results]


def test_passed_and_failed(runner: Runner) -> None:
    heard: list[Result] = []
    one, two = scripted("one", YES, weight=3), scripted("two", NO)
    results = runner.run(one, two, on_result=heard.append)
    assert states(results) == ["passed", "failed"]
    assert heard == results
    assert (results[0].step, results[0].step_id, results[0].says, results[0].weight) == (1, "step-1", "one is so", 3)
    assert results[0].evidence == ("seen",)
    assert results[1].finding == Finding(wanted="a", saw="b", look_at="there")


def test_the_labs_pointer_comes_first(runner: Runner) -> None:
    assert runner.run(scripted("one", NO, look_at="kubectl get pods"))[0].finding.look_at == "kubectl get pods"


def test_after_a_failure_comes_nothing(runner: Runner) -> None:
    later = scripted("three", YES, after=["one", "two"])
    results = runner.run(scripted("one", YES), scripted("two", NO), later)
    assert states(results) == ["passed", "failed", "skipped"]
    assert results[2].finding.saw == "comes after step 2: two is so"
    assert asked(later) == 0


def test_after_a_skipped_check_comes_nothing(runner: Runner) -> None:
    results = runner.run(
        scripted("one", NO), scripted("two", YES, after=["one"]), scripted("three", YES, after=["two"])
    )
    assert states(results) == ["failed", "skipped", "skipped"]


def test_each_check_is_looked_at_once(runner: Runner) -> None:
    first = scripted("one", YES)
    runner.run(first, scripted("two", YES, after=["one"]), scripted("three", YES, after=["one"]))
    assert asked(first) == 1
    assert runner.worlds == 1


class TestAchievements:
    """`hold: once`."""

    def test_stay(self, runner: Runner) -> None:
        check = scripted("one", NO)
        result = runner.run(check, achievements={"one": 42.0})[0]
        assert (result.state, result.achieved, asked(check)) == (State.PASSED, 42.0, 0)

    def test_are_dated(self, runner: Runner) -> None:
        result = runner.run(scripted("one", YES))[0]
        assert result.achieved == pytest.approx(runner.trace.now)

    def test_do_not_hold_what_must_be_true_now(self, runner: Runner) -> None:
        results = runner.run(
            scripted("one", NO, hold="now"), scripted("two", YES, hold="now"), achievements={"one": 42.0}
        )
        assert [(result.state, result.achieved) for result in results] == [(State.FAILED, None), (State.PASSED, None)]

    def test_open_the_way_for_later_checks(self, runner: Runner) -> None:
        results = runner.run(scripted("one", NO), scripted("two", YES, after=["one"]), achievements={"one": 42.0})
        assert states(results) == ["passed", "passed"]

    def test_stay_when_what_they_came_after_is_lost(self, runner: Runner) -> None:
        results = runner.run(scripted("one", NO), scripted("two", NO, after=["one"]), achievements={"two": 42.0})
        assert states(results) == ["failed", "passed"]


class TestPatience:
    """`within`."""

    def test_looks_again_until_it_is_true(self, runner: Runner) -> None:
        check = scripted("one", MOVING, MOVING, YES, within=10)
        assert states(runner.run(check)) == ["passed"]
        assert runner.waits == [0.25, 0.25]
        assert runner.worlds == 3  # each look is a new one

    def test_waits_until_the_deadline(self, runner: Runner) -> None:
        result = runner.run(scripted("one", MOVING, within=2))[0]
        assert (result.state, result.finding.saw) == (State.WAITING, "on its way")
        assert sum(runner.waits) == pytest.approx(2)
        assert result.seconds == pytest.approx(2)

    def test_gives_up_when_nothing_moves(self, runner: Runner) -> None:
        assert states(runner.run(scripted("one", MOVING, NO, within=60))) == ["failed"]
        assert runner.waits == [0.25]

    def test_waits_while_what_it_looks_at_changes(self, runner: Runner) -> None:
        runner.trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}})
        assert states(runner.run(scripted("one", NO, within=60))) == ["failed"]
        assert sum(runner.waits) == pytest.approx(2.0, abs=0.3)  # until things have settled

    def test_waits_while_what_makes_it_changes(self, runner: Runner) -> None:
        """A JobSet was applied just now: it has no pods yet."""
        metadata = {"name": "j", "namespace": "default"}
        runner.trace.put({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata})
        assert states(runner.run(scripted("one", NO, NO, YES, within=60))) == ["passed"]

    def test_other_kinds_may_change(self, runner: Runner) -> None:
        runner.trace.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        runner.run(scripted("one", NO, within=60))
        assert runner.waits == []

    def test_without_within_one_look_decides(self, runner: Runner) -> None:
        runner.trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}})
        assert states(runner.run(scripted("one", MOVING), scripted("two", NO))) == ["waiting", "failed"]
        assert runner.waits == []

    def test_impatience(self, runner: Runner) -> None:
        checks = (scripted("one", MOVING, YES, within=60), scripted("two", NO, within=60))
        assert states(runner.run(*checks, patience=False)) == ["waiting", "failed"]
        runner.trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}})
        assert states(runner.run(scripted("two", NO, within=60), patience=False)) == ["waiting"]
        assert runner.waits == []

    def test_controllers_work_for_all_checks_at_once(self, runner: Runner) -> None:
        """The whole run takes no longer than its longest `within`."""
        results = runner.run(*(scripted(f"c{number}", MOVING, within=20) for number in range(5)))
        assert states(results) == ["waiting"] * 5
        assert sum(runner.waits) == pytest.approx(20)

    def test_what_comes_after_a_waiting_check_is_skipped(self, runner: Runner) -> None:
        assert states(runner.run(scripted("one", MOVING), scripted("two", YES, after=["one"]))) == [
            "waiting",
            "skipped",
        ]


class TestFaults:
    """`error` is never the learner's."""

    def test_gap(self, runner: Runner) -> None:
        result = runner.run(scripted("one", HistoryGap(1_764_500_000, 1_764_500_007)))[0]
        assert (result.state, result.our_bug) == (State.ERROR, False)
        assert result.finding.saw.startswith("the recorder was down ")
        assert result.finding.saw.endswith("; grader reset lab-x")
        assert result.finding.look_at == "grader reset lab-x"

    def test_cluster_away(self, runner: Runner) -> None:
        result = runner.run(scripted("one", ApiUnavailable("no answer", "start it"), look_at="x"))[0]
        assert (result.state, result.our_bug) == (State.ERROR, False)
        assert (result.finding.saw, result.finding.look_at) == ("no answer", "start it")

    def test_cluster_refuses(self, runner: Runner) -> None:
        result = runner.run(scripted("one", ApiRefused(403, "Forbidden", "pods is forbidden")))[0]
        assert (result.state, result.our_bug) == (State.ERROR, False)

    def test_our_bug(self, runner: Runner) -> None:
        result = runner.run(scripted("one", ZeroDivisionError("oh")))[0]
        assert (result.state, result.our_bug) == (State.ERROR, True)
        assert result.finding.saw == "our fault, not yours: ZeroDivisionError: oh"
        assert result.evidence[-1] == "ZeroDivisionError: oh"

    def test_one_fault_does_not_stop_the_others(self, runner: Runner) -> None:
        results = runner.run(scripted("one", ValueError()), scripted("two", YES), scripted("three", YES, after=["one"]))
        assert states(results) == ["error", "passed", "skipped"]


class TestSelection:
    """`--step`."""

    @staticmethod
    def lab() -> Lab:
        first = [scripted("a", YES), scripted("b", NO)]
        second = [scripted("c", YES, after=["a"]), scripted("d", YES, after=["b"])]
        return Lab([Step(1, "names", first), Step(2, "env", second)])

    def test_only_what_is_asked_for(self, runner: Runner) -> None:
        results = run_checks(self.lab(), runner.world, only=frozenset({"c", "d"}))
        assert [(result.check, str(result.state)) for result in results] == [("c", "passed"), ("d", "skipped")]

    @pytest.mark.parametrize(
        ("words", "chosen"),
        [(["1"], {"a", "b"}), (["env"], {"c", "d"}), (["a", "2"], {"a", "c", "d"}), ([], set())],
    )
    def test_words(self, words: list[str], chosen: set[str]) -> None:
        assert select_checks(self.lab(), words) == chosen

    def test_unknown_word(self) -> None:
        with pytest.raises(UsageProblem) as raised:
            select_checks(self.lab(), ["naems"])
        assert (raised.value.message, raised.value.advice) == (
            "lab-x has no step or check naems",
            "did you mean names?",
        )


class TestOneLook:
    """One list per kind and namespace for all checks of a round, and one time-out."""

    def test_one_list(self, runner: Runner) -> None:
        from grader.checks import CheckSource

        checks = []
        for number in range(5):
            rule = {"of": {"kind": "Pod", "selector": f"a={number}"}, "count": 0}
            raw = {"id": f"c{number}", "says": "x", "resources": rule}
            checks.append(CheckSource.model_validate(raw).check())
        assert states(runner.run(*checks)) == ["passed"] * 5
        assert runner.trace.cluster.asked == [("v1", "Pod", None)]
        runner.trace.cluster.asked.clear()
        runner.trace.cluster.trouble = ApiUnavailable("timed out")
        assert states(runner.run(*checks)) == ["error"] * 5
        assert len(runner.trace.cluster.asked) == 1

    def test_kind_the_cluster_has_not(self, runner: Runner) -> None:
        from grader.checks import CheckSource

        runner.trace.cluster.trouble = ApiRefused(404, "NotFound", "no kind JobSet")
        raw = {"id": "c", "says": "x", "resource": {"of": {"kind": "JobSet", "name": "j"}}}
        result = runner.run(CheckSource.model_validate(raw).check())[0]
        assert (result.state, result.finding.saw) == (State.FAILED, "there is no JobSet default/j")
