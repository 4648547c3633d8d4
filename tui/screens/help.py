"""The page of `?`: what this screen is for, and its keys.

Owns the page; the keys come from the screen's own bindings, so that changed ones are shown as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from cluster.i18n import _
from grader.cli.commands import N_
from tui.keys import EVERYWHERE, KEYS, PLACES, displayed

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class HelpScreen(ModalScreen[None]):
    """Closes by Escape, `?` or `q`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", N_("close"), show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]
    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 60%;
        VerticalScroll {
            width: 76; max-width: 95%; height: auto; max-height: 90%;
            background: $surface; border: $frame $border; padding: 1 2;
            border-title-color: $primary; border-subtitle-color: $muted;
        }
        #about { margin-bottom: 1; }
    }
    """

    def __init__(self, place: str, about: str, keymap: dict[str, str]) -> None:
        """`place` of the table of keys; `keymap` says which of them a person changed."""
        super().__init__()
        self._place, self._about, self._keymap = place, about, keymap

    def compose(self) -> ComposeResult:
        """One column of keys, one of words."""
        with VerticalScroll() as page:
            page.border_title = _("Keys")
            page.border_subtitle = _("esc closes")
            if self._about:
                yield Static(_(self._about), id="about")
            yield Static(self._page())

    def action_down(self) -> None:
        """One line down."""
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        """One line up."""
        self.query_one(VerticalScroll).scroll_up(animate=False)

    def _page(self) -> Table:
        places = dict.fromkeys((self._place, EVERYWHERE))
        page = Table.grid(padding=(0, 2))
        page.add_column(no_wrap=True)
        page.add_column(ratio=1)
        for place in places:
            if page.row_count:
                page.add_row("", "")
            title = PLACES[place]
            page.add_row(Text(_(title), "bold underline"), "")
            for key in KEYS[place]:
                page.add_row(Text(displayed(self._keymap.get(key.id, key.keys)), "bold"), Text(_(key.help)))
        return page
