"""When there is something new to look at, for `grader check --watch`.

Owns the cheap question "has anything changed?", and how long to wait where the answer is no; knows nothing of what
is looked at then.
"""

from __future__ import annotations

import os
import sqlite3
import time
import urllib.parse
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Self

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.session.places import history_file, work_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.2
"""One system call for each learner's file, and one question to SQLite: not worth more machinery."""
FIRST_QUIET = 2.5
"""Seconds without a change after which it is worth looking again: what was still moving counts as failed by then
(`grader.checks.engine.SETTLED`). Each further time takes twice as long, up to LONGEST_QUIET."""
LONGEST_QUIET = 60.0
UNTRACED_QUIET = 5.0
"""The same where a look went beyond the history: what a command in a pod says leaves no trace."""
MOST_FILES = 500

_File = tuple[str, int, int]


class _Seen(NamedTuple):
    """What is compared: the history file itself, how much is in it, and the learner's files."""

    history: int
    changes: int
    gaps: int
    files: tuple[_File, ...]


class Changes:
    """The changes of one session, from look to look."""

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """EnvironmentProblem where there is no history."""
        self._home, self._clock, self._pause = home, clock, pause
        self._database = _open(home)
        self._seen = self._look()
        self._looked = clock()
        self._quiet = FIRST_QUIET

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._database.close()

    def looking(self) -> None:
        """A look begins now: what changes from here on is for the next one."""
        self._seen = self._look()
        self._looked = self._clock()

    def wait(self, *, untraced: bool = False, apart: float = 0.0) -> None:
        """Until something changed since the last look began, or it is time to look again all the same.

        `untraced`: that look went beyond what is recorded. Where one change follows the other, half of the time is
        left to the cluster: a look is never begun before as much time has gone by as the last one took, nor within
        `apart` seconds of its beginning.
        """
        took = self._clock() - self._looked
        self._pause(max(POLL_SECONDS, took, apart - took))
        longest = min(self._quiet, UNTRACED_QUIET) if untraced else self._quiet
        began = self._clock()
        while (seen := self._look()) == self._seen:
            if self._clock() - began >= longest:
                self._quiet = min(2 * self._quiet, LONGEST_QUIET)
                return
            self._pause(POLL_SECONDS)
        if seen.history != self._seen.history:  # set aside, and begun anew
            self._database.close()
            self._database = _open(self._home)
        self._quiet = FIRST_QUIET

    def _look(self) -> _Seen:
        file = changes = gaps = 0
        with suppress(OSError, sqlite3.Error):  # the recorder is being restarted: the files still count
            file = history_file(self._home).stat().st_ino
            # Positions of watches move on while nothing happens, so that the file changes alone say nothing.
            changes, gaps = self._database.execute(
                "SELECT (SELECT max(seq) FROM change), (SELECT max(rowid) FROM gap)"
            ).fetchone()
        return _Seen(file, changes or 0, gaps or 0, tuple(_files(work_folder(self._home))))


def _open(home: Path) -> sqlite3.Connection:
    path = history_file(home)
    try:
        opened = sqlite3.connect(f"file:{urllib.parse.quote(str(path))}?mode=ro", uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise EnvironmentProblem(
            _("the history at {path} can't be read: {error}").format(path=path, error=error)
        ) from error
    return opened


def _files(folder: Path) -> Iterator[_File]:
    """Name, time and size of the learner's files; links are not followed, and there is an end to it."""
    left = MOST_FILES
    for parent, _folders, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(parent, name)  # noqa: PTH118  # hundreds of times a second
            with suppress(OSError):
                found = os.lstat(path)
                yield path, found.st_mtime_ns, found.st_size
            left -= 1
            if not left:
                return
