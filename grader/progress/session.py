"""The progress of one session: achievements, hints shown, start and finish, in `<session>/progress.json`.

Owns that file; knows nothing of other labs or sessions, or of what a check looks at.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, NonNegativeInt, ValidationError

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.progress.files import locked, read_whole, set_aside, write_whole
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.results import Result

FILE = "progress.json"
SCHEMA = 1


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


class _File(BaseModel):
    """The file as stored; keys that a later version of the same schema adds are ignored."""

    model_config = ConfigDict(strict=True)

    schema_number: Literal[1]
    started: FiniteFloat | None = None
    finished: FiniteFloat | None = None
    achievements: dict[str, FiniteFloat] = {}
    hints: dict[str, NonNegativeInt] = {}


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
        except _NewerSchema as newer:
            now = Progress(note=set_aside(session / FILE, newer.message))
        return _save(session, Progress(started=at, hints=now.hints, note=now.note))


class _NewerSchema(EnvironmentProblem):
    """The file is not damaged, we are too old for it: never set aside without being asked."""


def _load(session: Path) -> Progress:
    path = session / FILE
    try:
        data = read_whole(path)
        if data is None:
            return Progress()
        stored = json.loads(data)
        if not isinstance(stored, dict):
            raise TypeError(_("it is not an object"))
        number = stored.pop("schema", None)
        if isinstance(number, int) and number > SCHEMA:
            raise _NewerSchema(
                _("{path} was written by a newer Batchlab (schema {number}, this one knows {known})").format(
                    path=path, number=number, known=SCHEMA
                ),
                _("upgrade batchlab, or begin the lab again with `grader reset`"),
            )
        content = _File.model_validate({**stored, "schema_number": number})
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc'])).replace('schema_number', 'schema')}: {first['msg']}"
        return Progress(note=set_aside(path, why))
    except (ValueError, TypeError, RecursionError) as error:
        return Progress(note=set_aside(path, str(error) or type(error).__name__))
    return Progress(
        started=content.started,
        finished=content.finished,
        achievements=content.achievements,
        hints=content.hints,
    )


def _save(session: Path, progress: Progress) -> Progress:
    content = {
        "schema": SCHEMA,
        "started": progress.started,
        "finished": progress.finished,
        "achievements": dict(progress.achievements),
        "hints": dict(progress.hints),
    }
    write_whole(session / FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return progress
