"""One mistake in a lab's files, said with its place, and the reading of those files as text.

Owns `LabProblem`, near names, and the refusal of files that are no readable text; knows no YAML or markdown.
"""

from __future__ import annotations

import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MAX_BYTES = 1 << 20
"""A lab file larger than this is no lab file; it is never read whole."""


STRANGE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What no text for people holds: control characters but tab and line feed, and those that turn its direction."""


@dataclass(frozen=True, slots=True, order=True)
class LabProblem:
    """What is wrong and where; line and column count from 1, in characters. Sorts by place."""

    file: str
    line: int
    column: int
    message: str
    rule: str = field(default="", compare=False)
    """What kind of mistake it is, one of `grader.lab.rules.RULE_IDS`, for reports that sort by it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@contextmanager
def under(rule: str, found: list[LabProblem]) -> Iterator[None]:
    """Problems that are added to `found` meanwhile are of this kind, unless they say which they are."""
    before = len(found)
    try:
        yield
    finally:
        found[before:] = [one if one.rule else replace(one, rule=rule) for one in found[before:]]


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file: line breaks are `\\n` alone, a byte order mark is gone."""

    path: Path
    text: str

    def problem(self, line: int, column: int, message: str) -> LabProblem:
        """`message` at a place in this file."""
        return LabProblem(str(self.path), line, column, message)


def read_source(path: Path, found: list[LabProblem]) -> Source | None:
    """The text of `path`; None, and the reason in `found`, where it can't be read as text."""
    data = b""
    try:
        info = path.stat()
        if stat.S_ISREG(info.st_mode):  # opening a pipe would wait for ever
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        found.append(LabProblem(str(path), 1, 1, _unreadable(error)))
        return None
    if not stat.S_ISREG(info.st_mode):
        found.append(LabProblem(str(path), 1, 1, _("is not a file")))
        return None
    if len(data) > MAX_BYTES:
        found.append(LabProblem(str(path), 1, 1, _("is larger than 1 MiB")))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = _("is not UTF-8: byte 0x{byte:02x} here").format(byte=data[error.start])
        found.append(LabProblem(str(path), line, column, message))
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if strange := STRANGE.search(text):
        before = text[: strange.start()]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        if strange[0] == "\0":
            message = _("holds a NUL byte: is it text?")
        else:
            # A terminal would obey it, or show the text in another order than it is read in.
            message = _("holds the control character U+{code:04X}").format(code=ord(strange[0]))
        found.append(LabProblem(str(path), line, column, message))
        return None
    return Source(path, text)


def _unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return _("is missing")
    return _("can't be read: {reason}").format(reason=error.strerror or error)


def did_you_mean(word: object, allowed: Iterable[str]) -> str:
    """` (did you mean 'x'?)` where an allowed word is near `word`, else nothing."""
    from grader.checks.words import near  # a package of some weight, and most labs have no problem

    found = near(str(word), allowed)
    return _(" (did you mean '{near}'?)").format(near=found) if found else ""


def unknown(what: str, word: object, allowed: Iterable[str]) -> str:
    """The message for a word outside a closed set; `what` holds `{word}` (`unknown key '{word}'`)."""
    names = list(allowed)
    from grader.checks.words import shorten

    message = what.format(word=shorten(str(word)))
    if names:
        message += _("; allowed: {names}").format(names=", ".join(names))
    return message + did_you_mean(word, names)
