"""Columns on a screen: how wide each is, by the width there is and never by what stands in it.

Owns that arithmetic, in terminal cells. A table whose columns move with its contents can't be read while it lives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = 2
"""Cells between columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of at least `least` cells; `flex`: its share of what is left."""

    title: str
    """Marked; looked up when it is shown."""
    least: int
    flex: int = 0
    drop: int = 0
    """Where there is no room for all, columns go in the order of this number, those with 0 never."""


def widths(columns: Sequence[Column], width: int) -> list[int]:
    """Cells for each column; 0 for one that is left out. Together with gaps at most `width`, which may cut the last."""
    shown = list(range(len(columns)))
    for number in sorted((n for n in shown if columns[n].drop), key=lambda n: columns[n].drop):
        if _needs(columns, shown) <= width:
            break
        shown.remove(number)
    found = [0] * len(columns)
    left = width - _needs(columns, shown)
    shares = sum(columns[n].flex for n in shown)
    for number in shown:
        share = max(0, left) * columns[number].flex // shares if shares else 0
        found[number] = columns[number].least + share
    if shares and left > 0:  # what division left over
        last = [n for n in shown if columns[n].flex][-1]
        found[last] += width - _total(found)
    return _cut(found, width)


def _needs(columns: Sequence[Column], shown: list[int]) -> int:
    return sum(columns[n].least for n in shown) + GAP * (len(shown) - 1)


def _total(found: list[int]) -> int:
    used = [each for each in found if each]
    return sum(used) + GAP * (len(used) - 1)


def _cut(found: list[int], width: int) -> list[int]:
    """The last columns narrower, where even the least is too much."""
    for number in reversed(range(len(found))):
        over = _total(found) - width
        if over <= 0:
            break
        found[number] = max(1 if number == 0 else 0, found[number] - over)
    return found
