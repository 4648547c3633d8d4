"""What `grader report` shows: progress over labs, as a table, CSV, or JSON `batchlab/report/v1`.

Owns these formats and the rows behind them; knows nothing of where the records are kept.
"""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field
from rich.cells import cell_len

from cluster.i18n import _
from grader.progress import LabRecord
from grader.report.json import Count, Model, Seconds, Text, Time, utc
from grader.report.layout import BOLD, GREEN, WIDTH, cut, pad, paint, wrap
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grader.progress import Attempt

SCHEMA: Final = "batchlab/report/v1"
COLUMNS: Final = (
    "lab",
    "state",
    "steps_passed",
    "steps_total",
    "seconds_at_work",
    "attempts",
    "hints",
    "started",
    "last",
    "finished",
)
"""The columns of the CSV, in order."""

LabState = Literal["not begun", "begun", "finished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One lab: what is remembered of it, and its attempts that are still kept."""

    record: LabRecord
    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def state(self) -> LabState:
        """Finished once is finished for good."""
        if self.record.finished is not None:
            return "finished"
        return "not begun" if self.record.last is None else "begun"

    @property
    def steps_passed(self) -> int:
        """Steps that passed at some time, of those the lab has now."""
        return min(len(self.record.steps), self.record.total)


class AttemptPart(Model):
    """One run of `grader check` that is still kept."""

    at: Time
    seconds: Seconds
    passed: Count
    total: Annotated[int, Field(ge=0, description="Steps of the lab, looked at or not.")]
    steps: dict[Text, State] = Field(description="Step id to state, of the steps looked at.")


class EndPart(Model):
    """Where the record ended when the report was written."""

    next: Count = Field(description="Number of the entry that would come next.")
    last: Text = Field(description="`sha256:` digest of the last entry.")
    kept: bool = Field(description="False where only the last line there was could say so.")


class RecordPart(Model):
    """The record of a session; `docs/class.md` says what it proves."""

    head: dict[str, object] = Field(description="`format`, `lab`, public keys `session` and `learner`, and `bond`.")
    entries: tuple[dict[str, object] | str, ...] = Field(description="Oldest first; text is a line that is damaged.")
    end: EndPart
    seal: Text = Field(description="Signature of the session's key over this lab's part and the learner.")


class LabPart(Model):
    """One lab."""

    lab: Text
    state: LabState
    steps_passed: Count
    steps_total: Count = Field(description="As of the last check; 0 before the first.")
    steps: dict[Text, Time] = Field(description="Step id to the time it first passed.")
    seconds_at_work: Seconds = Field(description="Between signs of life; pauses over 15 minutes left out.")
    attempts: Count = Field(description="Runs of `grader check` ever.")
    hints: Count = Field(description="Hints shown ever.")
    started: Time | None
    last: Time | None = Field(description="Latest start, check or hint.")
    finished: Time | None = Field(description="First time the whole lab passed.")
    kept: tuple[AttemptPart, ...] = Field(description="The latest attempts, oldest first.")
    record: RecordPart | None = Field(None, description="What was checked, signed entry by entry.")


class LearnerPart(Model):
    """Whose report it is."""

    name: Text
    key: Text = Field(description="The learner's public key (Ed25519, base64).")


class ReportDocument(Model):
    """What `grader report --json` writes."""

    schema_name: Literal["batchlab/report/v1"] = Field(alias="schema")
    at: Time
    learner: LearnerPart | None = Field(None, description="Null in a lab's shell, where nothing can be signed.")
    labs: tuple[LabPart, ...]
    seal: Text | None = Field(None, description="Signature of the learner's key over all the rest.")


def progress_rows(lab_ids: Iterable[str], book: Mapping[str, LabRecord], attempts: Iterable[Attempt] = ()) -> list[Row]:
    """One row for each lab of the catalogue in its order, then for those that only the book still knows."""
    ids = dict.fromkeys([*lab_ids, *sorted(book)])
    kept: dict[str, list[Attempt]] = {lab: [] for lab in ids}
    for attempt in attempts:
        kept.setdefault(attempt.lab, []).append(attempt)
    return [Row(record=book.get(lab, LabRecord(lab=lab)), attempts=tuple(kept[lab])) for lab in ids]


def render_progress(rows: Iterable[Row], *, width: int = WIDTH, colour: bool = False) -> str:
    """The table for people: dates only, in local time; labs not begun are named below it."""
    rows = list(rows)
    begun = [row for row in rows if row.state != "not begun"]
    waiting = [row.record.lab for row in rows if row.state == "not begun"]
    lines = _table(begun, width, colour=colour) if begun else [_("No lab has been started yet.")]
    if waiting:
        if begun:
            lines.append("")
        lines += wrap(_("not begun: {labs}").format(labs=", ".join(waiting)), width)
    return "\n".join(lines) + "\n"


def render_progress_csv(rows: Iterable[Row]) -> str:
    """One line for each lab under COLUMNS; times in UTC, empty where there is none."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        record = row.record
        writer.writerow(
            [
                record.lab,
                row.state,
                row.steps_passed,
                record.total,
                round(record.seconds_at_work),
                record.attempts,
                record.hints,
                *(_utc(at) or "" for at in (record.started, record.last, record.finished)),
            ]
        )
    return target.getvalue()


def render_progress_json(
    rows: Iterable[Row], *, at: float, sign: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> str:
    """The document `batchlab/report/v1`, indented, ended by a new line.

    `sign` adds the records and the signatures to it, as it will be written.
    """
    content = {"schema": SCHEMA, "at": utc(at), "labs": [_lab(row) for row in rows]}
    document = ReportDocument.model_validate(content)
    if sign is not None:
        written = document.model_dump(mode="json", by_alias=True, exclude_unset=True)
        document = ReportDocument.model_validate_json(json.dumps(sign(written)))
    return document.model_dump_json(by_alias=True, indent=2, exclude_unset=True) + "\n"


def duration(seconds: float) -> str:
    """A time at work for people: `45 s`, `12 min`, `3 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return _("{seconds} s").format(seconds=whole)
    minutes = round(whole / 60)
    if minutes < 60:
        return _("{minutes} min").format(minutes=minutes)
    return _("{hours} h {minutes} min").format(hours=minutes // 60, minutes=f"{minutes % 60:02d}")


def _table(rows: list[Row], width: int, *, colour: bool) -> list[str]:
    titles = [
        *(_("lab"), _("steps"), _("at work"), _("checks"), _("hints")),
        *(_("first"), _("last"), _("finished")),
    ]
    cells = [
        [
            row.record.lab,
            _("{passed} of {total}").format(passed=row.steps_passed, total=row.record.total)
            if row.record.total
            else "-",
            duration(row.record.seconds_at_work),
            str(row.record.attempts),
            str(row.record.hints),
            *map(_day, (row.record.started, row.record.last, row.record.finished)),
        ]
        for row in rows
    ]
    widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    # Only the lab's name can give way; everything else is short.
    widths[0] = max(8, min(widths[0], width - sum(widths[1:]) - 2 * (len(widths) - 1)))
    lines = [paint(_columns(titles, widths), BOLD, on=colour)]
    for row, line in zip(rows, cells, strict=True):
        lines.append(paint(_columns(line, widths), GREEN, on=colour and row.state == "finished"))
    return lines


def _columns(line: list[str], widths: list[int]) -> str:
    return "  ".join(pad(cut(text, size), size) for text, size in zip(line, widths, strict=True)).rstrip()


def _day(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d", time.localtime(at))


def _utc(at: float | None) -> str | None:
    return None if at is None else utc(at)


def _lab(row: Row) -> dict[str, object]:
    record = row.record
    return {
        "lab": record.lab,
        "state": row.state,
        "steps_passed": row.steps_passed,
        "steps_total": record.total,
        "steps": {step: utc(at) for step, at in record.steps.items()},
        "seconds_at_work": round(record.seconds_at_work, 3),
        "attempts": record.attempts,
        "hints": record.hints,
        "started": _utc(record.started),
        "last": _utc(record.last),
        "finished": _utc(record.finished),
        "kept": [
            {
                "at": utc(attempt.at),
                "seconds": round(attempt.seconds, 3),
                "passed": attempt.passed,
                "total": attempt.total,
                "steps": dict(attempt.steps),
            }
            for attempt in row.attempts
        ],
    }
