"""Proving several labs, some of them side by side: each in a process of its own, all of them with a report.

Owns what becomes of a lab whose process fails or is killed; knows nothing of processes (`grader.verify.crew`) or of
how anything is shown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from cluster.errors import Problem
from cluster.i18n import _
from grader.verify import broken_off, verify_lab
from grader.verify.crew import Crew, Died
from grader.verify.driver import SessionDriver, clear_away
from grader.verify.model import Part, VerifyEvent, VerifyReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cluster.machine import BootEvent
    from grader.session.lifecycle import Programs
    from grader.verify import Plan
    from grader.verify.crew import Tell


class Listener(Protocol):
    """Who is told, one thing at a time, in the process that called."""

    def told(self, lab: str, what: BootEvent | VerifyEvent) -> None:
        """Something happened."""

    def ended(self, lab: str, report: VerifyReport) -> None:
        """What came of a lab."""


@dataclass(frozen=True, slots=True)
class _Bug:
    """Our own failure, which was told where it happened."""

    what: str
    seconds: float


def verify_labs(
    plans: Mapping[str, Plan], jobs: int, programs: Programs, listener: Listener, on_bug: Callable[[Exception], None]
) -> list[VerifyReport]:
    """Prove every lab, `jobs` at a time; their reports in the order of `plans`.

    `on_bug` is called where it happens, in the process of the lab. Whatever is raised here (Ctrl-C), every lab was
    stopped before.
    """
    reports: dict[str, VerifyReport] = {}
    parts: dict[str, list[Part]] = {lab: [] for lab in plans}

    def told(lab: str, what: BootEvent | VerifyEvent) -> None:
        if isinstance(what, VerifyEvent) and what.part is not None:
            parts[lab].append(what.part)
        listener.told(lab, what)

    def ended(lab: str, result: VerifyReport | _Bug | Died) -> None:
        if not isinstance(result, VerifyReport):
            result = _broken_off(plans[lab], tuple(parts[lab]), result, partial(listener.told, lab))
        reports[lab] = result
        listener.ended(lab, result)

    work = {lab: partial(_prove, plan, programs, on_bug) for lab, plan in plans.items()}
    Crew(work, jobs, told, ended).run()
    return [reports[lab] for lab in plans]


def _prove(plan: Plan, programs: Programs, on_bug: Callable[[Exception], None], tell: Tell) -> VerifyReport | _Bug:
    """The work of one process."""
    began = time.monotonic()
    try:
        return verify_lab(plan, lambda: SessionDriver(plan.lab, tell, programs), tell)
    except Exception as error:  # noqa: BLE001  # our bug in one lab is reported, and stops no other
        on_bug(error)
        return _Bug(_("our bug: {error}").format(error=repr(error)), time.monotonic() - began)


def _broken_off(
    plan: Plan, parts: tuple[Part, ...], how: _Bug | Died, tell: Callable[[BootEvent | VerifyEvent], None]
) -> VerifyReport:
    """Its process is gone, and what it has told is all there is; its machine may run still."""
    fault: Literal["environment", "bug"] = "environment"
    if isinstance(how, _Bug):
        why, fault = how.what, "bug"
    else:
        why = _("the process that proved it ended: {how}").format(how=how.how)
    try:
        clear_away(plan.lab.id, tell)
    except Problem as problem:
        why += f"\n{problem.message}"
    return broken_off(plan, parts, why, fault, tell, seconds=how.seconds)
