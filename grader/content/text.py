"""The markdown of an article as markdown-it reads it: what its prose, links and tables really are.

Owns the parser, which is that of the terminal's layout (what is lost there is found here), and places of inline
text, which markdown-it does not keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from grader.lab.markdown import Outline

WIDEST = 76
"""Cells of a line of code or of a table: what is left of a terminal of 80 beside margins."""
_GAP = 3
"""Cells between two columns of a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: rows of cells without markup, the head first. `line` is that of its head."""

    rows: tuple[tuple[str, ...], ...]
    line: int

    @property
    def width(self) -> int:
        """Cells it takes when each of its cells is on one line."""
        columns = zip(*self.rows, strict=True)
        widths = [max(map(cell_len, column)) for column in columns]
        return sum(widths) + _GAP * (len(widths) - 1)


@dataclass(frozen=True, slots=True)
class Body:
    """An article below its front matter. Lines of tokens count from 0, as in the file."""

    tokens: tuple[Token, ...]
    lines: tuple[str, ...]

    def inlines(self) -> Iterator[Token]:
        """Every run of inline text, with its line in `map`."""
        return (token for token in self.tokens if token.type == "inline" and token.map)

    def tables(self) -> Iterator[Table]:
        """Every table."""
        rows: list[list[str]] = []
        start = 0
        for token in self.tokens:
            if token.type == "table_open" and token.map:
                rows, start = [], token.map[0] + 1
            elif token.type == "tr_open":
                rows.append([])
            elif token.type == "inline" and rows:
                rows[-1].append(plain(token))
            elif token.type == "table_close":
                yield Table(tuple(map(tuple, rows)), start)
                rows = []

    def place(self, token: Token, words: str) -> tuple[int, int]:
        """(line, column) of `words` in the lines of a block; its beginning where they aren't to be found so."""
        assert token.map is not None
        start, end = token.map
        for number in range(start, max(end, start + 1)):
            if (column := self.lines[number].find(words)) >= 0:
                return number + 1, column + 1
        return start + 1, 1


def parser() -> MarkdownIt:
    """A parser that makes of a text what rich makes of it."""
    return MarkdownIt().enable("strikethrough").enable("table")


def read_body(outline: Outline) -> Body:
    """The article's text; the lines of front matter and `:::` are blank, since neither is text."""
    lines = outline.source.text.split("\n")
    start = outline.matter.count("\n") + 2 if outline.matter is not None else 0
    kept = [
        "" if number < start or (line.startswith(":::") and number + 1 not in outline.code_lines) else line
        for number, line in enumerate(lines)
    ]
    return Body(tuple(parser().parse("\n".join(kept))), tuple(lines))


def plain(token: Token) -> str:
    """The text of an inline token without its markup, as a terminal shows it."""
    return "".join(_texts(token.children or ()))


def _texts(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        yield " " if child.type in ("softbreak", "hardbreak") else child.content
