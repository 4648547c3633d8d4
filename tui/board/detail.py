"""One object in full, or why it is as it is: a page over the board.

Owns that page; what is on it, whoever opens it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from cluster.i18n import _
from grader.cli.commands import N_
from grader.report.layout import ASCII_TWINS
from tui.marks import is_ascii

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class DetailScreen(ModalScreen[None]):
    """Closes by Escape, Enter or `q`; the text may come later than the page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", N_("close"), show=False),
        Binding("j,down", "scroll('down')", show=False),
        Binding("k,up", "scroll('up')", show=False),
        Binding("pagedown,space", "scroll('page_down')", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("home,g", "scroll('home')", show=False),
        Binding("end,G", "scroll('end')", show=False),
    ]
    DEFAULT_CSS = """
    DetailScreen {
        align: center middle;
        background: $background 60%;
        VerticalScroll {
            width: 104; max-width: 96%; height: auto; max-height: 92%;
            background: $surface; border: $frame $primary; padding: 0 1;
            border-title-color: $primary; border-title-style: bold; border-subtitle-color: $muted;
            scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, title: str, text: str = "") -> None:
        """`title`: what it is about. Without a text it says that one is on its way."""
        super().__init__()
        self._title, self._page = title, Static(id="text")
        self.fill(text or _("one moment …"))

    def compose(self) -> ComposeResult:
        """One page of text that scrolls."""
        with VerticalScroll(can_focus=False) as page:
            page.border_title = Content(self._title)
            page.border_subtitle = _("esc closes")
            yield self._page

    def fill(self, text: str) -> None:
        """The text is there."""
        self._page.update(Content(text.translate(ASCII_TWINS) if is_ascii() else text))

    def action_scroll(self, where: str) -> None:
        """Scroll without gliding."""
        page = self.query_one(VerticalScroll)
        getattr(page, f"scroll_{where}")(animate=False)
