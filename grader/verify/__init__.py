"""Proving that a lab is right: untouched nothing passes, solved all does, each wrong answer is caught.

Owns `verify_lab`; the procedure drives a lab through the small `Driver` protocol and knows no cluster.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cluster.errors import Problem, UsageProblem
from cluster.i18n import _, language
from grader.lab.problems import did_you_mean
from grader.verify.bench import in_words
from grader.verify.model import OnEvent, Part, PartOutcome, Phase, VerifyEvent, VerifyReport
from grader.verify.port import Driver
from grader.verify.procedure import Verification, planned_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grader.lab.cases import WrongCase
    from grader.lab.model import Lab
    from grader.lab.problems import LabProblem

__all__ = [
    "Driver",
    "OnEvent",
    "Part",
    "PartOutcome",
    "Phase",
    "Plan",
    "VerifyEvent",
    "VerifyReport",
    "broken_off",
    "plan_verification",
    "verify_lab",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will be proved: a lab, the solution of each step, wrong answers."""

    lab: Lab
    solution: Mapping[str, Path]
    cases: tuple[WrongCase, ...]
    whole: bool
    """Whether these are all of its wrong answers."""
    lacks: tuple[str, ...] = ()
    """What is wrong with its text, as far as that can be told without a cluster."""
    keep: bool = False
    """Whether the lab is left running where a part fails."""


def plan_verification(lab_id: str, only_cases: Iterable[str] | None = None, *, keep: bool = False) -> Plan:
    """What `verify_lab` will do; a caller that starts a cluster for it asks before.

    `only_cases`: names of wrong answers, None for all. `keep`: leave the lab running where a part fails.
    Raises UsageProblem where the lab, its scripts, its
    cases or these names are wrong.
    """
    from grader.collections.trust import refuse_untrusted
    from grader.lab.cases import compare_cases, read_cases
    from grader.lab.catalogue import load_lab
    from grader.lab.scripts import compare_solutions, solution_scripts

    lab = load_lab(lab_id, language())
    refuse_untrusted(lab)
    # Only what a verification stands on: the rest of lint may still be open while a lab is written.
    found: list[LabProblem] = []
    drafts = read_cases(lab.folder, found)
    found += compare_cases(drafts, {step.id: [check.id for check in step.checks] for step in lab.steps})
    compare_solutions(lab.folder, [(step.id, step.line) for step in lab.steps], found)
    if found:
        raise UsageProblem("\n".join(map(str, found)))
    cases = {draft.case.name: draft.case for draft in drafts if draft.case is not None}
    names = list(cases) if only_cases is None else list(dict.fromkeys(only_cases))
    for name in names:
        if name not in cases:
            raise UsageProblem(
                _("{lab} has no wrong answer {name}").format(lab=lab_id, name=name) + did_you_mean(name, cases),
                _("there are: {names}").format(names=", ".join(cases)),
            )
    return Plan(
        lab=lab,
        solution=solution_scripts(lab.folder),
        cases=tuple(cases[name] for name in names),
        whole=only_cases is None,
        lacks=tuple(map(str, _lacks(lab))),
        keep=keep,
    )


def _lacks(lab: Lab) -> list[LabProblem]:
    """Steps without a check, and commands that a solution needs and the text never mentions."""
    from grader.lab.needs import command_problems
    from grader.lab.problems import LabProblem

    message = _("step '{id}' has no check: nothing tells a learner that it is done")
    file = str(lab.folder / "lab.md")
    found = [LabProblem(file, step.line, 1, message.format(id=step.id)) for step in lab.steps if not step.checks]
    command_problems(lab.folder, found)
    return found


def verify_lab(
    plan: Plan,
    begin: Callable[[], AbstractContextManager[Driver]],
    on_event: OnEvent,
    clock: Callable[[], float] = time.monotonic,
) -> VerifyReport:
    """Prove a lab. `begin` starts it untouched, and stops it where the driver's context ends.

    A lab that can't be started, and one that can't be stopped, are in the report too; nothing is raised but our bugs.
    """
    begun, report = clock(), None
    started = ended = begun
    try:
        with begin() as driver:
            started = clock()
            verification = Verification(
                plan.lab,
                plan.solution,
                plan.cases,
                driver,
                on_event,
                whole=plan.whole,
                lacks=plan.lacks,
                keep=plan.keep,
            )
            report = verification.run()
            ended = clock()
    except Problem as problem:
        if report is None:
            return broken_off(plan, (), in_words(problem), "environment", on_event, seconds=clock() - begun)
        report = replace(report, trouble=in_words(problem))
    report.spent.start, report.spent.stop = started - begun, clock() - ended
    return replace(report, seconds=clock() - begun)


def broken_off(
    plan: Plan,
    parts: Sequence[Part],
    why: str,
    fault: Literal["environment", "bug"],
    on_event: OnEvent,
    *,
    seconds: float,
) -> VerifyReport:
    """The report of a verification that ended after `parts`, for no fault of the lab: the next part failed for it,
    the rest was not run. `on_event` hears of these."""
    planned = [*planned_parts(plan.lab, plan.cases, whole=plan.whole)]
    rest = planned[len(parts) :]
    if rest:
        rest[0] = replace(rest[0], outcome=PartOutcome.ERROR, problems=(why,), fault=fault)
    for number, part in enumerate(rest, len(parts) + 1):
        on_event(VerifyEvent(phase=part.phase, name=part.name, number=number, total=len(planned), part=part))
    return VerifyReport(
        lab=plan.lab.id,
        title=plan.lab.title,
        at=time.time(),
        seconds=seconds,
        parts=(*parts, *rest),
        whole=plan.whole,
        trouble="" if rest else why,
        our_bug=not rest and fault == "bug",
    )
