"""Reports as files: read with bounds, for whoever made one could have put anything into it.

Owns what a file must be to be looked at at all; what a report says is `grader.record.seal`'s.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.record.seal import NoReport

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 32 * 1024 * 1024
"""Bytes: a report of every lab with full records is far below."""


def read_report(path: Path) -> Any:
    """The JSON in `path`. NoReport where it can't be read, is too large or is no JSON."""
    try:
        # O_NONBLOCK: a pipe in this place must not stop the command.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123  # a descriptor
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NoReport(_("it is not a file"))
            data = file.read(LARGEST + 1)
    except IsADirectoryError as error:
        raise NoReport(_("it is not a file")) from error
    except OSError as error:
        raise NoReport(_("it can't be read: {why}").format(why=error.strerror or error)) from error
    if len(data) > LARGEST:
        raise NoReport(_("it is over {size} MiB").format(size=LARGEST // (1024 * 1024)))
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise NoReport(_("it is no JSON: {why}").format(why=error)) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without a key that stands twice: two readers would see two reports."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(_("a key stands twice"))
    return found


def _refused(word: str) -> Any:
    raise ValueError(word)
