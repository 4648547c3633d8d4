"""The lab that is being proved, and what is found out about it while one part runs.

Owns what state the lab is in and what it takes to bring it there; knows nothing of which parts there are.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Final, Literal

from cluster.errors import Problem
from cluster.i18n import _
from grader.results import State
from grader.verify import expect
from grader.verify.model import PartOutcome, Spent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.lab.model import Lab
    from grader.lab.values import Value
    from grader.results import Result
    from grader.verify.port import Driver

LOOKS: Final = 15
"""How often a check that still waits at its own deadline is looked at: a slow machine is no defect of a lab,
though the report says that it happened. With the pauses it is longer than the ten seconds in which a pod that
can't be scheduled still counts as moving."""
PAUSE_SECONDS = 1.0
"""Between two such looks."""
OUTPUT_LINES: Final = 15


class Lost(Exception):
    """The lab could not be brought into a known state: nothing that comes after could be trusted."""


@dataclass(slots=True)
class Findings:
    """What one part has found so far."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[Result] = field(default_factory=list)
    trouble: str = ""
    """What the machine or the cluster said when it failed."""

    def judge(self, results: Iterable[Result]) -> list[Result]:
        """Those of `results` that say something about the lab; errors are noted and left out."""
        fine: list[Result] = []
        for result in results:
            (self.errors if result.state is State.ERROR else fine).append(result)
        return fine

    @property
    def outcome(self) -> PartOutcome:
        """An error outranks a defect: what failed first may have caused the other."""
        if self.trouble or any(not result.lab_fault for result in self.errors):
            return PartOutcome.ERROR
        return PartOutcome.DEFECT if self.problems or self.errors else PartOutcome.OK

    @property
    def fault(self) -> Literal["", "environment", "bug"]:
        """Whose an error is."""
        if self.outcome is not PartOutcome.ERROR:
            return ""
        return "bug" if any(result.our_bug for result in self.errors) else "environment"

    @property
    def told(self) -> tuple[str, ...]:
        """Everything that is wrong, in words."""
        failed = [
            _("{check} could not be judged: {why}").format(check=result.check, why=expect.why(result))
            for result in self.errors
        ]
        return (*self.problems, *failed, *filter(None, [self.trouble]))


class Bench:
    """One running lab, driven from state to state."""

    def __init__(self, lab: Lab, solution: Mapping[str, Path], driver: Driver, clock: Callable[[], float]) -> None:
        self.lab, self.solution, self.driver, self.clock = lab, solution, driver, clock
        self.state: Literal["untouched", "solved", "dirty"] = "untouched"
        """dirty: somewhere else, or unknown."""
        self.achieved: dict[str, float] = {}
        """Check → when it passed, along the solution."""
        self.fallen: tuple[str, ...] = ()
        """Checks of the solved lab that pass only because they once did."""
        self.values = lab.values
        """What the session has now."""
        self.resets = 0
        self.spent = Spent()

    def reset(self) -> None:
        """Begin the lab again; raises Lost where that fails."""
        try:
            with self._counted("resets"):
                self.driver.reset()
        except Problem as problem:
            raise Lost(in_words(problem)) from problem
        self.state = "untouched"
        self.resets += 1

    def turn_to(self, values: Mapping[str, Value]) -> None:
        """Have other values; the lab they belong to is another one, so what was done in it counts no more."""
        if values != self.values:
            self.driver.use_values(values)
            self.values, self.state = values, "dirty"

    @contextmanager
    def as_if(self, values: Mapping[str, Value]) -> Iterator[None]:
        """Judge what is there as that of a learner with other values."""
        self.driver.use_values(values)
        try:
            yield
        finally:
            self.driver.use_values(self.values)

    def be_untouched(self) -> None:
        """Reset, unless it is as a reset leaves it."""
        if self.state != "untouched":
            self.reset()

    def be_solved(self) -> None:
        """Solve the lab again where a wrong answer has spoilt it; raises Lost where that fails."""
        if self.state == "solved":
            return
        self.be_untouched()
        self.achieved.clear()
        for step in self.lab.steps:
            again = Findings()
            self.solve_step(step.id, self.achieved, again)
            if again.outcome is not PartOutcome.OK:
                raise Lost("\n".join([_("the lab could not be solved a second time"), *again.told]))
        self.state = "solved"

    def solve_step(self, step: str, achieved: dict[str, float], tell: Findings) -> None:
        """Play one step's solution; its checks must pass and are added to `achieved`."""
        self.state = "dirty"
        if not self.play(self.solution[step], tell):
            return
        results = self.look(tell, [step], achieved)
        tell.problems += expect.all_pass(results)
        now = time.time()
        for result in results:
            if result.state is State.PASSED:
                achieved.setdefault(result.check, now if result.achieved is None else result.achieved)

    def play(self, script: Path, tell: Findings) -> bool:
        """Run a script; one that fails is a defect of the lab, told with its last lines."""
        with self._counted("scripts"):
            code, output = self.driver.run_script(script)
        if code == 0:
            return True
        name = "/".join(script.parts[-2:])
        tell.problems.append(_("{script} ended with exit code {code}").format(script=name, code=code))
        tell.problems += [f"  {line}" for line in output.rstrip().splitlines()[-OUTPUT_LINES:]]
        return False

    def look(
        self,
        tell: Findings,
        steps: Sequence[str] | None,
        achievements: Mapping[str, float],
        looks: int = LOOKS,
    ) -> list[Result]:
        """Check these steps (None: all) until nothing waits any more, at most `looks` times."""
        results = self._check(steps, achievements)
        for _again in range(looks - 1):
            waiting = [result.check for result in results if result.state is State.WAITING]
            if not waiting:
                break
            with self._counted("pauses"):
                Event().wait(PAUSE_SECONDS)
            for check in waiting:
                note = _("{check} needed more than one look: `within` is short").format(check=check)
                if note not in tell.notes:
                    tell.notes.append(note)
            results = self._check(steps, achievements)
        return tell.judge(results)

    def _check(self, steps: Sequence[str] | None, achievements: Mapping[str, float]) -> list[Result]:
        with self._counted("checks"):
            results = self.driver.check(steps, achievements)
        wanted = {check.id for step in self.lab.steps if steps is None or step.id in steps for check in step.checks}
        if wanted != {result.check for result in results}:
            raise RuntimeError(f"asked for {sorted(wanted)}, got {sorted(result.check for result in results)}")
        return results

    @contextmanager
    def _counted(self, what: Literal["resets", "scripts", "checks", "pauses"]) -> Iterator[None]:
        begun = self.clock()
        try:
            yield
        finally:
            setattr(self.spent, what, getattr(self.spent, what) + self.clock() - begun)


def in_words(problem: Problem) -> str:
    """A problem of the machine with its advice."""
    return "\n".join(filter(None, (problem.message, problem.advice)))
