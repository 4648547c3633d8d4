"""One line for each check run, of any number of labs: `attempts.jsonl`, bounded.

Owns that file; knows nothing of what a report makes of it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.progress.files import cannot, locked, read_whole, set_aside, write_whole
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "attempts.jsonl"
SCHEMA = 1
MOST_LINES = 2000
MOST_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of `grader check`. `at` is when it ended (Unix time), `seconds` how long it took."""

    lab: str
    at: float
    seconds: float
    steps: Mapping[str, State]
    """Step id → state, only of the steps that were looked at."""
    total: int
    """How many steps the lab has."""

    @property
    def passed(self) -> int:
        """How many of the steps that were looked at passed."""
        return sum(state is State.PASSED for state in self.steps.values())

    @property
    def whole_lab(self) -> bool:
        """Whether every step was looked at."""
        return len(self.steps) == self.total


def read_attempts(folder: Path) -> list[Attempt]:
    """Every attempt kept, oldest first. Lines that are no attempts (cut by a crash, of a newer schema) are
    left out: one bad line must not hide the rest.
    """
    try:
        data = read_whole(folder / FILE) or b""
    except ValueError:
        return []
    found = []
    for line in data.split(b"\n"):
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            found.append(_parse(json.loads(line)))
    return found


def append_attempt(attempt: Attempt, folder: Path) -> str:
    """Add one line under the lock of `folder`; when a bound is passed the oldest lines go.

    Returns a sentence for the person if what was there had to be set aside, else "".
    """
    note = ""
    line = json.dumps(_content(attempt), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    with locked(folder):
        path = folder / FILE
        try:
            kept = read_whole(path) or b""
        except ValueError as error:
            note = set_aside(path, str(error))
            kept = b""
        if kept and not kept.endswith(b"\n"):
            # A writer died in the middle of a line: end it, so that ours is whole.
            line = b"\n" + line
        if kept.count(b"\n") + line.count(b"\n") > MOST_LINES or len(kept) + len(line) > MOST_BYTES:
            write_whole(path, _newest(kept + line).decode(errors="replace"))
        else:
            _append(path, line)
    return note


def _append(path: Path, line: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
    except OSError as error:
        raise cannot(path, error) from error


def _newest(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)[-MOST_LINES:]
    size = sum(map(len, lines))
    first = 0
    while size > MOST_BYTES:
        size -= len(lines[first])
        first += 1
    return b"".join(lines[first:])


def _content(attempt: Attempt) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "lab": attempt.lab,
        "at": round(attempt.at, 3),
        "seconds": round(attempt.seconds, 3),
        "passed": attempt.passed,
        "total": attempt.total,
        "steps": {step: state.value for step, state in attempt.steps.items()},
    }


def _parse(stored: Any) -> Attempt:
    if stored["schema"] != SCHEMA:
        raise ValueError(stored["schema"])
    return Attempt(
        lab=str(stored["lab"]),
        at=float(stored["at"]),
        seconds=float(stored["seconds"]),
        steps={str(step): State(state) for step, state in stored["steps"].items()},
        total=int(stored["total"]),
    )
