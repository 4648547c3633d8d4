"""A place that jump mode leads to, and what of a screen is one.

Owns how these are found: widgets that take the focus, lines of lists, and what a widget names by a method `jumps`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from textual.errors import NoWidget
from textual.widgets import OptionList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from textual.geometry import Region
    from textual.screen import Screen
    from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Jump:
    """A place on the screen, in cells from its upper left corner, and how to get there."""

    x: int
    y: int
    go: Callable[[], Any]


@runtime_checkable
class Jumpable(Protocol):
    """A widget, or a screen, in which there is more than one place to go to."""

    def jumps(self) -> Iterable[Jump]:
        """Its places, as far as they are seen."""


def seen(widget: Widget) -> Region | None:
    """Where a widget is on the screen, as far as it is seen."""
    try:
        region = widget.screen.find_widget(widget).visible_region
    except NoWidget:
        return None
    return region if region.area else None


def found_on(screen: Screen[Any]) -> list[Jump]:
    """Everything on a screen that can be gone to, from top to bottom."""
    found: list[Jump] = [*screen.jumps()] if isinstance(screen, Jumpable) else []
    focusable = set(screen.focus_chain)
    for widget in screen.query("*"):
        region = seen(widget)
        if region is None:
            continue
        if isinstance(widget, Jumpable):
            found += widget.jumps()
        elif isinstance(widget, OptionList):
            found += _lines(widget, region)
        elif widget in focusable and widget is not screen.focused:
            found.append(Jump(region.x, region.y, widget.focus))
    return sorted(found, key=lambda jump: (jump.y, jump.x))


def _lines(rows: OptionList, region: Region) -> Iterator[Jump]:
    """The lines of a list that can be chosen; of several lines of one choice the first."""
    known = set()
    for y in range(region.y, region.bottom):
        index = rows.screen.get_style_at(region.x + 1, y).meta.get("option")
        if index is not None and index not in known and not rows.options[index].disabled:
            known.add(index)
            yield Jump(region.x, y, partial(_choose, rows, index))


def _choose(rows: OptionList, index: int) -> None:
    rows.focus()
    rows.highlighted = index
