"""The reports of a folder: which count, and why the others don't.

Owns what is a duplicate and what is left out; how a report is examined is `grader.record.seal`'s. Learners are told
apart by their keys, for names are given, and two may have the same.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.record.files import read_report
from grader.record.keys import fingerprint
from grader.record.seal import NoReport, examine_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

FEW = 40
"""Reports that one process reads sooner than several are begun."""
Why = Literal["changed", "no record", "no report", "duplicate", "older"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report that is as it was written. `labs`: lab → its record."""

    file: str
    name: str
    key: str
    at: str
    labs: dict[str, dict[str, Any]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One file that doesn't count. `older`: the same learner handed in a later one, which is nobody's fault."""

    file: str
    why: Why
    learner: str = ""
    says: tuple[str, ...] = ()


@dataclass(slots=True)
class Class:
    """What a folder holds. `suspicions` concern reports that count all the same."""

    reports: list[Report] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    suspicions: list[str] = field(default_factory=list)
    others: int = 0
    """Files that don't end in `.json`."""


def read_class(folder: Path, on_read: Callable[[int, int], None] = lambda _done, _all: None) -> Class:
    """Every report in `folder`, at any depth, the later one of each learner; `on_read` hears how far it is.

    UsageProblem where it is no folder.
    """
    if not folder.is_dir():
        raise UsageProblem(_("{path} is no folder").format(path=folder))
    files = list(_files(folder))
    reports = [file for file in files if file.suffix.lower() == ".json"]
    found = Class(others=len(files) - len(reports))
    sound: list[Report] = []
    for number, result in enumerate(_read_all(reports, folder), start=1):
        on_read(number, len(reports))
        if isinstance(result, Report):
            sound.append(result)
        else:
            found.left_out.append(result)
    found.reports = sorted(_singled_out(sound, found), key=lambda report: (report.name.casefold(), report.key))
    found.left_out.sort(key=lambda one: one.file)
    return found


def _read_all(files: Sequence[Path], folder: Path) -> Iterator[Report | LeftOut]:
    """Each report in order. Every entry of every record is a signature to be looked at, which is work for all cores."""
    names = [str(file.relative_to(folder)) for file in files]
    if len(files) < FEW:
        yield from map(read_one, files, names)
        return
    workers = min(8, len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        yield from pool.map(read_one, files, names, chunksize=4)


def read_one(path: Path, name: str) -> Report | LeftOut:
    """The report in `path`, called `name`, or why it doesn't count."""
    try:
        document = read_report(path)
        found = examine_report(document)
    except NoReport as refused:
        return LeftOut(file=name, why="no report", says=(str(refused),))
    if found.faults:
        return LeftOut(file=name, why="changed", learner=found.name, says=tuple(map(str, found.faults)))
    if not found.recorded:
        says = (_("nobody can tell whether it was changed"),)
        return LeftOut(file=name, why="no record", learner=found.name, says=says)
    labs = {part["lab"]: part["record"] for part in document["labs"] if part.get("record")}
    return Report(
        file=name,
        name=found.name,
        key=found.key,
        at=str(document.get("at", "")),
        labs=labs,
        notes=tuple(map(str, found.notes)),
    )


def _files(folder: Path) -> Iterator[Path]:
    """Files at any depth, hidden ones apart; links are not followed, for they lead anywhere."""
    for here, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path


def _singled_out(reports: Iterable[Report], found: Class) -> list[Report]:
    """One report for each learner: the latest, if all of that key can be of one learner."""
    by_key: dict[str, list[Report]] = {}
    for report in reports:
        by_key.setdefault(report.key, []).append(report)
    chosen = []
    for same in by_key.values():
        *before, latest = sorted(same, key=lambda report: (report.at, _length(report)))
        chosen.append(latest)
        for report in before:
            _compare(report, latest, found)
    _compare_sessions(chosen, found)
    return chosen


def _compare(report: Report, latest: Report, found: Class) -> None:
    """Say what an earlier report of the same key is: the same learner's, or somebody else's copy."""
    other = _("the same learner key as {file} ({learner})").format(file=latest.file, learner=latest.name)
    if report.name != latest.name:
        found.left_out.append(LeftOut(file=report.file, why="duplicate", learner=report.name, says=(other,)))
        found.suspicions.append(
            _("one learner key under two names: {names}").format(
                names=f"{report.name} ({report.file}), {latest.name} ({latest.file})"
            )
        )
    else:
        found.left_out.append(LeftOut(file=report.file, why="older", learner=report.name, says=(other,)))
    for lab, record in report.labs.items():
        later = latest.labs.get(lab)
        if later is None or later["head"] != record["head"]:
            message = _("{learner}, {lab}: the record handed in with {file} is not in {later}: a new one was begun")
        elif later["entries"][: len(record["entries"])] != record["entries"]:
            message = _("{learner}, {lab}: {file} and {later} tell two stories of one session")
        else:
            continue
        places = {"file": report.file, "later": latest.file}
        found.suspicions.append(message.format(learner=report.name, lab=lab, **places))


def _compare_sessions(reports: Iterable[Report], found: Class) -> None:
    """The same session in the reports of two learners: only one of them can have done it."""
    first: dict[str, Report] = {}
    for report in reports:
        for lab, record in report.labs.items():
            session = record["head"]["session"]
            if session in first:
                message = _("{lab}: one session in two reports: {names}")
                names = ", ".join(f"{one.name} ({one.file})" for one in (first[session], report))
                found.suspicions.append(message.format(lab=lab, names=names))
            first.setdefault(session, report)


def _length(report: Report) -> int:
    return sum(len(record["entries"]) for record in report.labs.values())


def whose(report: Report, names: Iterable[str]) -> str:
    """A learner's name, with the key's fingerprint where somebody else has the same name."""
    return report.name if list(names).count(report.name) == 1 else f"{report.name} ({fingerprint(report.key)})"
