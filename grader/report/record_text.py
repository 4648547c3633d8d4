"""What `grader report verify` says, for people and as `batchlab/report-verify/v1`.

Owns both forms; knows nothing of how a report is examined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from cluster.i18n import _
from grader.record.keys import fingerprint
from grader.report.json import Count, Model, Text
from grader.report.layout import clean

if TYPE_CHECKING:
    from pathlib import Path

    from grader.record.seal import Examined, Finding

ReportState = Literal["intact", "changed", "no record", "no report"]


class FindingSaid(Model):
    """One thing that was found."""

    lab: Text = Field(description="Empty where it concerns the whole report.")
    entry: int | None = Field(description="Number of the entry of the lab's record; null for all of it.")
    message: Text


class ReportSaid(Model):
    """One file."""

    file: Text
    state: ReportState
    learner: Text = Field(description="The name in it.")
    key: Text = Field(description="The learner's public key; empty where there is none.")
    entries: Count = Field(description="Entries of all its records.")
    faults: tuple[FindingSaid, ...] = Field(description="What shows that it was changed.")
    notes: tuple[FindingSaid, ...] = Field(description="Worth a look, and no proof of anything.")


class ReportVerified(Model):
    """What `grader report verify --json` writes."""

    schema_name: Literal["batchlab/report-verify/v1"] = Field("batchlab/report-verify/v1", alias="schema")
    exit_code: Literal[0, 1, 2] = Field(description="0 all intact, 1 one changed or without record, 2 one no report.")
    reports: tuple[ReportSaid, ...]


def state_of(found: Examined) -> ReportState:
    """The one word for what was found."""
    if found.faults:
        return "changed"
    return "intact" if found.recorded else "no record"


def content_of(file: Path, found: Examined | None, why: str) -> dict[str, Any]:
    """The entry of one file in the document; `why` it is no report."""
    if found is None:
        fault = {"lab": "", "entry": None, "message": why}
        head = {"file": str(file), "state": "no report", "learner": "", "key": "", "entries": 0}
        return {**head, "faults": [fault], "notes": []}
    return {
        "file": str(file),
        "state": state_of(found),
        "learner": found.name,
        "key": found.key,
        "entries": found.entries,
        "faults": [_said(one) for one in found.faults],
        "notes": [_said(one) for one in found.notes],
    }


def render_examined(file: Path, found: Examined) -> str:
    """One line for the file, and one for each thing that was found."""
    whose = clean(found.name) + (f" ({fingerprint(found.key)})" if found.key else "")
    if found.faults:
        lines = [_("{file}: changed (the report of {learner})").format(file=clean(str(file)), learner=whose)]
    elif found.recorded:
        lines = [
            _("{file}: intact, the report of {learner}, {count} entries").format(
                file=clean(str(file)), learner=whose, count=found.entries
            )
        ]
    else:
        lines = [_("{file}: has no record, so nobody can tell whether it was changed").format(file=clean(str(file)))]
    lines += [f"  {clean(str(fault))}" for fault in found.faults]
    lines += [f"  {_('note')}: {clean(str(note))}" for note in found.notes]
    return "\n".join(lines) + "\n"


def render_refused(file: Path, why: str) -> str:
    """The line for a file that is no report."""
    return _("{file}: no report: {why}").format(file=clean(str(file)), why=clean(why)) + "\n"


def _said(finding: Finding) -> dict[str, Any]:
    return {"lab": finding.lab, "entry": finding.entry, "message": finding.message}
