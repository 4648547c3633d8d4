"""One run of checks, arranged by step, as every report format reads it.

Owns the arrangement; knows nothing of text, JSON or XML, nor of how a check works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import outcome
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.lab.model import Lab, Step
    from grader.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """One check: its result, and what a skipped one waits for."""

    result: Result
    blocked_by: str = ""
    """With SKIPPED: the id of the check that must pass first; "" where none of its `after` is to blame."""
    blocked_by_step: int = 0
    """The number of that check's step; 0 where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One step that was looked at, with its checks in the lab's order."""

    number: int
    id: str
    title: str
    checks: tuple[CheckReport, ...]
    hints: int
    """How many hints the step has."""

    @property
    def state(self) -> State:
        """The worst of its checks' (`grader.outcome.step_state`)."""
        return outcome.step_state(check.result.state for check in self.checks)

    @property
    def passed(self) -> int:
        """How many of its checks passed."""
        return sum(check.result.state is State.PASSED for check in self.checks)

    @property
    def begun(self) -> bool:
        """Whether anything of it passed: a step without is most likely still to be done, not done wrong."""
        return self.passed > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run. `at` is when it ended (Unix time), `seconds` how long it took."""

    lab: str
    title: str
    language: str
    at: float
    seconds: float
    steps: tuple[StepReport, ...]
    """Only those that were looked at."""
    steps_in_lab: int

    @property
    def results(self) -> list[Result]:
        """Every result, in order."""
        return [check.result for step in self.steps for check in step.checks]

    @property
    def whole_lab(self) -> bool:
        """Whether every step of the lab was looked at."""
        return len(self.steps) == self.steps_in_lab

    @property
    def steps_passed(self) -> int:
        """How many of the steps that were looked at passed."""
        return sum(step.state is State.PASSED for step in self.steps)

    @property
    def exit_code(self) -> int:
        """What the command ends with (`grader.outcome.exit_code`)."""
        return outcome.exit_code(self.results)


def make_report(lab: Lab, results: Iterable[Result], *, at: float, seconds: float) -> RunReport:
    """Arrange `results` by the steps of `lab` (whose language the titles are in).

    Results of checks that the lab doesn't have are our bug: KeyError.
    """
    by_check = {result.check: result for result in results}
    known = {check.id for step in lab.steps for check in step.checks}
    if stray := by_check.keys() - known:
        raise KeyError(f"results of unknown checks: {sorted(stray)}")
    step_of = {check.id: step.number for step in lab.steps for check in step.checks}
    steps = [_step(step, by_check, step_of) for step in lab.steps]
    return RunReport(
        lab=lab.id,
        title=lab.title,
        language=lab.language,
        at=at,
        seconds=seconds,
        steps=tuple(step for step in steps if step.checks),
        steps_in_lab=len(lab.steps),
    )


def _step(step: Step, by_check: dict[str, Result], step_of: dict[str, int]) -> StepReport:
    checks = []
    for check in step.checks:
        result = by_check.get(check.id)
        if result is None:
            continue
        blocker = ""
        if result.state is State.SKIPPED:
            blocker = next((before for before in check.after if not _passed(by_check.get(before))), "")
        checks.append(CheckReport(result=result, blocked_by=blocker, blocked_by_step=step_of.get(blocker, 0)))
    return StepReport(number=step.number, id=step.id, title=step.title, checks=tuple(checks), hints=len(step.hints))


def _passed(result: Result | None) -> bool:
    return result is not None and result.state is State.PASSED
