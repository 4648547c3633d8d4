"""The files of a source, which anybody may have written: read within bounds, never outside, never by a link.

Owns which file a name means and how much of it is read; knows nothing of what the files say.
"""

from __future__ import annotations

import os
import posixpath
import stat
from dataclasses import dataclass
from pathlib import Path

from cluster.i18n import _

MOST_TEXT = 1 << 20
MOST_DATA = 9 << 20
"""Bytes of a text, and of a file that is only copied: as much as those platforms allow one."""
MOST_FILES = 20_000
DEEPEST = 12
_PASSED_OVER = frozenset({".git", ".github", "node_modules", "__pycache__", ".venv"})


class UnreadableError(Exception):
    """A file can't be had; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text file: its lines end with `\\n` alone. `guessed`: its bytes were no UTF-8 and were read as Latin-1."""

    file: str
    text: str
    guessed: bool = False


class Tree:
    """The folder of a source. Names are paths from it, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.claimed: frozenset[str] = frozenset()
        """Folders that are scenarios or challenges of their own."""

    def own_files(self, folder: str) -> list[str]:
        """Every file below a folder that is none of another scenario's inside it."""
        inner = [one for one in self.claimed if one != folder and one.startswith(f"{folder}/" if folder else "")]
        return [name for name in self.files(folder) if not any(name.startswith(f"{one}/") for one in inner)]

    def join(self, folder: str, name: str) -> str:
        """The file that `name` means in a file of `folder`. UnreadableError where that is outside."""
        clean = name.strip().replace("\\", "/")
        if not clean or "\0" in clean:
            raise UnreadableError(_("names no file"))
        if clean.startswith(("/", "~")):
            raise UnreadableError(_("is a path of a machine, not of the source"))
        joined = posixpath.normpath(posixpath.join(folder, clean))
        if joined == ".." or joined.startswith(("../", "/")):
            raise UnreadableError(_("leads out of the source"))
        return joined

    def text(self, name: str) -> Text:
        """The text of a file. UnreadableError where it is none, too large, or not there."""
        data = self._read(name, MOST_TEXT)
        try:
            text, guessed = data.decode("utf-8-sig"), False
        except UnicodeDecodeError:
            text, guessed = data.decode("latin-1"), True
        if "\0" in text:
            raise UnreadableError(_("holds a NUL byte: it is no text"))
        return Text(name, text.replace("\r\n", "\n").replace("\r", "\n"), guessed)

    def data(self, name: str) -> bytes:
        """The bytes of a file. UnreadableError as of `text`."""
        return self._read(name, MOST_DATA)

    def executable(self, name: str) -> bool:
        """Whether the file may be run."""
        return bool((self.root / name).lstat().st_mode & 0o100)

    def has(self, name: str) -> bool:
        """Whether there is such a file, and no link."""
        try:
            return stat.S_ISREG(self._info(name).st_mode)
        except UnreadableError:
            return False

    def files(self, folder: str = "") -> list[str]:
        """Every file and link below a folder, sorted; folders of tools apart. At most MOST_FILES."""
        found: list[str] = []
        start = self.root / folder
        for top, folders, names in os.walk(start):
            depth = len(Path(top).relative_to(start).parts)
            known = sorted(name for name in folders if name not in _PASSED_OVER and depth < DEEPEST)
            links = [name for name in known if Path(top, name).is_symlink()]
            folders[:] = [name for name in known if name not in links]
            found += [Path(top, name).relative_to(self.root).as_posix() for name in (*names, *links)]
            if len(found) > MOST_FILES:
                raise UnreadableError(_("holds more than {count} files").format(count=MOST_FILES))
        return sorted(found)

    def _read(self, name: str, most: int) -> bytes:
        info = self._info(name)
        if stat.S_ISLNK(info.st_mode):
            raise UnreadableError(_("is a link: links are not followed"))
        if not stat.S_ISREG(info.st_mode):
            raise UnreadableError(_("is not a file"))
        try:
            with os.fdopen(os.open(self.root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise UnreadableError(_("can't be read: {reason}").format(reason=error.strerror or error)) from error
        if len(data) > most:
            raise UnreadableError(_("is larger than {size} MiB").format(size=most >> 20))
        return data

    def _info(self, name: str) -> os.stat_result:
        """Of the file itself. UnreadableError where it is not there, or a folder on the way is a link."""
        path = self.root
        parts = name.split("/")
        try:
            for part in parts[:-1]:
                path /= part
                if stat.S_ISLNK(path.lstat().st_mode):
                    raise UnreadableError(_("lies behind a link: links are not followed"))
            return (path / parts[-1]).lstat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise UnreadableError(_("is missing")) from error
        except OSError as error:
            raise UnreadableError(_("can't be read: {reason}").format(reason=error.strerror or error)) from error
