"""Time as cells of a terminal, or any other equal steps: which moment falls where, and what stands below.

Owns the window that is looked at and the ticks of its axis; knows nothing of what is drawn in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
"""Seconds between ticks, of which people can think."""
CLOSEST = 0.02
"""Seconds in one cell at the closest look: changes are told apart by hundredths."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time between `start` and `start + span` (Unix seconds, seconds), in `width` cells (at least one)."""

    start: float
    span: float
    width: int

    @property
    def end(self) -> float:
        """The first moment that is no longer in it."""
        return self.start + self.span

    @property
    def per_cell(self) -> float:
        """Seconds in one cell."""
        return self.span / self.width

    def cell(self, at: float) -> int:
        """The cell of a moment; outside of 0 to width-1 where it is not in the window."""
        return math.floor((at - self.start) / self.per_cell + 1e-4)  # a moment in Unix seconds is known to 0.2 µs

    def times(self, cell: int) -> tuple[float, float]:
        """The time that a cell stands for."""
        return self.start + cell * self.per_cell, self.start + (cell + 1) * self.per_cell

    def resized(self, width: int) -> Window:
        """The same time in another number of cells."""
        return replace(self, width=max(1, width))

    def zoomed(self, factor: float, around: float) -> Window:
        """`factor` times as much time (0.5: closer), with `around` staying where it is."""
        span = max(self.span * factor, self.width * CLOSEST)
        share = (around - self.start) / self.span
        return replace(self, start=around - share * span, span=span)

    def moved(self, seconds: float) -> Window:
        """Later, or earlier."""
        return replace(self, start=self.start + seconds)

    def within(self, start: float, end: float) -> Window:
        """As much of it as there is between two times; never longer than they are apart."""
        span = min(self.span, max(end - start, self.width * CLOSEST))
        return replace(self, start=max(start, min(self.start, end - span)), span=span)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis: its cell, and the local time it stands for."""

    cell: int
    label: str


def ticks(window: Window, room: int = 3) -> list[Tick]:
    """Ticks whose labels, each written from its cell on, are at least `room` cells apart and end in the window."""
    fitting = (step for step in STEPS if step / window.per_cell >= len(_label(window.start, step)) + room)
    step = next(fitting, STEPS[-1])  # then not every one is written
    offset = _offset(window.start)
    number = math.ceil((window.start + offset) / step - 1e-6)
    found: list[Tick] = []
    while (at := number * step - offset) < window.end:
        label = _label(at, step)
        cell = window.cell(at)
        free = 0 if not found else found[-1].cell + len(found[-1].label) + room
        if free <= cell <= window.width - len(label):
            found.append(Tick(cell, label))
        number += 1
    return found


def clock(at: float, *, fine: bool = False) -> str:
    """A moment as local time of day, to the second, or `fine`, to the thousandth."""
    local = datetime.fromtimestamp(at).astimezone()
    return local.strftime("%H:%M:%S") + (f".{local.microsecond // 1000:03d}" if fine else "")


def _label(at: float, step: float) -> str:
    local = datetime.fromtimestamp(round(at, 3)).astimezone()
    if step >= 60:
        return local.strftime("%H:%M")
    return local.strftime("%H:%M:%S") + (f".{local.microsecond // 100_000}" if step < 1 else "")


def _offset(at: float) -> float:
    """Seconds that local time is ahead of UTC, so that ticks stand at full local hours."""
    ahead = datetime.fromtimestamp(at).astimezone().utcoffset()
    return 0.0 if ahead is None else ahead.total_seconds()
