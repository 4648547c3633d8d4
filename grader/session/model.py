"""A session as data, and `session.json`, which keeps it.

Owns that file; knows nothing of whether the session's machine runs (`cluster.local.status` says that).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.machine import write_private
from grader.session.places import SESSION_FILE, stamp

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "batchlab/session/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One lab of one learner. Times are Unix seconds."""

    lab: str
    workdir: str
    """Name of the work folder in the lab's shell, below the home folder there."""
    binaries: str
    """The folder of programs this session runs."""
    created: float
    """First start, or the latest reset."""
    started: float
    """Latest start."""


def save_session(home: Path, session: Session) -> None:
    """Keep `session` in its folder, readable by its owner only."""
    content = {"schema": SCHEMA, **asdict(session)}
    try:
        write_private(home / SESSION_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise _cannot(home / SESSION_FILE, error) from error


def load_session(home: Path) -> tuple[Session | None, str]:
    """The session kept in `home` (None: none is), and a sentence for the person or "".

    A damaged file is renamed to `session.json.damaged-<time>` and named in the sentence: nothing in it is
    worth more than being able to go on.
    """
    path = home / SESSION_FILE
    try:
        # O_NONBLOCK: a FIFO in this place must not stop every command.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123  # opens a descriptor
            data = file.read(65536)
        return _parse(json.loads(data)), ""
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except (ValueError, TypeError, KeyError, RecursionError, IsADirectoryError) as error:
        return None, _set_aside(path, error)
    except OSError as error:
        raise _cannot(path, error) from error


def _parse(stored: object) -> Session:
    if not isinstance(stored, dict) or stored.get("schema") != SCHEMA:
        raise ValueError("schema")
    return Session(
        lab=str(stored["lab"]),
        workdir=str(stored["workdir"]),
        binaries=str(stored["binaries"]),
        created=float(stored["created"]),
        started=float(stored["started"]),
    )


def _set_aside(path: Path, error: Exception) -> str:
    kept = path.with_name(f"{path.name}.damaged-{stamp()}")
    try:
        path.rename(kept)
    except OSError as refused:
        raise _cannot(path, refused) from error
    return _("{path} was damaged; it is kept as {kept}").format(path=path, kept=kept.name)


def _cannot(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(_("can't use {path}: {why}").format(path=path, why=error.strerror or error))
