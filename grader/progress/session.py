"""The progress of one session: achievements, hints shown, start and finish, in `<session>/progress.json`.

Owns that file; knows nothing of other labs or sessions, or of what a check looks at.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import Field, FiniteFloat, NonNegativeInt

from cluster.i18n import _
from grader.progress.files import NewerSchema, StoredFile, locked, read_stored, set_aside, write_stored
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.results import Result

FILE = "progress.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one session has reached. `note` is a sentence for the person (a damaged file was set aside)."""

    started: float | None = None
    """When the lab was first started in this session folder."""
    finished: float | None = None
    """When a check of the whole lab first passed completely."""
    achievements: Mapping[str, float] = field(default_factory=dict)
    """Check id → when it first passed."""
    hints: Mapping[str, int] = field(default_factory=dict)
    """Step id → how many of its hints were shown."""
    note: str = ""


class _File(StoredFile):
    started: FiniteFloat | None = None
    finished: FiniteFloat | None = None
    achievements: dict[str, FiniteFloat] = Field(default={})
    hints: dict[str, NonNegativeInt] = Field(default={})


def load_progress(session: Path) -> Progress:
    """The progress kept in the session folder; an empty one where there is none.

    A damaged file is renamed to `progress.json.damaged-<time>` and named in `note`. Raises
    EnvironmentProblem if the file can't be read, or was written by a newer Batchlab.
    """
    if not session.is_dir():
        return Progress()
    with locked(session):
        return _load(session)


def begin_progress(session: Path, at: float) -> Progress:
    """Note that the lab was started at `at`; an earlier start stays."""
    with locked(session):
        now = _load(session)
        return _save(session, replace(now, started=at if now.started is None else now.started))


def remember_results(session: Path, results: Iterable[Result], *, at: float, whole_lab: bool) -> Progress:
    """Add what passed in a run that ended at `at`; first times stay.

    `whole_lab` says that `results` covers every check of the lab: only then can the lab be finished.
    """
    results = list(results)
    with locked(session):
        now = _load(session)
        achievements = dict(now.achievements)
        for result in results:
            if result.state is State.PASSED:
                first = at if result.achieved is None else result.achieved
                achievements[result.check] = min(first, achievements.get(result.check, first))
        done = whole_lab and bool(results) and all(result.state is State.PASSED for result in results)
        finished = at if done and now.finished is None else now.finished
        return _save(session, replace(now, achievements=achievements, finished=finished))


def note_hints(session: Path, step_id: str, shown: int) -> Progress:
    """Note that `shown` hints of a step have been shown; the number never goes down."""
    with locked(session):
        now = _load(session)
        hints = {**now.hints, step_id: max(shown, now.hints.get(step_id, 0))}
        return _save(session, replace(now, hints=hints))


def set_achievements(session: Path, achievements: Mapping[str, float]) -> Progress:
    """Remember exactly these (check id → when it first passed); for whoever proves a lab."""
    with locked(session):
        return _save(session, replace(_load(session), achievements=dict(achievements)))


def forget_progress(session: Path, at: float) -> Progress:
    """Begin again after a reset: the cluster that was achieved on is gone, the hints have been read.

    Also the way out of a file written by a newer Batchlab: it is set aside.
    """
    with locked(session):
        try:
            now = _load(session)
        except NewerSchema as newer:
            now = Progress(note=set_aside(session / FILE, newer.message))
        return _save(session, Progress(started=at, hints=now.hints, note=now.note))


def _load(session: Path) -> Progress:
    advice = _("upgrade batchlab, or begin the lab again with `grader reset`")
    content, note = read_stored(session / FILE, _File, advice)
    return Progress(**content.model_dump(), note=note)


def _save(session: Path, progress: Progress) -> Progress:
    content = {
        "started": progress.started,
        "finished": progress.finished,
        "achievements": dict(progress.achievements),
        "hints": dict(progress.hints),
    }
    write_stored(session / FILE, content)
    return progress
