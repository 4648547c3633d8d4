"""The learner's files: read safely, whatever is there, and every trouble said in one line.

Owns the work folder's reading; never writes, follows no link out of the folder, never blocks on what is not
a plain file, never reads a big one whole.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.words import near, shorten
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.checks.trace import Trace

LARGEST = 1024 * 1024
"""Bytes an answer file may have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, counted from 1, without its end."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class LearnerFile:
    """A file as text: no byte order mark, lines ended by a line feed only."""

    name: str
    text: str
    mtime: float
    """Unix seconds of the last modification."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that holds something, with its number."""
        numbered = enumerate(self.text.split("\n"), start=1)
        return tuple(Line(number, text) for number, text in numbered if text.strip())

    def place(self, line: int) -> str:
        """`names.txt:3`."""
        return f"{self.name}:{line}"


class FileTrouble(Exception):  # not an error of ours: it becomes a failed verdict
    """A file can't be read as an answer: what is wrong, in one line, and where."""

    def __init__(self, message: str, where: str, look_at: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.look_at = look_at

    def verdict(self, wanted: str) -> Verdict:
        """The failed verdict of a check that wanted the file."""
        finding = Finding(wanted=wanted, saw=self.message, where=(self.where,), look_at=self.look_at)
        return Verdict(passed=False, finding=finding)


class WorkFolder:
    """The folder a learner works in."""

    def __init__(self, root: Path, asked: Collection[str] = ()) -> None:
        """`root` need not exist: then every file is missing. `asked`: files the lab asks for, each meant as itself."""
        self.root = root
        self.asked = frozenset(asked)
        self.trace: Trace | None = None
        """Told of each file that is read, where somebody wants to know."""

    def read(self, name: str) -> LearnerFile:
        """The text of a file of the folder, `name` relative to it. FileTrouble: what is wrong with it."""
        path = self._inside(name)
        try:
            descriptor = self._open(path, name)
        except OSError as error:
            raise self._trouble(name, error) from error
        with os.fdopen(descriptor, "rb") as source:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise FileTrouble(_("{name} is not a plain file").format(name=name), name)
            if found.st_size > LARGEST:
                raise _too_large(name)
            try:
                data = source.read(LARGEST + 1)
            except OSError as error:
                raise self._trouble(name, error) from error
        if self.trace is not None:
            self.trace.file(name, data, found.st_mtime)
        if len(data) > LARGEST:  # it grew, or the file system lies about sizes
            raise _too_large(name)
        return LearnerFile(name, _decoded(name, data), found.st_mtime)

    def _inside(self, name: str) -> Path:
        """The real path of a file, if it stays in the folder."""
        try:
            root = self.root.resolve(strict=True)
            path = (root / name).resolve(strict=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: a symlink loop, up to Python 3.12
            raise self._trouble(name, error) from error
        if not path.is_relative_to(root):
            message = _("{name} leads out of the work folder; put the file itself there").format(name=name)
            raise FileTrouble(message, name)
        return path

    def _open(self, path: Path, name: str) -> int:
        kind = path.lstat().st_mode
        if stat.S_ISDIR(kind):
            raise FileTrouble(_("{name} is a folder, not a file").format(name=name), name)
        if not stat.S_ISREG(kind):  # a FIFO would block, a device could do anything
            raise FileTrouble(_("{name} is not a plain file").format(name=name), name)
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _trouble(self, name: str, error: OSError | RuntimeError) -> FileTrouble:
        code = error.errno if isinstance(error, OSError) else errno.ELOOP
        if code == errno.ENOENT:
            return self._missing(name)
        if code == errno.ELOOP:
            return FileTrouble(_("{name} is a link that leads to itself").format(name=name), name)
        if code in (errno.EACCES, errno.EPERM):
            return FileTrouble(_("{name} can't be read: permission denied").format(name=name), name, f"ls -l {name}")
        why = os.strerror(code) if code else str(error)
        return FileTrouble(_("{name} can't be read: {why}").format(name=name, why=why), name)

    def _missing(self, name: str) -> FileTrouble:
        path = self.root / name
        if path.is_symlink():
            return FileTrouble(_("{name} is a link to a file that does not exist").format(name=name), name)
        message = _("{name} does not exist").format(name=name)
        others = {Path(other).name for other in self.asked if (self.root / other).parent == path.parent}
        guess = _like(path.name, [there for there in _names(path.parent) if there not in others])
        if guess:
            message += _(" (there is {guess})").format(guess=shorten(str(Path(name).with_name(guess))))
        return FileTrouble(message, name, "ls")


def _like(name: str, there: list[str]) -> str:
    """The file that was probably meant to be `name`, or "": `never.yaml` is not `never.txt`, but `never.text` is."""
    stem, dot, ending = name.rpartition(".")
    alike = {one for one in there if near(ending, [one.rpartition(".")[2]]) or "." not in one} if dot else set(there)
    by_stem = {one.rpartition(".")[0] or one: one for one in sorted(alike)}
    return by_stem.get(near(stem or name, by_stem), "")


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _too_large(name: str) -> FileTrouble:
    return FileTrouble(_("{name} is over 1 MiB: too large for an answer").format(name=name), name, f"ls -lh {name}")


def _decoded(name: str, data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileTrouble(_("{name} is saved as UTF-16; save it as UTF-8").format(name=name), name)
    if b"\0" in data:
        raise FileTrouble(_("{name} is a binary file, not text").format(name=name), name, f"file {name}")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = _("{name} is not UTF-8 text: line {line} holds the byte {byte}; save it as UTF-8").format(
            name=name, line=line, byte=f"0x{data[error.start]:02x}"
        )
        raise FileTrouble(message, f"{name}:{line}") from error
    if not text.strip():
        raise FileTrouble(_("{name} is empty").format(name=name), name)
    return text.replace("\r\n", "\n").replace("\r", "\n")
