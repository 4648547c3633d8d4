"""A class as text for a terminal, as CSV, and as JSON `batchlab/class/v1`.

Owns these three; the page to print is `grader.classroom.page`'s.
"""

from __future__ import annotations

import csv
import io
import time
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from rich.cells import cell_len

from cluster.i18n import _
from grader.report.json import Count, Model, Seconds, Text, Time, utc
from grader.report.layout import BOLD, GREEN, cut, hanging, one_line, pad, paint, wrap
from grader.report.progress_report import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.figures import LabFigures, Row
    from grader.classroom.reading import Class, LeftOut

COLUMNS = (
    *("learner", "key", "lab", "step", "steps_passed", "steps_total", "checks", "hints", "resets"),
    *("seconds_at_work", "started", "last", "finished", "file"),
)
"""The columns of the CSV, in order; `step` is the first that never passed."""


# -- text -------------------------------------------------------------------------------------------------


def render_class(found: Class, labs: Sequence[LabFigures], odd: Sequence[str], *, width: int, colour: bool) -> str:
    """For a terminal: each lab with its learners and its steps, then what needs a look."""
    lines = wrap(summary(found, labs), width)
    for lab in labs:
        lines += ["", paint(cut(one_line(f"{lab.lab}  {lab.title}"), width), BOLD, on=colour)]
        lines += [*_learners(lab, width, colour=colour), "", *_steps(lab, width, colour=colour)]
        if told := stops(lab):
            lines += ["", *wrap(told, width)]
    for title, items in looks(found, odd):
        lines += ["", paint(title, BOLD, on=colour)]
        lines += [line for item in items for line in hanging("  ", wrap(one_line(item), width - 4), 0, 4)]
    return "\n".join(lines) + "\n"


def summary(found: Class, labs: Sequence[LabFigures]) -> str:
    """One sentence: how many, of what."""
    text = _("learners: {learners}, labs: {labs}").format(learners=len(found.reports), labs=len(labs))
    out = sum(one.why != "older" for one in found.left_out)
    if out:
        text += _(", files left out: {count}").format(count=out)
    return text


def stops(lab: LabFigures) -> str:
    """Where most are, in one sentence; "" where nobody is at any step."""
    if not lab.hardest:
        return ""
    names = ", ".join(one_line(step.id) for step in lab.hardest)
    return _("most are at: {steps} ({count} of {all})").format(
        steps=names, count=lab.hardest[0].here, all=len(lab.rows)
    )


def looks(found: Class, odd: Sequence[str]) -> list[tuple[str, list[str]]]:
    """What needs a look: (title, sentences), without those that have none."""
    changed = [_left_out(one) for one in found.left_out if one.why == "changed"]
    rest = [_left_out(one) for one in found.left_out if one.why in ("no report", "no record", "duplicate")]
    older = [_left_out(one) for one in found.left_out if one.why == "older"]
    notes = [f"{report.name} ({report.file}): {note}" for report in found.reports for note in report.notes]
    parts = [
        (_("Changed after they were written, and left out"), changed),
        (_("Needs a look"), [*found.suspicions, *notes, *odd]),
        (_("Left out"), rest),
        (_("Earlier reports of the same learners"), older),
    ]
    return [(title, items) for title, items in parts if items]


def _left_out(one: LeftOut) -> str:
    whose = f" ({one.learner})" if one.learner else ""
    more = _(" (and {count} more)").format(count=len(one.says) - 3) if len(one.says) > 3 else ""
    return f"{one.file}{whose}: {'; '.join(one.says[:3])}{more}"


def _learners(lab: LabFigures, width: int, *, colour: bool) -> list[str]:
    titles = [_("learner"), _("at step"), _("passed"), _("checks"), _("hints"), _("at work"), _("last")]
    rows = [
        [
            one_line(row.learner),
            one_line(row.standing.at) or _("finished"),
            _("{passed} of {total}").format(passed=row.standing.passed, total=len(row.standing.steps)),
            str(row.standing.checks),
            str(sum(step.hints for step in row.standing.steps.values())),
            duration(row.standing.seconds),
            day(row.standing.last),
        ]
        for row in lab.rows
    ]
    done = [row.standing.finished is not None for row in lab.rows]
    return _table(titles, rows, width, [GREEN if colour and one else "" for one in done])


def _steps(lab: LabFigures, width: int, *, colour: bool) -> list[str]:
    titles = [_("step"), _("passed"), _("here"), _("took"), _("tries"), _("hints")]
    rows = [
        [
            one_line(step.id),
            str(step.passed),
            str(step.here),
            "-" if step.seconds is None else duration(step.seconds),
            "-" if step.tries is None else f"{step.tries:g}",
            str(step.hints),
        ]
        for step in lab.steps
    ]
    hard = {step.id for step in lab.hardest}
    return _table(titles, rows, width, [BOLD if colour and step.id in hard else "" for step in lab.steps])


def _table(titles: list[str], rows: list[list[str]], width: int, styles: list[str]) -> list[str]:
    widths = [max(map(cell_len, column)) for column in zip(titles, *rows, strict=True)]
    widths[0] = max(8, min(widths[0], width - sum(widths[1:]) - 2 * len(widths)))
    lines = []
    for line, style in zip([titles, *rows], ["", *styles], strict=True):
        text = "  ".join(pad(cut(cell, size), size) for cell, size in zip(line, widths, strict=True)).rstrip()
        lines.append("  " + paint(text, style, on=bool(style)))
    return lines


