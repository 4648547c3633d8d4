"""A class in sum: each lab with its learners, and for each step how many passed it, are at it, and what it took.

Owns these sums; knows nothing of files or of how they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.classroom.reading import whose
from grader.classroom.standing import Standing, standing_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.classroom.reading import Class


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A lab as it is known here: its steps in order with their titles, and the digest of its files."""

    title: str
    steps: Mapping[str, str]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One learner in one lab."""

    learner: str
    key: str
    file: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigures:
    """One step over all who began the lab; medians over those who passed it, None where nobody has."""

    id: str
    title: str
    passed: int
    here: int
    """Learners whose first open step it is."""
    seconds: float | None
    tries: float | None
    hints: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFigures:
    """One lab: its learners by name, and its steps in order."""

    lab: str
    title: str
    rows: tuple[Row, ...]
    steps: tuple[StepFigures, ...]

    @property
    def finished(self) -> int:
        """How many have passed all of it."""
        return sum(row.standing.finished is not None for row in self.rows)

    @property
    def hardest(self) -> tuple[StepFigures, ...]:
        """The steps at which most are, if they are at one at all; several where equally many are."""
        most = max((step.here for step in self.steps), default=0)
        return tuple(step for step in self.steps if most and step.here == most)


def figures(found: Class, plans: Mapping[str, Plan]) -> list[LabFigures]:
    """Every lab that somebody began, those of `plans` (lab → what is known of it here) first, in their order."""
    labs = {lab for report in found.reports for lab, record in report.labs.items() if record["entries"]}
    names = [report.name for report in found.reports]
    made = []
    for lab in [*(lab for lab in plans if lab in labs), *sorted(labs - plans.keys())]:
        order = list(plans[lab].steps) if lab in plans else []
        rows = [
            Row(
                learner=whose(report, names),
                key=report.key,
                file=report.file,
                standing=standing_of(lab, report.labs[lab]["entries"], order),
            )
            for report in found.reports
            if lab in report.labs and report.labs[lab]["entries"]
        ]
        made.append(_lab(lab, rows, plans.get(lab)))
    return made


def other_texts(labs: Sequence[LabFigures], plans: Mapping[str, Plan]) -> list[str]:
    """Learners whose lab was not the one that is known here: an older one, or one that was made easier."""
    return [
        _("{learner}, {lab}: checked by another text of the lab than the one here").format(
            learner=row.learner, lab=lab.lab
        )
        for lab in labs
        if lab.lab in plans
        for row in lab.rows
        if row.standing.content != plans[lab.lab].content
    ]


def _lab(lab: str, rows: list[Row], plan: Plan | None) -> LabFigures:
    ids = dict.fromkeys(name for row in rows for name in row.standing.steps)
    titles = plan.steps if plan else {}
    steps = tuple(_step(name, titles.get(name, ""), [row.standing for row in rows]) for name in ids)
    return LabFigures(lab=lab, title=plan.title if plan else "", rows=tuple(rows), steps=steps)


def _step(name: str, title: str, standings: list[Standing]) -> StepFigures:
    there = [standing.steps[name] for standing in standings if name in standing.steps]
    passed = [step for step in there if step.passed is not None]
    return StepFigures(
        id=name,
        title=title,
        passed=len(passed),
        here=sum(standing.at == name for standing in standings),
        seconds=median(step.seconds for step in passed) if passed else None,
        tries=median(step.tries for step in passed) if passed else None,
        hints=sum(step.hints for step in there),
    )
