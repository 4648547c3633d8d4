"""What a session's record tells: starts, hints and checks.

Owns the content of entries and which of them are worth one; how they are chained is `grader.record.journal`'s.

| what | beside `at`, `lab`, `content`, `values`, `version` |
|---|---|
| start, reset | `drawn`: the values themselves |
| hint | `step`, `shown`: how many were shown by then |
| check | `steps`: step → check → state, of what was looked at; `counted`: whether somebody asked for it |

`content` is the digest of the lab's files, so that a lab made easier shows. A check that finds what the last one found
has `same` instead of `steps` if it was asked for, else it is left out.
"""

from __future__ import annotations

import hashlib
import time
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from cluster.errors import EnvironmentProblem
from grader.lab.values import digest as digest_of_values
from grader.record.journal import FILE, SPARSE_FROM, append
from grader.record.keys import learner_key
from grader.report.json import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.lab.model import Lab
    from grader.results import Result

Steps = dict[str, dict[str, str]]


def note_start(home: Path, lab: Lab, at: float, *, again: bool) -> str:
    """The lab was started, or, with `again`, reset. Returns a sentence for the person, or "".

    On the host, where the learner's key can be reached: it vouches for the record that begins here.
    """
    content = {**_common(lab, at, "reset" if again else "start"), "drawn": dict(lab.values)}
    return _told(home, lab, content)


def note_hint(home: Path, lab: Lab, step: str, shown: int) -> str:
    """A hint of `step` was shown, the `shown`th; returns as `note_start`."""
    return _told(home, lab, {**_common(lab, time.time(), "hint"), "step": step, "shown": shown})


def note_check(home: Path, lab: Lab, results: Iterable[Result], at: float, *, counted: bool) -> str:
    """A check ended at `at` with `results`; returns as `note_start`."""
    steps: Steps = {}
    for result in results:
        steps.setdefault(result.step_id, {})[result.check] = result.state.value

    def make(entries: list[Any]) -> Mapping[str, Any] | None:
        common = {**_common(lab, at, "check"), "counted": counted}
        before = _last(entries, common)
        if (home / FILE).stat().st_size > SPARSE_FROM and not _passed(steps) - _ever_passed(entries):
            return None
        if before == steps:
            return {**common, "same": True} if counted else None
        if not counted and before is not None and _passed(before) == _passed(steps):
            return None
        return {**common, "steps": steps}

    try:
        return append(home, lab.id, make)
    except EnvironmentProblem as problem:
        return problem.message


def content_of(folder: Path) -> str:
    """`sha256:…` over the files that decide what is asked and checked in a lab."""
    names = [folder / "lab.md", folder / "checks.py", *sorted((folder / "start").glob("*.yaml"))]
    total = hashlib.sha256()
    for path in names:
        if path.is_file():
            data = path.read_bytes()
            total.update(f"{path.name} {len(data)}\n".encode() + data)
    return "sha256:" + total.hexdigest()


def _told(home: Path, lab: Lab, content: Mapping[str, Any]) -> str:
    try:
        return append(home, lab.id, lambda _entries: content, learner_key if "drawn" in content else None)
    except EnvironmentProblem as problem:
        return problem.message


def _common(lab: Lab, at: float, what: str) -> dict[str, Any]:
    return {
        "at": utc(at),
        "what": what,
        "lab": lab.id,
        "content": content_of(lab.folder),
        "values": digest_of_values(lab.values),
        "version": _version(),
    }


@cache
def _version() -> str:
    try:
        return metadata.version("batchlab")
    except metadata.PackageNotFoundError:
        return "?"


def _last(entries: list[Any], common: Mapping[str, Any]) -> Steps | None:
    """What the last check found, if it was made of the same lab with the same values."""
    for entry in reversed(entries):
        if not isinstance(entry, dict) or entry.get("what") in ("start", "reset"):
            return None
        if entry.get("what") == "check" and any(entry.get(key) != common[key] for key in ("content", "values")):
            return None
        if isinstance(entry.get("steps"), dict):
            return entry["steps"]  # type: ignore[no-any-return]  # of our own making
    return None


def _passed(steps: Steps) -> set[str]:
    return {check for checks in steps.values() for check, state in checks.items() if state == "passed"}


def _ever_passed(entries: list[Any]) -> set[str]:
    told = [entry["steps"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("steps"), dict)]
    return {check for steps in told for check in _passed(steps)}
