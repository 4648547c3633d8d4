"""How a lab is proved, from top to bottom: `Verification.run`.

Owns the order of parts and what dirt each leaves; knows nothing of how a session is driven or a report shown.

A solved lab costs a start and every solution once; a wrong answer that is only files is tried on it in the
time of two checks. One that changes the cluster costs a reset and the steps before it: nothing is shared
between two of those, because whatever one leaves could make the other right or wrong.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from zlib import crc32

from cluster.errors import Problem
from cluster.i18n import _
from grader.author.told import answers_told
from grader.lab.values import told, trials
from grader.verify import expect
from grader.verify.bench import Bench, Findings, Lost, in_words
from grader.verify.model import Part, PartOutcome, Phase, VerifyEvent, VerifyReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.lab.cases import WrongCase
    from grader.lab.model import Lab
    from grader.lab.values import Value
    from grader.verify.model import OnEvent
    from grader.verify.port import Driver


_TEXTUAL = (Phase.TEXT, Phase.ANSWERS)
"""What is wrong there stands in the lab's files: no cluster shows more of it."""


class _Kept(Exception):
    """A part failed, and the lab is to stay as it is."""


class Verification:
    """One run over one lab."""

    def __init__(
        self,
        lab: Lab,
        solution: Mapping[str, Path],
        cases: Sequence[WrongCase],
        driver: Driver,
        on_event: OnEvent,
        *,
        whole: bool,
        lacks: Sequence[str] = (),
        keep: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`solution`: step id → script. `whole` is False where `cases` are only some of the lab's: then
        nothing but what they need is done. `lacks`: what is wrong with its text, found without a cluster. With
        `keep`, the first part that fails in the cluster is the last, and the lab is left as that part left it."""
        self.lab, self.on_event, self.whole, self.clock = lab, on_event, whole, clock
        self.bench = Bench(lab, solution, driver, clock)
        self.on_solved = [case for case in cases if case.on == "solved"]
        self.on_fresh = [case for case in cases if case.on == "fresh"]
        self.lacks, self.keep = lacks, keep
        self.parts: list[Part] = []
        self.planned = [*planned_parts(lab, cases, whole=whole)]
        self.trials = trials(lab.declared)
        """The sets of values to prove it with; the session begins with the first."""
        self.kept = ""
        self.unsolved: set[str] = set()
        """Steps that can't be solved, or not be reached."""
        self.solved = False

    def run(self) -> VerifyReport:
        """Everything, in order. Problems of the machine end up in the report; our own bugs are raised."""
        begun = self.clock()
        try:
            if self.whole:
                self._part(Phase.TEXT, self._text)
                self._part(Phase.START, self._untouched)
            if self.whole or self.on_solved:
                self._solution()
            for case in self.on_solved:
                self._case(case, self._wrong_on_solved, possible=self.solved)
            if self.whole:
                # The first reset after the solved lab has most to clear away, so it is the one that is
                # proved; the first wrong answer that wants a fresh lab then finds it so.
                self._part(Phase.RESET, self._untouched_again)
            for case in self.on_fresh:
                self._case(case, self._wrong_on_fresh, possible=not self.unsolved.intersection(case.plays))
            for values in self.trials[1:] if self.whole else ():
                if self.unsolved:
                    self._skip(Phase.VALUES, told(values))
                else:
                    self._part(Phase.VALUES, self._prover(values), told(values))
        except (Lost, _Kept):
            self._leave_the_rest()
        return VerifyReport(
            lab=self.lab.id,
            title=self.lab.title,
            at=time.time(),
            seconds=self.clock() - begun,
            parts=tuple(self.parts),
            whole=self.whole,
            unproven=self._unproven(),
            only_by_achievement=self.bench.fallen,
            resets=self.bench.resets,
            spent=self.bench.spent,
            kept=self.kept,
        )

    def _prover(self, values: Mapping[str, Value]) -> Callable[[Findings], None]:
        return lambda tell: self._with_values(values, tell)

    # -- what is proved ---------------------------------------------------------------------------------

    def _text(self, tell: Findings) -> None:
        tell.problems += self.lacks

    def _answers(self, tell: Findings) -> None:
        told = answers_told(self.lab.folder, self.bench.driver.answers())
        tell.problems += map(str, told.problems)
        tell.notes += map(str, told.unneeded)

    def _untouched(self, tell: Findings) -> None:
        tell.problems += expect.nothing_passes(self.bench.look(tell, None, {}, looks=1))

    def _untouched_again(self, tell: Findings) -> None:
        self.bench.reset()
        self._untouched(tell)

    def _solution(self) -> None:
        for step in self.lab.steps:
            if self.unsolved:
                # What comes after a step that can't be solved would fail for no reason of its own.
                self._skip(Phase.SOLUTION, step.id)
            else:
                self._part(Phase.SOLUTION, self._solver(step.id), step.id)
            if self.parts[-1].outcome is not PartOutcome.OK:
                self.unsolved.add(step.id)
        if self.unsolved:
            self._skip(Phase.MEMORY)
            if self.whole:
                self._skip(Phase.ANSWERS)
            return
        self.bench.state = "solved"
        self._part(Phase.MEMORY, self._memory)
        self.solved = self.parts[-1].outcome is PartOutcome.OK
        if self.whole:
            self._part(Phase.ANSWERS, self._answers)

    def _solver(self, step: str) -> Callable[[Findings], None]:
        return lambda tell: self.bench.solve_step(step, self.bench.achieved, tell)

    def _memory(self, tell: Findings) -> None:
        bench = self.bench
        tell.problems += expect.all_pass(bench.look(tell, None, bench.achieved))
        if tell.problems:
            return
        may, problems = expect.fallen(self.lab, bench.achieved, bench.look(tell, None, {}, looks=1))
        bench.fallen = tuple(may)
        tell.problems += problems
        tell.notes += [_("{check} passes only because it once did").format(check=check) for check in may]

    def _wrong_on_solved(self, case: WrongCase, tell: Findings) -> None:
        bench = self.bench
        if case.fails in bench.fallen:
            message = _("{check} does not pass anew on the solved lab, nothing shows here: use `on: fresh`")
            tell.problems.append(message.format(check=case.fails))
            return
        bench.be_solved()
        skipped = expect.dependents(self.lab, case.fails)
        # Everything is looked at anew, except what would fail on the solved lab whatever the answer.
        kept = {check: bench.achieved[check] for check in bench.fallen}
        bench.driver.snapshot_work()
        bench.state = "dirty"
        if bench.play(case.script, tell):
            spared = {check: at for check, at in kept.items() if check not in skipped}
            results = bench.look(tell, None, spared)
            tell.problems += expect.exactly_one_fails(results, case.fails, skipped)
        if self.keep and tell.outcome is not PartOutcome.OK:
            return  # as it is, for who looks at it
        bench.driver.restore_work()
        again = Findings()
        again.problems += expect.all_pass(bench.look(again, None, kept))
        if again.problems:
            message = _("with its files put back not all passes: it changes more than files, use `on: fresh`")
            tell.problems += [message, *again.problems]
        tell.errors += again.errors
        if again.outcome is PartOutcome.OK:
            bench.state = "solved"

    def _wrong_on_fresh(self, case: WrongCase, tell: Findings) -> None:
        bench = self.bench
        if self.trials:
            # Each begins anew anyhow, so each may as well have other values; always the same ones for one case.
            bench.turn_to(self.trials[crc32(case.name.encode()) % len(self.trials)])
        bench.be_untouched()
        bench.state = "dirty"
        achieved: dict[str, float] = {}
        for step in case.plays:
            bench.solve_step(step, achieved, tell)
            if tell.outcome is not PartOutcome.OK:
                message = _("step {step}, which comes before the wrong answer, is not solved")
                tell.problems.insert(0, message.format(step=step))
                return
        if not bench.play(case.script, tell):
            return
        skipped = expect.dependents(self.lab, case.fails)
        steps = [*case.plays, self.lab.check(case.fails)[0].id]
        spared = {check: at for check, at in achieved.items() if check not in skipped}
        results = bench.look(tell, steps, spared)
        tell.problems += expect.exactly_one_fails(results, case.fails, skipped)

    def _with_values(self, values: Mapping[str, Value], tell: Findings) -> None:
        """The lab as another learner has it: solved by the same scripts, and not by the first one's answers."""
        bench = self.bench
        bench.turn_to(values)
        self._untouched_again(tell)
        bench.achieved.clear()
        for step in self.lab.steps if tell.outcome is PartOutcome.OK else ():
            bench.solve_step(step.id, bench.achieved, tell)
            if tell.outcome is not PartOutcome.OK:
                return
        tell.problems += expect.all_pass(bench.look(tell, None, bench.achieved))
        if tell.outcome is not PartOutcome.OK:
            return
        bench.state = "solved"
        own = bench.look(tell, None, {}, looks=1)
        with bench.as_if(self.trials[0]):
            others = bench.look(tell, None, {}, looks=1)
        tell.problems += expect.differs(own, others, told(self.trials[0]))
        for case in self.on_solved:
            before = len(tell.problems)
            self._wrong_on_solved(case, tell)
            tell.problems[before:] = [f"{case.name}: {problem}" for problem in tell.problems[before:]]

    # -- keeping the books --------------------------------------------------------------------------------

    def _part(
        self, phase: Phase, prove: Callable[[Findings], None], name: str = "", case: WrongCase | None = None
    ) -> None:
        self._announce(phase, name, None)
        tell, lost = Findings(), None
        begun = self.clock()
        try:
            prove(tell)
        except Problem as problem:
            # Whatever needs a certain state of the lab makes it anew.
            self.bench.state = "dirty"
            tell.trouble = in_words(problem)
        except Lost as error:
            tell.trouble, lost = str(error), error
        self._ended(
            Part(
                phase=phase,
                name=name,
                check=case.fails if case else "",
                says=case.says if case else "",
                outcome=tell.outcome,
                problems=tell.told,
                notes=tuple(tell.notes),
                fault=tell.fault,
                seconds=self.clock() - begun,
            )
        )
        if self.keep and phase not in _TEXTUAL and self.parts[-1].outcome is not PartOutcome.OK:
            self.kept = self.bench.driver.keep()
            raise _Kept
        if lost:
            raise lost

    def _case(self, case: WrongCase, prove: Callable[[WrongCase, Findings], None], *, possible: bool) -> None:
        if possible:
            self._part(Phase.WRONG, lambda tell: prove(case, tell), case.name, case)
        else:
            self._skip(Phase.WRONG, case.name, case)

    def _skip(self, phase: Phase, name: str = "", case: WrongCase | None = None) -> None:
        self._ended(_not_run(phase, name, case))

    def _leave_the_rest(self) -> None:
        """The parts that were never reached, so that none is missing from a report."""
        for part in self.planned[len(self.parts) :]:
            self._ended(part)

    def _ended(self, part: Part) -> None:
        self._announce(part.phase, part.name, part)
        self.parts.append(part)

    def _announce(self, phase: Phase, name: str, part: Part | None) -> None:
        number = len(self.parts) + 1
        self.on_event(VerifyEvent(phase=phase, name=name, number=number, total=len(self.planned), part=part))

    def _unproven(self) -> tuple[str, ...]:
        if not self.whole:
            return ()
        # Of what was not run nobody knows; that it was not is told by its part.
        proved = {part.check for part in self.parts if part.outcome in (PartOutcome.OK, PartOutcome.NOT_RUN)}
        checks = [check.id for step in self.lab.steps for check in step.checks]
        return tuple(check for check in checks if check not in proved)


def planned_parts(lab: Lab, cases: Sequence[WrongCase], *, whole: bool) -> Iterator[Part]:
    """Every part of a verification, not run yet, in the order of `Verification.run`."""
    on_solved = [case for case in cases if case.on == "solved"]
    if whole:
        yield _not_run(Phase.TEXT)
        yield _not_run(Phase.START)
    if whole or on_solved:
        yield from (_not_run(Phase.SOLUTION, step.id) for step in lab.steps)
        yield _not_run(Phase.MEMORY)
        if whole:
            yield _not_run(Phase.ANSWERS)
    yield from (_not_run(Phase.WRONG, case.name, case) for case in on_solved)
    if whole:
        yield _not_run(Phase.RESET)
    yield from (_not_run(Phase.WRONG, case.name, case) for case in cases if case.on == "fresh")
    if whole:
        yield from (_not_run(Phase.VALUES, told(values)) for values in trials(lab.declared)[1:])


def _not_run(phase: Phase, name: str = "", case: WrongCase | None = None) -> Part:
    check, says = (case.fails, case.says) if case else ("", "")
    return Part(phase=phase, name=name, check=check, says=says, outcome=PartOutcome.NOT_RUN)
