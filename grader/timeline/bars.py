"""One row of a timeline as cells: what stands in each, of all that happened in its time.

Owns that choice and the glyphs; knows nothing of colours or widgets. A recreation outweighs a restart, a restart
outweighs a change of phase, and a change outweighs what merely lasts: what a learner must not miss is never hidden
by what is ordinary.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from grader.timeline.model import LETTERS, Phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.timeline.model import Life, Row, Span, Timeline
    from grader.timeline.scale import Window


class Mark(StrEnum):
    """What a cell shows instead of a phase."""

    NONE = ""
    RECREATED = "recreated"
    """Another object took the place."""
    RESTARTED = "restarted"
    """A container of it was started again."""
    UNSEEN = "unseen"
    """Nobody knows: the recorder was away."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its character (always one cell wide), the phase it is coloured by, and its mark."""

    text: str = " "
    phase: Phase | None = None
    mark: Mark = Mark.NONE


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of bars."""

    fill: Mapping[Phase, str]
    recreated: str
    restarted: str
    unseen: str
    now: str
    """The end of the record, where more is to come."""

    def mark(self, mark: Mark) -> str:
        """The character of a mark."""
        return {Mark.RECREATED: self.recreated, Mark.RESTARTED: self.restarted, Mark.UNSEEN: self.unseen}[mark]


def _fill(characters: str) -> dict[Phase, str]:
    return dict(zip(LETTERS, characters, strict=True))


#                          P C R S F T U Q V A
UNICODE = Glyphs(fill=_fill("┄┈━─╍╌?┄┈━"), recreated="◆", restarted="↻", unseen="░", now="▏")
ASCII = Glyphs(fill=_fill(".:=-x~?.:="), recreated="#", restarted="@", unseen="/", now="|")


def cells(row: Row, timeline: Timeline, window: Window, glyphs: Glyphs = UNICODE) -> list[Cell]:
    """The cells of a row, as many as the window has."""
    found = [Cell()] * window.width
    for life in row.lives:
        for span in life.spans:
            _draw(found, span, timeline, window, glyphs)
    for life in row.lives:
        _mark(found, life.restarts, Mark.RESTARTED, life, window, glyphs)
    for life in row.lives[1:]:
        _mark(found, (life.born,), Mark.RECREATED, life, window, glyphs)
    return found


def _draw(found: list[Cell], span: Span, timeline: Timeline, window: Window, glyphs: Glyphs) -> None:
    end = timeline.end if span.end is None else span.end
    first, last = window.cell(span.start), window.cell(end)
    # The cell in which it ends belongs to what follows, if anything does: it is drawn after this.
    if last > first and window.times(last)[0] >= end - 1e-6:
        last -= 1
    for cell in range(max(first, 0), min(last, window.width - 1) + 1):
        start, stop = window.times(cell)
        if cell == first:
            found[cell] = Cell(LETTERS[span.phase], span.phase)
        elif timeline.was_unseen(max(start, span.start), min(stop, end)):
            found[cell] = Cell(glyphs.unseen, span.phase, Mark.UNSEEN)
        else:
            found[cell] = Cell(glyphs.fill[span.phase], span.phase)


def _mark(found: list[Cell], times: Iterable[float], mark: Mark, life: Life, window: Window, glyphs: Glyphs) -> None:
    for at in times:
        cell = window.cell(at)
        if 0 <= cell < window.width:
            phase = found[cell].phase or life.phase_at(at)
            found[cell] = Cell(glyphs.mark(mark), phase, mark)
