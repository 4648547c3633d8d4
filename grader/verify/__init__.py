"""Proving that a lab is right: untouched nothing passes, solved all does, each wrong answer is caught.

Owns `verify_lab`; the procedure drives a lab through the small `Driver` protocol and knows no cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _, language
from grader.lab.problems import did_you_mean
from grader.verify.model import OnEvent, Part, PartOutcome, Phase, VerifyEvent, VerifyReport
from grader.verify.port import Driver
from grader.verify.procedure import Verification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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


def plan_verification(lab_id: str, only_cases: Iterable[str] | None = None) -> Plan:
    """What `verify_lab` will do; a caller that starts a cluster for it asks before.

    `only_cases`: names of wrong answers, None for all. Raises UsageProblem where the lab, its scripts, its
    cases or these names are wrong.
    """
    from grader.lab.cases import compare_cases, read_cases
    from grader.lab.catalogue import load_lab
    from grader.lab.scripts import compare_solutions, solution_scripts

    lab = load_lab(lab_id, language())
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
    )


def verify_lab(lab_id: str, driver: Driver, on_event: OnEvent, only_cases: Iterable[str] | None = None) -> VerifyReport:
    """Prove the lab on the untouched lab that `driver` drives; it is left in some state and not stopped.

    Raises UsageProblem as `plan_verification`; what goes wrong later is in the report.
    """
    plan = plan_verification(lab_id, only_cases)
    return Verification(plan.lab, plan.solution, plan.cases, driver, on_event, whole=plan.whole).run()
