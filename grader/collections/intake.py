"""Files of strangers, taken in one by one: every name is judged, every byte counted, before it is on our disk.

Owns the bounds of a collection and what may be in one: plain files with plain names. Folders, archives and git
all bring their files here, so that none of them can be the one that forgets a rule.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.checks.words import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a collection may be. Sizes are bytes."""

    files: int = 5000
    """Files and folders."""
    file: int = 8 * MIB
    total: int = 64 * MIB
    depth: int = 12
    """Folders one in another."""
    name: int = 255
    """Bytes of a path."""
    labs: int = 200
    packed: int = 64 * MIB
    """Of an archive, or of what git fetches."""
    ratio: int = 200
    """How many times as large as the archive its files may be, beyond the first MiB."""
    seconds: float = 120.0
    """That git may take."""


LIMITS = Limits()
_LEFT_OUT = frozenset({"__pycache__"})
_LEFT_OUT_SUFFIX = ".pyc"
"""Compiled Python: it could say something else than the source beside it, and would be what is run."""
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)}
)


class Intake:
    """Takes files into the empty folder `root`. UsageProblem, which names `source` and the file, where one may not."""

    def __init__(self, root: Path, source: str, limits: Limits = LIMITS) -> None:
        self.root = root
        self.limits = limits
        self.links: list[str] = []
        """Links within the tree, which were left out."""
        self._source = source
        self._entries = 0
        self._bytes = 0
        self._files: set[str] = set()
        self._spelled: dict[str, str] = {}
        """Every path, files and folders, by what a file system blind to case would take it for."""

    @property
    def received(self) -> int:
        """Bytes so far."""
        return self._bytes

    def count(self) -> None:
        """One more entry, whatever it is."""
        self._entries += 1
        if self._entries > self.limits.files:
            raise self.refused(_("more than {limit} files").format(limit=self.limits.files))

    def file(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Take a file of that many bytes. What nothing reads (hidden files, compiled Python) is left out."""
        self.count()
        parts = self.parts(name)
        if size > self.limits.file:
            raise self.refused(self._too_large(), name)
        if is_left_out(parts):
            return
        self._claim(parts, name)
        target = self.root.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(handle, "wb") as out:
            got = 0
            for chunk in chunks:  # what a header says of sizes is believed of nobody
                got += len(chunk)
                self._bytes += len(chunk)
                if got > self.limits.file:
                    raise self.refused(self._too_large(), name)
                if self._bytes > self.limits.total:
                    raise self.refused(_("more than {limit} MiB in all").format(limit=self.limits.total // MIB))
                out.write(chunk)

    def folder(self, name: str) -> None:
        """A folder: only its name is of interest, for it is made with its first file."""
        self.count()
        if name.strip("/") not in ("", "."):
            self.parts(name.rstrip("/"))

    def link(self, name: str, target: str) -> None:
        """A link: one that leads out is refused, any other is left out, and remembered."""
        self.count()
        parts = self.parts(name)
        if leads_out(parts, target):
            message = _("a link that leads out of the collection, to {target}").format(target=shorten(target, 80))
            raise self.refused(message, name)
        if not is_left_out(parts):
            self.links.append("/".join(parts))

    def special(self, name: str) -> None:
        """A device, a pipe, a socket: refused."""
        raise self.refused(_("no plain file: devices, pipes and sockets have no place in a lab"), name)

    def parts(self, name: str) -> tuple[str, ...]:
        """The parts of a path that may be one of the collection's."""
        message = self._wrong_with(name)
        if message:
            raise self.refused(message, name)
        return tuple(part for part in name.split("/") if part not in ("", "."))

    def refused(self, message: str, name: str = "") -> UsageProblem:
        """The refusal of the whole collection for one of its files."""
        place = self._source + (f": {shorten(name, 120)}" if name else "")
        return UsageProblem(_("{place}: {message}").format(place=place, message=message), _("nothing was added"))

    def _too_large(self) -> str:
        return _("larger than {limit} MiB").format(limit=self.limits.file // MIB)

    def _wrong_with(self, name: str) -> str:
        try:
            length = len(name.encode())
        except UnicodeEncodeError:
            return _("a name that is not UTF-8")
        if name.startswith("/"):
            return _("an absolute path")
        if "\\" in name or ":" in name:
            return _("a name with '\\' or ':'")
        if any(unicodedata.category(character)[0] == "C" for character in name):
            return _("a name with control characters")
        if length > self.limits.name:
            return _("a path of more than {limit} bytes").format(limit=self.limits.name)
        parts = name.split("/")
        if ".." in parts:
            return _("a path with '..' in it")
        if len(parts) > self.limits.depth:
            return _("more than {limit} folders deep").format(limit=self.limits.depth)
        if any(part.partition(".")[0].lower() in _DEVICES or part != part.rstrip(" ") for part in parts):
            return _("a name that some systems take for another")
        return ""

    def _claim(self, parts: tuple[str, ...], name: str) -> None:
        """Each path once, and none that differs from another in case or composition of letters only."""
        for length in range(1, len(parts) + 1):
            path = "/".join(parts[:length])
            folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())
            other = self._spelled.setdefault(folded, path)
            if other != path:
                message = _("'{path}' and '{other}' are one file to some systems").format(path=path, other=other)
                raise self.refused(message)
            if path in self._files:
                raise self.refused(_("twice in it, or a file and a folder at once"), name)
        whole = "/".join(parts)
        if (self.root / whole).exists():
            raise self.refused(_("twice in it, or a file and a folder at once"), name)
        self._files.add(whole)


def is_left_out(parts: tuple[str, ...]) -> bool:
    """Whether nothing of a lab reads such a file: hidden ones (`.git`), compiled Python."""
    return any(part.startswith(".") or part in _LEFT_OUT for part in parts) or parts[-1].endswith(_LEFT_OUT_SUFFIX)


def leads_out(parts: tuple[str, ...], target: str) -> bool:
    """Whether a link at `parts` leaves the tree."""
    if target.startswith("/") or "\\" in target:
        return True
    depth = len(parts) - 1
    for step in target.split("/"):
        depth += -1 if step == ".." else 0 if step in ("", ".") else 1
        if depth < 0:
            return True
    return False


def digest_of(tree: Path) -> str:
    """SHA-256 over the path, length and content of every file below `tree`; OSError where it can't be read."""
    whole = hashlib.sha256()
    for path in sorted(files_of(tree)):
        content = hashlib.sha256()
        with open(os.open(tree / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123
            while chunk := file.read(MIB):
                content.update(chunk)
            size = file.tell()
        whole.update(f"{len(path.encode())} {path} {size} {content.hexdigest()}\n".encode())
    return whole.hexdigest()


def files_of(tree: Path, below: str = "") -> Iterator[str]:
    """The path, relative to `tree`, of everything that is no folder. Compiled Python is none of ours."""
    with os.scandir(tree / below) as entries:
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from files_of(tree, path)
            else:
                yield path
