"""What is remembered of each lab for good, however often its session is reset: `labs.json`.

Owns that file and the rule for time at work; the attempts themselves are bounded and lie beside it. Knows
nothing of sessions or of which labs exist: in which folder a book is kept is the caller's to say, and a book can
hold any number of labs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt

from cluster.i18n import _
from grader.outcome import states_by_step
from grader.progress.attempts import Attempt, append_attempt
from grader.progress.files import StoredFile, locked, read_stored, write_stored
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from grader.results import Result

FILE = "labs.json"
LONGEST_PAUSE = 15 * 60.0
"""Seconds between two signs of life (start, check, hint) after which the learner is taken to be away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabRecord:
    """One lab's history with this learner. Times are Unix seconds."""

    lab: str
    started: float | None = None
    """First start."""
    last: float | None = None
    """Latest start, check or hint."""
    finished: float | None = None
    """First check of the whole lab in which everything passed."""
    seconds_at_work: float = 0.0
    """Sum of the times between signs of life, pauses of more than LONGEST_PAUSE left out."""
    attempts: int = 0
    """Checks ever run (attempts.jsonl keeps only the latest)."""
    hints: int = 0
    """Hints ever shown."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """Step id → when it first passed."""
    total: int = 0
    """Steps the lab had at the last check."""


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    started: FiniteFloat | None = None
    last: FiniteFloat | None = None
    finished: FiniteFloat | None = None
    seconds_at_work: FiniteFloat = 0.0
    attempts: NonNegativeInt = 0
    hints: NonNegativeInt = 0
    steps: dict[str, FiniteFloat] = {}
    total: NonNegativeInt = 0


class _File(StoredFile):
    labs: dict[str, _Entry] = Field(default={})


def read_book(folder: Path) -> dict[str, LabRecord]:
    """Lab id → record, of every lab that was ever started or checked."""
    if not folder.is_dir():
        return {}
    with locked(folder):
        return _load(folder)[0]


def record_start(lab: str, at: float, folder: Path) -> str:
    """Note a start. Returns a sentence for the person if the book was damaged and set aside, else ""."""
    return _change(lab, at, folder, lambda seen: replace(seen, started=at if seen.started is None else seen.started))


def record_hint(lab: str, at: float, folder: Path) -> str:
    """Note that one more hint was shown; returns as `record_start`."""
    return _change(lab, at, folder, lambda seen: replace(seen, hints=seen.hints + 1))


def record_run(
    lab: str,
    results: Iterable[Result],
    *,
    steps_in_lab: int,
    at: float,
    seconds: float,
    folder: Path,
) -> str:
    """Note one run of `grader check` that ended at `at` and took `seconds`; returns as `record_start`.

    Only a run over whole steps may be recorded: a step of which one check was looked at would count as
    passed.
    """
    states = states_by_step(results)
    attempt = Attempt(lab=lab, at=at, seconds=seconds, steps=states, total=steps_in_lab)

    def run(seen: LabRecord) -> LabRecord:
        # A whole run says which steps the lab has now; those it once had no longer count.
        steps = {step: first for step, first in seen.steps.items() if step in states or not attempt.whole_lab}
        for step, state in states.items():
            if state is State.PASSED:
                steps.setdefault(step, at)
        finished = at if attempt.whole_lab and attempt.passed == attempt.total else None
        return replace(
            seen,
            attempts=seen.attempts + 1,
            steps=steps,
            total=steps_in_lab,
            finished=finished if seen.finished is None else seen.finished,
        )

    notes = (append_attempt(attempt, folder), _change(lab, at, folder, run))
    return "\n".join(filter(None, notes))


def _change(lab: str, at: float, folder: Path, change: Callable[[LabRecord], LabRecord]) -> str:
    with locked(folder):
        book, note = _load(folder)
        seen = book.get(lab, LabRecord(lab=lab))
        since = 0.0 if seen.last is None else at - seen.last
        # A clock that was set back gives a negative pause: no time at work, and `last` doesn't go back.
        work = since if 0.0 < since <= LONGEST_PAUSE else 0.0
        last = at if seen.last is None else max(at, seen.last)
        book[lab] = replace(change(seen), last=last, seconds_at_work=seen.seconds_at_work + work)
        _save(folder, book)
    return note


def _load(folder: Path) -> tuple[dict[str, LabRecord], str]:
    advice = _("upgrade batchlab; until then nothing is recorded")
    content, note = read_stored(folder / FILE, _File, advice)
    return {lab: LabRecord(lab=lab, **entry.model_dump()) for lab, entry in content.labs.items()}, note


def _save(folder: Path, book: Mapping[str, LabRecord]) -> None:
    labs = {
        lab: {
            "started": record.started,
            "last": record.last,
            "finished": record.finished,
            "seconds_at_work": round(record.seconds_at_work, 3),
            "attempts": record.attempts,
            "hints": record.hints,
            "steps": dict(record.steps),
            "total": record.total,
        }
        for lab, record in book.items()
    }
    write_stored(folder / FILE, {"labs": labs})
