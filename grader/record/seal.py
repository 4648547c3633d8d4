"""A report with its records, signed as a whole, and what shows that one was changed afterwards.

Owns what the session's key and the learner's key sign in a report, and the findings of an examination. Knows nothing of
how a report is made or shown; a report is plain JSON here, because whoever changed one could have put anything in it.

Each lab's part is signed by its session's key together with the learner's name and key, so that no part fits into
another's report; the whole by the learner's key, so that no part can be taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.record.chain import SEAL, clock_went_back, examine
from grader.record.journal import read_record
from grader.record.keys import SESSION_KEY, Key, digest, fits, kept_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCHEMA = "batchlab/report/v1"
MOST_LABS = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: in the record of `lab` at `entry`, where it belongs to one."""

    lab: str
    entry: int | None
    message: str

    def __str__(self) -> str:
        where = [self.lab] if self.lab else []
        if self.entry is not None:
            where.append(_("entry {number}").format(number=self.entry))
        return f"{' '.join(where)}: {self.message}" if where else self.message


@dataclass(slots=True)
class Examined:
    """A report that was looked at. `notes` are worth a look, and no proof of anything."""

    name: str
    key: str
    recorded: bool = False
    """Whether there is anything that could show a change."""
    entries: int = 0
    faults: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


class NoReport(Exception):
    """What was read is no report of ours: the message says why."""


# -- signing ------------------------------------------------------------------------------------------


def with_record(part: Mapping[str, Any], home: Path, learner: Mapping[str, str]) -> dict[str, Any]:
    """The part of a lab with the record of the session in `home`, signed; as it is where there is no record."""
    record = read_record(home)
    if record is None:
        return dict(part)
    try:
        key = kept_key(home, SESSION_KEY, make=False)
    except EnvironmentProblem:
        return dict(part)
    told = {"head": record.head, "entries": record.entries, "end": record.end}
    return lab_seal(part, told, learner, key)


def lab_seal(
    part: Mapping[str, Any], record: Mapping[str, Any], learner: Mapping[str, str], key: Key
) -> dict[str, Any]:
    """The part of a lab with its record, signed by the session's key."""
    return {**part, "record": {**record, "seal": key.sign(SEAL, _lab_content(part, record, learner))}}


