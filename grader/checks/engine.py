"""Running a lab's checks: order, prerequisites, achievements, patience, and what counts as whose fault.

Owns the five states; knows nothing of how a kind finds out. A learner's mistake is `failed`, the cluster's or
the recorder's trouble is `error`, so is what is wrong with the lab itself, any other exception is `error` and our
bug: never `failed`.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from cluster.errors import Problem, UsageProblem
from cluster.i18n import _
from grader.checks.explanation import decided
from grader.checks.faults import LabFault
from grader.checks.settling import stirring
from grader.checks.trace import some_of
from grader.checks.words import clock, near, shorten
from grader.checks.world import HistoryGap
from grader.results import Finding, Result, State, Verdict

if TYPE_CHECKING:
    from grader.checks.base import Check
    from grader.checks.trace import Trace
    from grader.checks.world import World

INTERVAL = 0.25
"""Seconds between two looks at a check that may still turn true."""

SETTLED = 2.0
"""Seconds without a change of what a check looks at, or of what is behind it, after which its failure counts."""


class StepLike(Protocol):
    """A step, as far as running its checks goes; `grader.lab.model.Step` is one."""

    @property
    def number(self) -> int:
        """From 1."""

    @property
    def id(self) -> str:
        """Its slug."""

    @property
    def checks(self) -> Sequence[Check]:
        """In the order in which they are reported."""


class LabLike(Protocol):
    """A lab, as far as running its checks goes; `grader.lab.model.Lab` is one."""

    @property
    def id(self) -> str:
        """Its name on the command line."""

    @property
    def steps(self) -> Sequence[StepLike]:
        """In order."""


def select_checks(lab: LabLike, words: Sequence[str]) -> frozenset[str]:
    """Ids of the checks that `words` mean: numbers or ids of steps, ids of checks.

    UsageProblem, with a near name, for a word that means nothing in this lab.
    """
    chosen: set[str] = set()
    known: dict[str, set[str]] = {}
    for step in lab.steps:
        of_step = {check.id for check in step.checks}
        for name in (str(step.number), step.id):
            known.setdefault(name, set()).update(of_step)
        for check in step.checks:
            known.setdefault(check.id, set()).add(check.id)
    for word in words:
        if word not in known:
            message = _("{lab} has no step or check {word}").format(lab=lab.id, word=shorten(word))
            guess = near(word, known)
            raise UsageProblem(message, _("did you mean {guess}?").format(guess=guess) if guess else "")
        chosen |= known[word]
    return frozenset(chosen)


def run_checks(
    lab: LabLike,
    world_factory: Callable[[], World],
    *,
    only: frozenset[str] | None = None,
    achievements: Mapping[str, float] | None = None,
    patience: bool = True,
    on_result: Callable[[Result], None] | None = None,
    explain: Callable[[Check, Finding, World], str] | None = None,
    anew: bool = False,
    monotonic: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> list[Result]:
    """Evaluate the checks of a lab, in the order of its steps.

    `only`: ids of the checks to report (see `select_checks`); what they come `after` is looked at silently.
    `achievements`: when `hold: once` checks first passed (Unix seconds); those pass without a look.
    `patience`: look again at a failure that may still turn true, until `within` seconds after the start of the
    run (controllers work for all checks at once); without it one look decides between failed and waiting.
    `on_result` hears each result as soon as it is known. `explain` gives the well-known cause of a finding, or "";
    it is asked once for a check that does not pass, with what it was judged by. `anew`: what passed for good is
    looked at once more, which changes nothing but what is told of it. `monotonic` and `wait` are there
    for tests.
    """
    run = _Run(lab, world_factory, achievements or {}, patience, monotonic, wait, explain, anew)
    results = []
    for step in lab.steps:
        for check in step.checks:
            if only is None or check.id in only:
                result = run.result(check.id)
                results.append(result)
                if on_result is not None:
                    on_result(result)
    return results


@dataclass
class _Run:
    lab: LabLike
    world_factory: Callable[[], World]
    achievements: Mapping[str, float]
    patience: bool
    monotonic: Callable[[], float]
    wait: Callable[[float], None]
    explain: Callable[[Check, Finding, World], str] | None = None
    anew: bool = False
    world: World | None = None
    known: dict[str, Result] = field(default_factory=dict)
    looks: int = 0
    """At the check that is being looked at."""
    trace: Trace | None = None
    """What the last of these looks read."""

    def __post_init__(self) -> None:
        self.began = self.monotonic()
        self.places = {check.id: (step, check) for step in self.lab.steps for check in step.checks}

    def result(self, check_id: str) -> Result:
        """The result of one check, found out once."""
        if check_id not in self.known:
            self.known[check_id] = self._find_out(check_id)
        return self.known[check_id]

    def _find_out(self, check_id: str) -> Result:
        step, check = self.places[check_id]
        began = self.monotonic()
        result = Result(
            check=check.id,
            step=step.number,
            step_id=step.id,
            says=check.says,
            state=State.PASSED,
            weight=check.weight,
        )
        if check.hold == "once" and check_id in self.achievements:
            return self._kept(check, result, self.achievements[check_id])
        if (before := self._unmet(check)) is not None:
            first_step, first = self.places[before]
            saw = _("comes after step {number}: {says}").format(number=first_step.number, says=first.says)
            how = _("it was not looked at, because {check} does not pass").format(check=before)
            return replace(result, state=State.SKIPPED, finding=Finding(saw=saw), decided=(how,))
        self.looks, self.trace = 0, None
        result = self._evaluate(check, result)
        result = replace(result, read=self._read())
        if result.state in (State.FAILED, State.WAITING):
            result = self._explained(check, result)
        return replace(result, seconds=self.monotonic() - began)

    def _kept(self, check: Check, result: Result, at: float) -> Result:
        """What passed for good, with how it looks now where that is asked for."""
        how = _("it passed at {time} and stays passed").format(time=clock(at))
        result = replace(result, achieved=at)
        if not self.anew:
            more = _("it was not looked at again")
            return replace(result, decided=(how, more))
        began = self.monotonic()
        self.looks, self.trace = 0, None
        now = self._evaluate(check, result)
        if now.state is State.PASSED:
            told = (how, _("looked at now, it holds still"), *now.decided[:-1])
        elif now.state is State.ERROR:
            told = (how, _("looked at now, nobody could tell: {saw}").format(saw=now.finding.saw))
        else:
            told = (how, _("looked at now, it would not: {saw}").format(saw=now.finding.saw or now.finding.wanted))
        return replace(result, read=self._read(), decided=told, evidence=now.evidence, seconds=self.monotonic() - began)

    def _read(self) -> tuple[str, ...]:
        """What the last look at the present check read."""
        return some_of(self.trace.lines) if self.trace is not None else ()

    def _explained(self, check: Check, result: Result) -> Result:
        """With where to look and the cause. Nothing that goes wrong here changes the verdict."""
        finding = replace(result.finding, look_at=check.look_at or result.finding.look_at)
        try:
            why = self.explain(check, finding, self.world) if self.explain and self.world else ""
        except Exception as error:  # noqa: BLE001  # as in `_evaluate`; the check itself was judged
            trouble = shorten(f"{type(error).__name__}: {error}", 200)
            return replace(result, finding=finding, evidence=(*result.evidence, f"why: {trouble}"))
        return replace(result, finding=replace(finding, why=why))

    def _unmet(self, check: Check) -> str | None:
        """The first check it comes after that does not pass."""
        return next((name for name in check.after if self.result(name).state is not State.PASSED), None)

    def _evaluate(self, check: Check, result: Result) -> Result:
        try:
            verdict = self._look_until(check)
        except HistoryGap as gap:
            advice = f"grader reset {self.lab.id}"
            saw = _("{trouble}; {advice}").format(trouble=gap.message, advice=advice)
            return replace(result, state=State.ERROR, finding=Finding(saw=saw, look_at=advice))
        except LabFault as fault:
            saw = _("the lab's fault, not yours: {message}").format(message=fault.message)
            return replace(result, state=State.ERROR, finding=Finding(saw=saw, look_at=fault.advice), lab_fault=True)
        except Problem as problem:
            finding = Finding(saw=problem.message, look_at=problem.advice)
            return replace(result, state=State.ERROR, finding=finding)
        except Exception as error:  # noqa: BLE001  # whatever went wrong in a check, it is not the learner's fault
            saw = _("our fault, not yours: {error}").format(error=shorten(f"{type(error).__name__}: {error}", 200))
            trace = tuple("".join(traceback.format_exception(error)).rstrip().split("\n"))
            return replace(result, state=State.ERROR, finding=Finding(saw=saw), evidence=trace, our_bug=True)
        if verdict.passed:
            state, finding = State.PASSED, Finding()
        else:
            state, finding = State.WAITING if verdict.moving else State.FAILED, verdict.finding
        assert self.world is not None  # it was just looked at
        achieved = self.world.now.timestamp() if verdict.passed and check.hold == "once" else None
        result = replace(result, state=state, finding=finding, evidence=verdict.evidence, achieved=achieved)
        how = decided(check, result, looks=self.looks, namespace=self.world.namespace)
        return replace(result, decided=how)

    def _look_until(self, check: Check) -> Verdict:
        """Look, and look again while a failure may still turn true; the last verdict."""
        deadline = self.began + check.within
        verdict = self._look(check)
        while not verdict.passed and verdict.moving and self.patience and self.monotonic() < deadline:
            self.wait(min(INTERVAL, max(0.0, deadline - self.monotonic())))
            self.world = None  # nothing of the old look is worth keeping
            verdict = self._look(check)
        return verdict

    def _look(self, check: Check) -> Verdict:
        """One evaluation. A failure is `moving` too while what it looks at has changed just now."""
        if self.world is None:
            self.world = self.world_factory()
        self.looks += 1
        self.trace = self.world.traced()
        verdict = check.kind.evaluate(self.world)
        if verdict.passed or verdict.moving or not check.within:
            return verdict
        return replace(verdict, moving=self.world.changed_within(stirring(check.kind.kinds()), SETTLED))
