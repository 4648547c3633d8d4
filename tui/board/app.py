"""The board alone, for an instructor's screen: nothing in it changes anything.

Owns what of the application is left out there: the catalogue, labs and their shells, and whatever writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

from cluster.i18n import language
from grader.lab.catalogue import load_lab
from grader.session.values import values_of
from tui.app import LearnerApp
from tui.board.screen import BoardScreen
from tui.settings import Settings
from tui.timeline.screen import TimelineScreen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import SystemCommand
    from textual.screen import Screen


class _Nothing:
    """In the place of a backend: whoever only looks has nobody to ask for anything else."""

    def __getattr__(self, name: str) -> Never:
        raise AttributeError(f"{name}: a board only shows")


class BoardApp(LearnerApp):
    """Board and timeline of one lab. Colours and language chosen here are forgotten at the end."""

    def __init__(self, lab_id: str, *, ascii_only: bool = False) -> None:
        """UsageProblem: there is no such lab, or its files are wrong."""
        super().__init__(_Nothing(), ascii_only=ascii_only, settings=Settings(), panes=False)
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

    # What leads anywhere else leads nowhere: from a lab's screen it could be stopped, and its shell opened.

    def open_lab(self, lab_id: str) -> None:
        """No lab."""
        del lab_id

    def open_article(self, article_id: str) -> None:
        """No article."""
        del article_id

    def open_report(self) -> None:
        """No report."""

    def stop_lab(self, lab_id: str) -> None:
        """Nothing is stopped."""
        del lab_id

    def shell_instead(self, lab_id: str) -> None:
        """No shell."""
        del lab_id

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Without those that lead elsewhere."""
        return (one for one in super().get_system_commands(screen) if one.callback != self.open_report)
