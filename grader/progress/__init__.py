"""What a learner has reached: achievements of a session, and time, attempts and steps of labs for good.

Owns `progress.json`, `labs.json` and `attempts.jsonl` in the folder a caller names (the session's: a check runs in
the sandbox, which shares no other with the host); knows nothing of how checks work, how a verdict is printed, or
who calls it. Times are Unix seconds. Every function raises `EnvironmentProblem` where a file can't be read or
written: a command that has a verdict to show shows it first and mentions the problem as a note.
"""

from __future__ import annotations

from grader.progress.attempts import Attempt, read_attempts
from grader.progress.book import LabRecord, read_book, record_hint, record_run, record_start
from grader.progress.session import (
    Progress,
    begin_progress,
    forget_progress,
    load_progress,
    note_hints,
    remember_results,
    set_achievements,
)

__all__ = [
    "Attempt",
    "LabRecord",
    "Progress",
    "begin_progress",
    "forget_progress",
    "load_progress",
    "note_hints",
    "read_attempts",
    "read_book",
    "record_hint",
    "record_run",
    "record_start",
    "remember_results",
    "set_achievements",
]
