"""The board alone, for an instructor's screen: nothing in it changes anything.

Owns what of the application is left out there: the catalogue, and whatever writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import language
from grader.lab.catalogue import load_lab
from grader.session.values import values_of
from tui.app import LearnerApp
from tui.board.screen import BoardScreen
from tui.settings import Settings
from tui.timeline.screen import TimelineScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.backend.model import Backend


class BoardApp(LearnerApp):
    """Board and timeline of one lab. Colours and language chosen here are forgotten at the end."""

    def __init__(self, backend: Backend, lab_id: str, *, ascii_only: bool = False) -> None:
        """UsageProblem: there is no such lab, or its files are wrong."""
        super().__init__(backend, ascii_only=ascii_only, settings=Settings())
        self._shown_lab = load_lab(lab_id, language(), values_of(lab_id))

    def get_default_screen(self) -> Screen[Any]:
        """The board."""
        return BoardScreen.of(self._shown_lab)

    def open_timeline(self, lab_id: str) -> None:
        """The timeline, without what writes it to a file."""
        del lab_id
        self.push_screen(TimelineScreen.of(self._shown_lab, exports=False))

    def open_board(self, lab_id: str) -> None:
        """The board is below."""
        del lab_id
        if len(self.screen_stack) > 1:
            self.pop_screen()
