"""JSON whose every value knows its line and column, and YAML in the same form.

Owns the reading of JSON text within bounds; knows no key of any format. Python's own reader tells no places.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # its C or Python form; public by long use
from pathlib import Path
from typing import Any

from cluster.i18n import _
from grader.lab.located import read_document
from grader.lab.problems import LabProblem, Source

DEEPEST = 64
Pointer = tuple[str | int, ...]
_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_WORDS = {"true": True, "false": False, "null": None}


class MalformedError(Exception):
    """What is wrong with a document, and where."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line, self.column, self.message = line, column, message


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its value, and the line of each part by its pointer."""

    value: Any
    lines: dict[Pointer, int]
    repeated: tuple[Pointer, ...] = ()
    """Keys that stood there twice; the last one counts."""
    problems: tuple[tuple[int, str], ...] = ()
    """(line, what is wrong) of what could be passed over."""

    def line(self, pointer: Pointer) -> int:
        """The line of what stands there, or of the nearest thing around it."""
        for end in range(len(pointer), -1, -1):
            if pointer[:end] in self.lines:
                return self.lines[pointer[:end]]
        return 1

    def leaves(self, pointer: Pointer = (), value: Any = None) -> Iterator[Pointer]:
        """The pointer of everything that holds nothing else."""
        here = self.value if not pointer else value
        items = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        empty = True
        for key, inner in items:
            empty = False
            yield from self.leaves((*pointer, key), inner)
        if empty and pointer:
            yield pointer


def shown(pointer: Pointer) -> str:
    """`details.steps[0].text`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in pointer)
    return text.lstrip(".") or "."


def read_json(text: str) -> Document:
    """The one value of `text`. MalformedError where it is no JSON, or nested too deep."""
    reader = _Reader(text)
    value, at = reader.value(reader.skip(0), ())
    if reader.skip(at) < len(text):
        raise reader.wrong(reader.skip(at), _("something follows the end of the document"))
    return Document(value, reader.lines, tuple(reader.repeated))


def read_yaml(file: str, text: str, first_line: int = 1) -> Document:
    """The one document of `text`, whose first line is that of its file. MalformedError where it is no such YAML."""
    found: list[LabProblem] = []
    located = read_document(Source(Path(file), text), found, text=text, first_line=first_line)
    if located is None:
        first = found[0]
        raise MalformedError(first.line, first.column, first.message)
    lines: dict[Pointer, int] = {}

    def walk(value: Any, pointer: Pointer) -> None:
        lines[pointer] = located.place(pointer, key=bool(pointer) and isinstance(pointer[-1], str))[0]
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in items:
            walk(inner, (*pointer, key))

    walk(located.value, ())
    return Document(located.value, lines, problems=tuple((one.line, one.message) for one in found))


@dataclass(slots=True)
class _Reader:
    text: str
    lines: dict[Pointer, int] = field(default_factory=dict)
    repeated: list[Pointer] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Where each line ends."""

    def __post_init__(self) -> None:
        self.ends = [match.start() for match in re.finditer("\n", self.text)]

    def skip(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def wrong(self, at: int, message: str) -> MalformedError:
        message = _("not JSON: {what}").format(what=message)
        return MalformedError(self.line(at), at - self.text.rfind("\n", 0, at), message)

    def line(self, at: int) -> int:
        return bisect.bisect_left(self.ends, at) + 1

    def value(self, at: int, pointer: Pointer) -> tuple[Any, int]:
        if len(pointer) > DEEPEST:
            raise self.wrong(at, _("nested deeper than {limit} levels").format(limit=DEEPEST))
        self.lines.setdefault(pointer, self.line(at))
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at + 1, pointer)
        if first == "[":
            return self._list(at + 1, pointer)
        if first == '"':
            return self._string(at)
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                return value, at + len(word)
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise self.wrong(at, _("a value is wanted here"))
        number = match[0]
        return (float(number) if re.search("[.eE]", number) else int(number)), match.end()

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self.text, at + 1, False)  # line breaks in it are let be, as browsers do not
        except ValueError as error:
            raise self.wrong(getattr(error, "pos", at), _("a text that is not well formed")) from error
        return value.encode("utf-8", "replace").decode("utf-8"), end

    def _object(self, at: int, pointer: Pointer) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        at = self.skip(at)
        if self.text.startswith("}", at):
            return found, at + 1
        while True:
            if not self.text.startswith('"', at):
                raise self.wrong(at, _("a key in double quotes is wanted here"))
            start = at
            key, at = self._string(at)
            at = self.skip(at)
            if not self.text.startswith(":", at):
                raise self.wrong(at, _("a ':' is wanted here"))
            inner = (*pointer, key)
            if key in found:
                self.repeated.append(inner)
            self.lines[inner] = self.line(start)
            found[key], at = self.value(self.skip(at + 1), inner)
            at = self.skip(at)
            if self.text.startswith("}", at):
                return found, at + 1
            at = self._comma(at, "}")

    def _list(self, at: int, pointer: Pointer) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self.skip(at)
        if self.text.startswith("]", at):
            return found, at + 1
        while True:
            value, at = self.value(at, (*pointer, len(found)))
            found.append(value)
            at = self.skip(at)
            if self.text.startswith("]", at):
                return found, at + 1
            at = self._comma(at, "]")

    def _comma(self, at: int, end: str) -> int:
        if not self.text.startswith(",", at):
            raise self.wrong(at, _("a ',' or '{end}' is wanted here").format(end=end))
        after = self.skip(at + 1)
        if self.text.startswith(end, after):
            raise self.wrong(at, _("a ',' with nothing after it"))
        return after
