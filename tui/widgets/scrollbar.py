"""A scroll bar without fractions of a cell, for terminals that draw ASCII only."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBarRender


class AsciiScrollBar(ScrollBarRender):
    """Whole cells in another background."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]
