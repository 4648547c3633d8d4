"""Where a session lives: `$XDG_STATE_HOME/batchlab/sessions/<lab>/`, and who may change it now.

Owns the names of the grader's files there (the cluster's own are in `cluster.machine.Layout`), the lock of a
session, and what is moved aside. Knows nothing of what starts or stops. Imports little: every command, the
quickest included, asks here.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.paths import state_dir
from grader.collections.address import folder_name, lab_of_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SESSION_FILE = "session.json"
WORK = "work"
KEPT_WORK = "work.before-reset-"
KEEP = 3
"""How many folders of earlier work are kept; an older one goes when a reset adds another."""
_SAID_SECONDS = 0.5
_POLL_SECONDS = 0.01


SESSIONS_VARIABLE = "BATCHLAB_SESSIONS"


def sessions_dir() -> Path:
    """The folder of all sessions; may not exist. `BATCHLAB_SESSIONS` names another one: that of the labs that
    `grader verify --keep` left running."""
    return Path(os.environ.get(SESSIONS_VARIABLE) or state_dir() / "sessions")


def session_home(lab: str) -> Path:
    """The folder of the session of `lab`; may not exist."""
    return sessions_dir() / folder_name(lab)


def session_ids() -> list[str]:
    """Labs that were started here, whether or not they run now."""
    try:
        found = sorted(lab_of_folder(entry.name) for entry in sessions_dir().iterdir() if (entry / "lock").exists())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return found


def work_folder(home: Path) -> Path:
    """The learner's files."""
    return home / WORK


def history_file(home: Path) -> Path:
    """What the recorder saw."""
    return home / "history.db"


def recorder_socket(home: Path) -> Path:
    """Where the recorder answers."""
    return home / "run" / "recorder.sock"


def examiner_socket(home: Path) -> Path:
    """Where the examiner answers; `cluster.sandbox.desk` shows it to the lab's shells."""
    return home / "run" / "desk" / "grader.sock"


@contextmanager
def locked(home: Path, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the session's lock while it is started, stopped or reset; makes the folder (0700).

    Somebody else's hold is waited for, and `on_wait` is told once who it is.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_CLOEXEC is the default: a machine's processes that outlive this one must not keep the lock.
        handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise EnvironmentProblem(
            _("can't use the session folder {path}: {why}").format(path=home, why=error.strerror),
            _("make it writable, or point XDG_STATE_HOME at a folder that is"),
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(handle)
            on_wait(_("another command (process {pid}) works on this session; waiting for it").format(pid=holder))
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(handle, 0)  # nobody is told of a holder that is none any more
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    """The process that holds a session: it says so just after it took the lock."""
    deadline = time.monotonic() + _SAID_SECONDS
    while not (said := os.pread(handle, 100, 0).decode(errors="replace").strip()) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return said or "?"


def stamp(now: float | None = None) -> str:
    """A time for file names: UTC, sorts by name."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))


def move_work_aside(home: Path) -> Path | None:
    """Keep the learner's files under another name and delete the oldest kept ones; None: there were none."""
    work = work_folder(home)
    try:
        with os.scandir(work) as entries:
            if not any(entries):
                return None
    except (FileNotFoundError, NotADirectoryError):
        return None
    name = f"{KEPT_WORK}{stamp()}"
    # Two resets within a second: numbered on, never in a gap that a deleted one left, so that names sort by age.
    same = [number for time_, number in map(_age, _kept_work(home)) if f"{KEPT_WORK}{time_}" == name]
    kept = home / (f"{name}-{max(same) + 1}" if same else name)
    work.rename(kept)
    for old in _kept_work(home)[:-KEEP]:
        shutil.rmtree(old, ignore_errors=True)
    return kept


def forget_history(home: Path) -> None:
    """Delete what the recorder saw of a cluster that is gone."""
    for path in home.glob("history.db*"):
        path.unlink(missing_ok=True)


def last_lines(log: Path, count: int = 15) -> list[str]:
    """The end of a log, at most 16 KiB of it; empty where there is none."""
    try:
        with log.open("rb") as source:
            source.seek(0, os.SEEK_END)
            source.seek(max(0, source.tell() - 16384))
            text = source.read().decode(errors="replace")
    except OSError:
        return []
    return text.splitlines()[-count:]


def _kept_work(home: Path) -> list[Path]:
    """Oldest first."""
    return sorted(home.glob(f"{KEPT_WORK}*"), key=_age)


def _age(kept: Path) -> tuple[str, int]:
    """The time in the name of a folder of kept work, and the number behind it."""
    time_, _dash, number = kept.name.removeprefix(KEPT_WORK).partition("-")
    return time_, int(number) if number.isdigit() else 1
