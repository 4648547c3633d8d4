"""Proving that a lab is right: untouched nothing passes, solved all does, each wrong answer is caught.

Owns `verify_lab`; the procedure drives a lab through the small `Driver` protocol and knows no cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _, language
from grader.verify.model import OnEvent, Part, PartOutcome, Phase, VerifyEvent, VerifyReport
from grader.verify.port import Driver
from grader.verify.procedure import Verification

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Driver",
    "OnEvent",
    "Part",
    "PartOutcome",
    "Phase",
    "VerifyEvent",
    "VerifyReport",
    "verify_lab",
]


def verify_lab(lab_id: str, driver: Driver, on_event: OnEvent, only_cases: Iterable[str] | None = None) -> VerifyReport:
    """Prove the lab on the untouched lab that `driver` drives; it is left in some state and not stopped.

    `only_cases`: names of wrong answers; then only they are tried, and what they need. Raises UsageProblem
    where the lab, its cases or these names are wrong; what goes wrong later is in the report.
    """
    from grader.lab.cases import load_cases
    from grader.lab.catalogue import load_lab
    from grader.lab.lint import lint_lab
    from grader.lab.scripts import solution_scripts

    lab = load_lab(lab_id, language())
    # A lab that lint refuses (a step without a solution, a case of an unknown check) can't be proved.
    problems = lint_lab(lab.folder)
    if problems:
        raise UsageProblem("\n".join(map(str, problems)))
    cases, _problems = load_cases(lab.folder)
    chosen = cases
    if only_cases is not None:
        names = list(only_cases)
        known = {case.name: case for case in cases}
        for name in names:
            if name not in known:
                raise UsageProblem(
                    _("{lab} has no wrong answer {name}").format(lab=lab_id, name=name),
                    _("there are: {names}").format(names=", ".join(known)),
                )
        chosen = [known[name] for name in dict.fromkeys(names)]
    return Verification(lab, solution_scripts(lab.folder), chosen, driver, on_event, whole=only_cases is None).run()