def sealed(report: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """The whole report, signed by the learner's key."""
    content = {name: value for name, value in report.items() if name != "seal"}
    return {**content, "seal": key.sign(SEAL, content)}


def _lab_content(part: Mapping[str, Any], record: Mapping[str, Any], learner: Any) -> dict[str, Any]:
    """What the session's key signs. The entries by their hash: the record's own signatures hold them."""
    rest = {name: value for name, value in part.items() if name != "record"}
    signed = {name: value for name, value in record.items() if name not in ("seal", "entries")}
    return {"part": rest, "record": signed, "learner": learner}


# -- examining ----------------------------------------------------------------------------------------


def examine_report(report: Any) -> Examined:
    """What shows that `report` is not as it was written. NoReport where it is none."""
    try:
        return _examined(report)
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        # Whoever signed it himself can have signed any nonsense.
        raise NoReport(_("it is damaged: {why}").format(why=repr(error)[:80])) from error


def _examined(report: Any) -> Examined:
    if not isinstance(report, dict) or report.get("schema") != SCHEMA or not isinstance(report.get("labs"), list):
        raise NoReport(_("it is no report of `grader report`"))
    parts = report["labs"]
    sound = all(isinstance(part, dict) and isinstance(part.get("lab"), str) for part in parts)
    if not sound or len(parts) > MOST_LABS or len({part["lab"] for part in parts}) < len(parts):
        raise NoReport(_("its labs are damaged"))
    learner = report.get("learner")
    learner = learner if isinstance(learner, dict) else {}
    found = Examined(name=str(learner.get("name", "")), key=str(learner.get("key", "")))
    signed = any("record" in part and part["record"] is not None for part in parts)
    if not signed and not report.get("seal"):
        return found
    found.recorded = True
    for part in parts:
        if part.get("record") is not None:
            _examine_part(part, learner, found)
        elif part.get("state") != "not begun":
            found.notes.append(Finding(part["lab"], None, _("has no record")))
    content = {name: value for name, value in report.items() if name != "seal"}
    if not fits(found.key, SEAL, content, report.get("seal")) and not found.faults:
        message = _("the learner's key did not sign this report: its name, its labs or its figures were changed")
        found.faults.append(Finding("", None, message))
    return found


def _examine_part(part: Mapping[str, Any], learner: Mapping[str, Any], found: Examined) -> None:
    lab, record = part["lab"], part["record"]
    shaped = (
        isinstance(record, dict) and isinstance(record.get("entries"), list) and isinstance(record.get("end"), dict)
    )
    if not shaped:
        found.faults.append(Finding(lab, None, _("its record is damaged")))
        return
    head, entries = record.get("head"), record["entries"]
    faults = [Finding(lab, fault.entry, fault.message) for fault in examine(head, entries)]
    found.entries += len(entries)
    if not faults:
        faults += _of_end(lab, head, entries, record["end"])
        faults += _of_owner(lab, head, learner)
        if not faults and not fits(head["session"], SEAL, _lab_content(part, record, learner), record.get("seal")):
            message = _("its figures, or whose it is, were changed after it was signed")
            faults.append(Finding(lab, None, message))
        if not faults:
            found.notes += _notes(part, head, entries)
    found.faults += faults


def _of_end(lab: str, head: Any, entries: list[Any], end: Mapping[str, Any]) -> Iterator[Finding]:
    last = entries[-1] if entries else head
    if end.get("last") == digest(last):
        return
    following = entries[-1]["seq"] + 1 if entries else 0
    wanted = end.get("next")
    if isinstance(wanted, int) and wanted > following:
        message = _("is missing, and all behind it: {count}").format(count=wanted - following)
        yield Finding(lab, following, message)
    else:
        yield Finding(lab, following - 1, _("is not the one the record ended with"))


def _of_owner(lab: str, head: Mapping[str, Any], learner: Mapping[str, Any]) -> Iterator[Finding]:
    if head["lab"] != lab:
        yield Finding(lab, None, _("this is the record of another lab, {lab}").format(lab=head["lab"]))
    if head["learner"] and head["learner"] != learner.get("key"):
        yield Finding(lab, None, _("this is the record of another learner"))


def _notes(part: Mapping[str, Any], head: Mapping[str, Any], entries: list[Any]) -> Iterator[Finding]:
    lab = part["lab"]
    if not head["learner"]:
        yield Finding(lab, None, _("no learner's key vouches for this record"))
    for number in clock_went_back(entries):
        yield Finding(lab, number, _("is older than the one before: the clock was set back"))
    if not part["record"]["end"].get("kept"):
        yield Finding(lab, None, _("nothing says where this record ended: entries at its end may be missing"))
    values, content = None, None
    for entry in entries:
        if entry.get("unsure"):
            yield Finding(lab, entry["seq"], _("nothing said where the record ended: entries before may be missing"))
        if values is not None and entry.get("values") != values and entry.get("what") not in ("start", "reset"):
            yield Finding(lab, entry["seq"], _("the values changed, and the lab was not begun again"))
        if content is not None and entry.get("content") != content:
            yield Finding(lab, entry["seq"], _("the files of the lab changed"))
        values, content = entry.get("values"), entry.get("content")
    passed = steps_passed(entries)
    for step in part.get("steps") or {}:
        if step not in passed:
            message = _("step {step} is told as passed, and no check of this record passed it").format(step=step)
            yield Finding(lab, None, message)


def steps_passed(entries: list[Any]) -> dict[str, str]:
    """Step → when a check of the record first passed all of it."""
    found: dict[str, str] = {}
    for entry in entries:
        for step, checks in (entry.get("steps") or {}).items():
            if checks and all(state == "passed" for state in checks.values()):
                found.setdefault(step, entry["at"])
    return found
