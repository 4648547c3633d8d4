"""The record of one session on disk: `record.jsonl`, its head on the first line, and `record.head`, where it ends.

Owns these two files: an entry is on disk before the command that made it ends, a line that a crash cut short is cut
off, and lines that somebody took away stay missing, because `record.head` knows the number and the hash of the last.
Knows nothing of what entries tell. The files lie in the session folder, which no shell of a learner shows.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.progress.files import cannot, locked, read_whole, set_aside, write_whole
from grader.record.chain import new_entry, new_head
from grader.record.keys import SESSION_KEY, Key, digest, fits, kept_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FILE, END = "record.jsonl", "record.head"
SPARSE_FROM, FULL_AT = 1024 * 1024, 2 * 1024 * 1024
"""Bytes from which on only news is written down, and at which nothing more is: a loop of checks fills no disk."""
_END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as it lies on disk: parsed, not examined."""

    head: dict[str, Any]
    entries: list[Any]
    end: dict[str, Any]
    """`next`: the number of the entry that would come next, `last`: the hash of the one before it, `kept`: whether
    `record.head` said so, or only the last line there is."""


def read_record(home: Path) -> Record | None:
    """The record in the session folder `home`; None where there is none that could be read."""
    if not (home / FILE).exists():
        return None
    with locked(home, "record.lock"):
        lines = _lines(read_whole(home / FILE) or b"")
        if not lines or not isinstance(lines[0], dict):
            return None
        end = _kept_end(home, str(lines[0].get("session", "")))
        end = {**_healed(end, lines), "kept": True} if end else {**_end_of(lines), "kept": len(lines) == 1}
    return Record(head=lines[0], entries=lines[1:], end=end)


def append(
    home: Path,
    lab: str,
    make: Callable[[list[Any]], Mapping[str, Any] | None],
    learner: Callable[[], Key] | None = None,
) -> str:
    """Write down what `make` makes of the entries there are, or nothing where that is None.

    `learner` gives the key that vouches for a new record; who can't reach it leaves it out. Returns a sentence for the
    person, or "". EnvironmentProblem where it can't be written.
    """
    key = kept_key(home, SESSION_KEY)
    vouching = None if learner is None or (home / FILE).exists() else learner()
    with locked(home, "record.lock"):
        path, note = home / FILE, ""
        data = b""
        try:
            data = read_whole(path) or b""
        except ValueError as error:
            note = set_aside(path, str(error))
        lines = _lines(data)
        if data and (not lines or not _ours(lines[0], key)):
            note = set_aside(path, _("it is of another key"))
            lines = []
        if not lines:
            lines = [new_head(lab, key, vouching)]
            data = _line(lines[0])
            write_whole(path, data.decode())
        if len(data) > FULL_AT:
            return _("the record of this session is full: nothing more is written into it")
        content = make(lines[1:])
        if content is None:
            return note
        end = _kept_end(home, key.public)
        if end is None and len(lines) > 1:
            content = {**content, "unsure": True}  # nobody knows any more whether this was the last line
        end = _healed(end, lines) if end else _end_of(lines)
        # Where lines were taken away, `end` goes on behind them, so that they are missed.
        entry = new_entry(end["next"], end["last"], content, key)
        _append(path, data.rfind(b"\n") + 1, _line(entry))  # half a line, which a crash left, is cut off
        _keep_end(home, key, {"next": end["next"] + 1, "last": digest(entry)})
    return note


def _lines(data: bytes) -> list[Any]:
    """What each whole line holds; one that is no JSON stays as text, so that it is seen."""
    found: list[Any] = []
    for line in data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            found.append(line.decode(errors="replace"))
    return found


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def _ours(head: Any, key: Key) -> bool:
    return isinstance(head, dict) and head.get("session") == key.public


def _end_of(lines: list[Any]) -> dict[str, Any]:
    last = lines[-1]
    number = last.get("seq") if isinstance(last, dict) else None
    return {"next": number + 1 if isinstance(number, int) else len(lines) - 1, "last": digest(last)}


def _healed(end: dict[str, Any], lines: list[Any]) -> dict[str, Any]:
    """The end after a crash between the line and its `record.head`: the line was written, so it counts."""
    last = lines[-1]
    follows = isinstance(last, dict) and last.get("seq") == end["next"] and last.get("prev") == end["last"]
    return _end_of(lines) if follows else end


def _kept_end(home: Path, public: str) -> dict[str, Any] | None:
    try:
        stored = json.loads(read_whole(home / END) or b"null")
        end = {"next": int(stored["next"]), "last": str(stored["last"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return end if fits(public, _END, end, stored.get("sig")) else None


def _keep_end(home: Path, key: Key, end: dict[str, Any]) -> None:
    write_whole(home / END, json.dumps({**end, "sig": key.sign(_END, end)}) + "\n")


def _append(path: Path, size: int, line: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(handle, size)
            os.pwrite(handle, line, size)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise cannot(path, error) from error