def day(at: float | None) -> str:
    """A time for people, in this machine's time zone."""
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


# -- CSV --------------------------------------------------------------------------------------------------


def render_class_csv(labs: Sequence[LabFigures]) -> str:
    """One line for each learner and lab, under COLUMNS; times in UTC, empty where there is none."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for lab in labs:
        for row in lab.rows:
            content = _row(row)
            line = {**content, "lab": lab.lab, "seconds_at_work": round(content["seconds_at_work"])}
            writer.writerow([_harmless(line[column]) for column in COLUMNS])
    return target.getvalue()


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: names and files are whatever somebody wrote."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        cell = one_line(cell)
        return f"'{cell}" if cell.lstrip()[:1] in ("=", "+", "-", "@", "|", "%") else cell
    return cell


# -- JSON -------------------------------------------------------------------------------------------------


class StepOfLearner(Model):
    """One step of one learner."""

    id: Text
    passed: Time | None = Field(description="When it first passed.")
    tries: Count = Field(description="Checks before that, while it was the first step open.")
    hints: Count
    seconds: Seconds = Field(description="At work on it, pauses over 15 minutes left out.")


class LearnerOfClass(Model):
    """One learner in one lab; all of it is read from the record."""

    learner: Text
    key: Text = Field(description="The learner's public key.")
    file: Text
    step: Text = Field(description="The first step that never passed; empty where all did.")
    steps_passed: Count
    steps_total: Count
    checks: Count
    hints: Count
    resets: Count
    seconds_at_work: Seconds
    started: Time | None
    last: Time | None
    finished: Time | None
    values: dict[Text, int | Text] = Field(description="What was drawn for this learner.")
    steps: tuple[StepOfLearner, ...]


class StepOfClass(Model):
    """One step over all learners of the lab."""

    id: Text
    passed: Count = Field(description="Learners who passed it.")
    here: Count = Field(description="Learners whose first open step it is.")
    seconds: Seconds | None = Field(description="Median of those who passed it; null where nobody did.")
    tries: float | None = Field(description="Median of those who passed it; null where nobody did.")
    hints: Count


class LabOfClass(Model):
    """One lab."""

    lab: Text
    finished: Count
    hardest: tuple[Text, ...] = Field(description="The steps at which most learners are.")
    steps: tuple[StepOfClass, ...]
    learners: tuple[LearnerOfClass, ...]


class LeftOutOfClass(Model):
    """A file that does not count."""

    file: Text
    why: Literal["changed", "no record", "no report", "duplicate", "older"]
    learner: Text
    says: tuple[Text, ...]


class ClassDocument(Model):
    """What `grader class --json` writes."""

    schema_name: Literal["batchlab/class/v1"] = Field("batchlab/class/v1", alias="schema")
    at: Time
    labs: tuple[LabOfClass, ...]
    left_out: tuple[LeftOutOfClass, ...]
    suspicions: tuple[Text, ...] = Field(description="Duplicates, lost records and the like, in words.")
    notes: tuple[Text, ...] = Field(description="What single reports and labs show, in words.")


def class_content(found: Class, labs: Sequence[LabFigures], odd: Sequence[str], at: float) -> dict[str, Any]:
    """The content of the document."""
    return {
        "at": utc(at),
        "labs": [
            {
                "lab": lab.lab,
                "finished": lab.finished,
                "hardest": [step.id for step in lab.hardest],
                "steps": [
                    {
                        "id": step.id,
                        "passed": step.passed,
                        "here": step.here,
                        "seconds": step.seconds,
                        "tries": step.tries,
                        "hints": step.hints,
                    }
                    for step in lab.steps
                ],
                "learners": [{**_row(row), **_details(row)} for row in lab.rows],
            }
            for lab in labs
        ],
        "left_out": [
            {"file": one.file, "why": one.why, "learner": one.learner, "says": one.says} for one in found.left_out
        ],
        "suspicions": found.suspicions,
        "notes": [f"{report.name} ({report.file}): {note}" for report in found.reports for note in report.notes]
        + list(odd),
    }


def _row(row: Row) -> dict[str, Any]:
    standing = row.standing
    return {
        "learner": row.learner,
        "key": row.key,
        "file": row.file,
        "step": standing.at,
        "steps_passed": standing.passed,
        "steps_total": len(standing.steps),
        "checks": standing.checks,
        "hints": sum(step.hints for step in standing.steps.values()),
        "resets": standing.resets,
        "seconds_at_work": round(standing.seconds, 3),
        **{
            name: None if at is None else utc(at)
            for name, at in (
                ("started", standing.started),
                ("last", standing.last),
                ("finished", standing.finished),
            )
        },
    }


def _details(row: Row) -> dict[str, Any]:
    drawn = {name: value for name, value in row.standing.values.items() if type(value) in (int, str)}
    steps = [
        {
            "id": name,
            "passed": None if step.passed is None else utc(step.passed),
            "tries": step.tries,
            "hints": step.hints,
            "seconds": round(step.seconds, 3),
        }
        for name, step in row.standing.steps.items()
    ]
    return {"values": drawn, "steps": steps}
