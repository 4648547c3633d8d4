"""A collection from a folder of this machine: its files copied, and the git commit they are, where they are one.

Owns walking a folder without following a link; asks git for names only, never for anything that runs a filter.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.collections.git import head_of
from grader.collections.intake import is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.collections.intake import Intake

_CHUNK = 1 << 16


def take_folder(source: Path, intake: Intake) -> str:
    """Copy every file of `source`; the commit of git they are, or "" where they are not exactly one."""
    blobs: dict[str, str] = {}
    _walk(source, "", intake, blobs)
    head = head_of(source)
    if head is None:
        return ""
    kept = {path: blob for path, blob in head.blobs.items() if not is_left_out(tuple(path.split("/")))}
    return head.commit if kept == blobs else ""


def _walk(source: Path, below: str, intake: Intake, blobs: dict[str, str]) -> None:
    try:
        with os.scandir(source / below) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise intake.refused(_unreadable(error), below) from error
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if is_left_out((entry.name,)):
            continue  # not even looked into: `.git` and its like are often large
        if entry.is_symlink():
            target = os.readlink(entry.path)  # noqa: PTH115  # a Path would take "//" out of it
            blobs[path] = blob_id(target.encode(errors="surrogateescape"))
            intake.link(path, target)
        elif entry.is_dir(follow_symlinks=False):
            intake.folder(path)
            _walk(source, path, intake, blobs)
        elif entry.is_file(follow_symlinks=False):
            _copy(source / path, path, intake, blobs)
        else:
            intake.special(path)


def _copy(file: Path, path: str, intake: Intake, blobs: dict[str, str]) -> None:
    try:
        # O_NOFOLLOW, O_NONBLOCK: it may have become something else since it was looked at.
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise intake.refused(_unreadable(error), path) from error
    with os.fdopen(handle, "rb") as source:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            intake.special(path)
        if info.st_size > intake.limits.file:
            intake.file(path, info.st_size, ())  # refuses it, in its words
        data = source.read(intake.limits.file + 1)
    blobs[path] = blob_id(data)
    intake.file(path, len(data), _chunks(data))


def blob_id(data: bytes) -> str:
    """What git calls a file of that content, in a repository of SHA-1."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _chunks(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK))


def _unreadable(error: OSError) -> str:
    return _("can't be read: {reason}").format(reason=error.strerror or error)
