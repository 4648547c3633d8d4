"""When there is something new to look at, for `grader check --watch`.

Owns the cheap question "has anything changed?"; knows nothing of what is looked at then.
"""

from __future__ import annotations

import os
import sqlite3
import time
import urllib.parse
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.session.places import history_file, work_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POLL_SECONDS = 0.25
"""Two system calls for each learner's file, and one question to SQLite: not worth more machinery."""
LONGEST_QUIET = 5.0
"""Seconds after which it is worth looking again although nothing is known to have changed: what a command in
a pod says leaves no trace."""
MOST_FILES = 500


def changes(
    home: Path,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Yields at once, then whenever the history or a file in the work folder changed; never ends.

    EnvironmentProblem where there is no history.
    """
    address = f"file:{urllib.parse.quote(str(history_file(home)))}?mode=ro"
    try:
        opened = sqlite3.connect(address, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise EnvironmentProblem(
            _("the history at {path} can't be read: {error}").format(path=history_file(home), error=error)
        ) from error
    with closing(opened) as history:
        while True:
            seen, looked = _fingerprint(history, home), clock()
            yield
            while clock() - looked < LONGEST_QUIET and _fingerprint(history, home) == seen:
                pause(POLL_SECONDS)


def _fingerprint(history: sqlite3.Connection, home: Path) -> tuple[int, tuple[tuple[str, int, int], ...]]:
    version = 0
    with suppress(sqlite3.Error):  # the recorder is being restarted: the files still count
        version = history.execute("PRAGMA data_version").fetchone()[0]
    return version, tuple(_files(work_folder(home)))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
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
