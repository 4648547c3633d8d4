"""Copies of folders that somebody else filled: no link is followed, nothing special is opened, and there is a bound.

Owns the copying of a lab's files into a work folder, and of a work folder into a cell and back; knows nothing of who
reads the copy.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK = 1 << 20
_DEEPEST = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PERMISSIONS = 0o777


class TooMuchError(Exception):
    """The folder holds more than the copy may."""


@dataclass(slots=True, kw_only=True)
class Copying:
    """A copy of files, folders and links (as links) with their permissions; everything else is passed over.

    `bytes`, `entries`: how much may still be copied. `owner`: whose the copies are, as user and group id; None leaves
    them to who copies. `over`: what is there of the same name and kind is replaced, not left.
    """

    bytes: int
    entries: int
    owner: tuple[int, int] | None = None
    over: bool = True

    def run(self, source: Path, target: Path) -> None:
        """Copy what is in the folder `source` into the folder `target`. A file that changes meanwhile is copied as it
        is read. TooMuchError: there is more than may be; what fitted is there."""
        with _opened(source, None) as src, _opened(target, None) as dst:
            self._folder(src, dst, 0)

    def _folder(self, src: int, dst: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise TooMuchError
        for name in sorted(os.listdir(src)):
            self.entries -= 1
            if self.entries < 0:
                raise TooMuchError
            try:
                info = os.stat(name, dir_fd=src, follow_symlinks=False)
                if stat.S_ISDIR(info.st_mode):
                    self._into(name, info, src, dst, depth)
                elif stat.S_ISLNK(info.st_mode):
                    self._link(name, src, dst)
                elif stat.S_ISREG(info.st_mode):
                    self._file(name, info, src, dst)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue  # gone or changed under us, or not even its owner's to read

    def _into(self, name: str, info: os.stat_result, src: int, dst: int, depth: int) -> None:
        there = _kind(name, dst)
        if there is None:
            os.mkdir(name, 0o700, dir_fd=dst)
        elif not stat.S_ISDIR(there):
            return
        with _opened(name, src) as below, _opened(name, dst) as into:
            self._folder(below, into, depth + 1)
            if there is None:
                self._own(into, info)

    def _file(self, name: str, info: os.stat_result, src: int, dst: int) -> None:
        reader = os.open(name, _FILE, dir_fd=src)
        try:
            if not stat.S_ISREG(os.fstat(reader).st_mode) or not self._cleared(name, dst):
                return
            writer = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=dst)
            try:
                while chunk := os.read(reader, _CHUNK):
                    self.bytes -= len(chunk)
                    if self.bytes < 0:
                        raise TooMuchError
                    left = memoryview(chunk)
                    while left:
                        left = left[os.write(writer, left) :]
                self._own(writer, info)
                os.utime(writer, ns=(info.st_atime_ns, info.st_mtime_ns))
            finally:
                os.close(writer)
        finally:
            os.close(reader)

    def _link(self, name: str, src: int, dst: int) -> None:
        aim = os.readlink(name, dir_fd=src)
        if self._cleared(name, dst):
            os.symlink(aim, name, dir_fd=dst)
            if self.owner:
                os.chown(name, *self.owner, dir_fd=dst, follow_symlinks=False)

    def _cleared(self, name: str, dst: int) -> bool:
        """Whether the copy may be made there; a folder of that name stays."""
        there = _kind(name, dst)
        if there is None:
            return True
        if stat.S_ISDIR(there) or not self.over:
            return False
        os.unlink(name, dir_fd=dst)
        return True

    def _own(self, descriptor: int, info: os.stat_result) -> None:
        if self.owner:
            os.fchown(descriptor, *self.owner)
        os.fchmod(descriptor, stat.S_IMODE(info.st_mode) & _PERMISSIONS)


def _kind(name: str, at: int) -> int | None:
    """The mode of what is there; None where nothing is."""
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


@contextmanager
def _opened(name: Path | str, at: int | None) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
