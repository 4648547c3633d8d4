"""`verify_lab`: from a lab's id to a verification, and what is refused before anything runs."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from cluster.errors import EnvironmentProblem, UsageProblem
from grader.lab.catalogue import load_lab
from grader.lab.values import Value
from grader.results import Result, State
from grader.verify import (
    Driver,
    Part,
    PartOutcome,
    Phase,
    Plan,
    VerifyEvent,
    broken_off,
    plan_verification,
    verify_lab,
)
from grader.verify.expect import dependents
from grader.verify.procedure import planned_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from tests.unit.verify.conftest import MakeCheck, Scene

EXAMPLES = Path(__file__).resolve().parents[1] / "lab" / "example"


class NothingPasses:
    """A driver of the example lab in which every check fails."""

    def reset(self) -> None:
        """Nothing to do."""

    def run_script(self, script: Path) -> tuple[int, str]:
        assert script.is_file()
        return 0, ""

    def check(self, steps: Sequence[str] | None, _achievements: Mapping[str, float]) -> list[Result]:
        return [
            Result(check=check.id, step=step.number, step_id=step.id, says=check.says, state=State.FAILED)
            for step in load_lab("lab-hello").steps
            if steps is None or step.id in steps
            for check in step.checks
        ]

    def snapshot_work(self) -> None:
        """Nothing to do."""

    def restore_work(self) -> None:
        """Nothing to do."""

    def use_values(self, values: Mapping[str, Value]) -> None:
        """Nothing to do."""

    def answers(self) -> list[tuple[str, str]]:
        return []

    def keep(self) -> str:
        raise AssertionError("nobody asked for it")


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "labs"
    shutil.copytree(EXAMPLES, folder)
    monkeypatch.setattr("grader.lab.catalogue.labs_dir", lambda: folder)
    return folder


@contextmanager
def nothing_passes() -> Iterator[Driver]:
    yield NothingPasses()


def test_every_step_and_case_of_the_lab_is_a_part(labs: Path) -> None:
    report = verify_lab(plan_verification("lab-hello"), nothing_passes, lambda _event: None)
    lab = load_lab("lab-hello")
    solutions = [part.name for part in report.parts if part.phase is Phase.SOLUTION]
    assert solutions == [step.id for step in lab.steps]
    wrong = {part.name for part in report.parts if part.phase is Phase.WRONG}
    assert wrong == {path.name for path in (labs / "lab-hello" / "wrong").iterdir()}
    assert [part.phase for part in report.parts[:2]] == [Phase.TEXT, Phase.START]
    assert [part.outcome for part in report.parts[:3]] == [PartOutcome.OK, PartOutcome.OK, PartOutcome.DEFECT]
    assert report.whole


@pytest.mark.usefixtures("labs")
def test_only_the_cases_asked_for_once_each() -> None:
    plan = plan_verification("lab-hello", ["no-toleration", "no-toleration"])
    report = verify_lab(plan, nothing_passes, lambda _event: None)
    assert [part.name for part in report.parts if part.phase is Phase.WRONG] == ["no-toleration"]
    assert not report.whole


class TestTheSession:
    """Starting and stopping are part of the report, and of its time."""

    @pytest.fixture
    def plan(self, labs: Path) -> Plan:
        assert labs.is_dir()
        return plan_verification("lab-hello")

    def test_a_lab_that_can_not_be_started_is_told_part_by_part(self, plan: Plan) -> None:
        def refuses() -> AbstractContextManager[Driver]:
            raise EnvironmentProblem("no room", "make some")

        heard: list[VerifyEvent] = []
        report = verify_lab(plan, refuses, heard.append)
        first, *rest = report.parts
        assert (first.phase, first.outcome, first.fault) == (Phase.TEXT, PartOutcome.ERROR, "environment")
        assert first.problems == ("no room\nmake some",)
        assert {part.outcome for part in rest} == {PartOutcome.NOT_RUN}
        assert len(report.parts) == len(verify_lab(plan, nothing_passes, lambda _event: None).parts)
        assert [event.part for event in heard] == list(report.parts)
        assert [event.number for event in heard] == list(range(1, len(report.parts) + 1))
        assert report.exit_code == 3

    def test_a_lab_that_can_not_be_stopped_keeps_its_report(self, plan: Plan) -> None:
        @contextmanager
        def stays() -> Iterator[Driver]:
            yield NothingPasses()
            raise EnvironmentProblem("could not remove it")

        report = verify_lab(plan, stays, lambda _event: None)
        assert report.parts[2].outcome is PartOutcome.DEFECT
        assert (report.trouble, report.exit_code) == ("could not remove it", 3)

    def test_its_time_is_that_of_the_lab(self, plan: Plan) -> None:
        now = [0.0]

        @contextmanager
        def slow() -> Iterator[Driver]:
            now[0] += 8.0
            yield NothingPasses()
            now[0] += 2.0

        report = verify_lab(plan, slow, lambda _event: None, clock=lambda: now[0])
        assert (report.spent.start, report.spent.stop, report.seconds) == (8.0, 2.0, 10.0)

    def test_our_own_failure_is_raised_once_the_lab_is_stopped(self, plan: Plan) -> None:
        done: list[str] = []

        @contextmanager
        def watched() -> Iterator[Driver]:
            try:
                yield NothingPasses()
            finally:
                done.append("stopped")

        def fail(_event: VerifyEvent) -> None:
            raise ValueError("ours")

        with pytest.raises(ValueError, match="ours"):
            verify_lab(plan, watched, fail)
        assert done == ["stopped"]


class TestBrokenOff:
    @pytest.fixture
    def plan(self, labs: Path) -> Plan:
        assert labs.is_dir()
        return plan_verification("lab-hello")

    def test_what_was_proved_stays_and_the_next_part_failed_for_it(self, plan: Plan) -> None:
        done = (Part(phase=Phase.START, outcome=PartOutcome.OK, seconds=1.0),)
        report = broken_off(plan, done, "killed", "bug", lambda _event: None, seconds=4.0)
        assert report.parts[0] == done[0]
        assert (report.parts[1].outcome, report.parts[1].problems) == (PartOutcome.ERROR, ("killed",))
        assert {part.outcome for part in report.parts[2:]} == {PartOutcome.NOT_RUN}
        assert (report.exit_code, report.seconds) == (4, 4.0)

    @pytest.mark.parametrize(("fault", "code"), [("environment", 3), ("bug", 4)])
    def test_after_the_last_part_it_is_no_part_that_failed(
        self, plan: Plan, fault: Literal["environment", "bug"], code: int
    ) -> None:
        all_parts = tuple(
            replace(part, outcome=PartOutcome.OK) for part in planned_parts(plan.lab, plan.cases, whole=True)
        )
        heard: list[VerifyEvent] = []
        report = broken_off(plan, all_parts, "killed", fault, heard.append, seconds=4.0)
        assert (report.parts, report.trouble, report.exit_code, heard) == (all_parts, "killed", code, [])


@pytest.mark.usefixtures("labs")
def test_unknown_case_names_those_there_are() -> None:
    with pytest.raises(UsageProblem, match="lab-hello has no wrong answer nonesuch") as refused:
        plan_verification("lab-hello", ["nonesuch"])
    assert "no-toleration" in refused.value.advice


def test_lab_without_a_solution_is_not_run(labs: Path) -> None:
    script = next((labs / "lab-hello" / "solution").glob("*.sh"))
    script.unlink()
    with pytest.raises(UsageProblem, match=script.name):
        plan_verification("lab-hello")


def test_dependents_over_any_number_of_afters(scene: Scene, make_check: MakeCheck) -> None:
    scene.checks["four"] = [make_check("e", "d"), make_check("f", "b", "e"), make_check("g")]
    lab = scene.lab()
    assert dependents(lab, "c") == {"d", "e", "f"}
    assert dependents(lab, "a") == {"b", "f"}
    assert dependents(lab, "g") == frozenset()


def test_case_of_an_unknown_check_is_not_run(labs: Path) -> None:
    case = labs / "lab-hello" / "wrong" / "no-toleration" / "case.yaml"
    case.write_text(re.sub(r"fails: .*", "fails: nonesuch", case.read_text()))
    with pytest.raises(UsageProblem, match=r"case\.yaml:\d+:\d+: no check 'nonesuch'"):
        plan_verification("lab-hello")


def test_near_name_of_a_case_is_offered(labs: Path) -> None:
    assert labs.is_dir()
    with pytest.raises(UsageProblem, match="did you mean 'no-toleration'"):
        plan_verification("lab-hello", ["no-tolerations"])


class TestTheText:
    """What can be said of a lab before its cluster is there."""

    def test_a_right_lab_lacks_nothing(self, labs: Path) -> None:
        assert labs.is_dir()
        assert plan_verification("lab-hello").lacks == ()

    def test_a_step_without_a_check(self, labs: Path) -> None:
        for name in ("lab.md", "lab.ko.md"):
            path = labs / "lab-hello" / name
            before, where, after = path.read_text().partition("{#where}\n")
            after = re.sub(r"```yaml check\n.*?```\n", "", after, flags=re.DOTALL)
            path.write_text(before + where + after)
        shutil.rmtree(labs / "lab-hello" / "wrong" / "invented-node")
        (lack,) = plan_verification("lab-hello").lacks
        assert re.match(r".*/lab-hello/lab\.md:\d+:1: step 'where' has no check", lack)

    def test_a_command_that_is_never_mentioned(self, labs: Path) -> None:
        script = labs / "lab-hello" / "solution" / "02-where.sh"
        script.write_text(script.read_text() + "jq . < where.txt\n")
        (lack,) = plan_verification("lab-hello").lacks
        assert lack.startswith(f"{script}:4:1: uses `jq`, which lab.md, lab.ko.md never mentions")

    def test_it_is_told_as_a_part_of_the_report(self, labs: Path) -> None:
        script = labs / "lab-hello" / "solution" / "02-where.sh"
        script.write_text(script.read_text() + "jq . < where.txt\n")
        report = verify_lab(plan_verification("lab-hello"), nothing_passes, lambda _event: None)
        assert (report.parts[0].phase, report.parts[0].outcome) == (Phase.TEXT, PartOutcome.DEFECT)
        assert report.parts[0].problems == plan_verification("lab-hello").lacks
