"""The line at the top: where one is, and how far."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tui.marks import cut


class TitleLine(Widget):
    """`left` and `right` at the two ends of one line; `left` gives way where both don't fit."""

    DEFAULT_CSS = """
    TitleLine {
        height: 1;
        dock: top;
        background: $panel;
        color: $foreground;
        padding: 0 1;
        text-style: bold;
    }
    """

    left = reactive("")
    right = reactive("")

    def render(self) -> RenderResult:
        """One line, filled to the width."""
        room = self.size.width
        right = cut(self.right, room)
        left = cut(self.left, max(0, room - cell_len(right) - 2)) if room - cell_len(right) > 2 else ""
        gap = " " * max(0, room - cell_len(left) - cell_len(right))
        return Content(left + gap) + Content(right).stylize("not bold")
