"""The preview alone: an author's application, in which nothing is started or counted.

Owns what of the application is left out there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.lab.catalogue import labs_dir
from tui.app import LearnerApp
from tui.preview.screen import PreviewScreen
from tui.settings import Settings

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.backend.model import Backend


class PreviewApp(LearnerApp):
    """One lab, read again whenever a file of it is saved. Colours and language chosen here are forgotten."""

    def __init__(self, backend: Backend, lab_id: str, *, ascii_only: bool = False) -> None:
        """UsageProblem: there is no such folder."""
        super().__init__(backend, ascii_only=ascii_only, settings=Settings())
        self._folder = labs_dir() / lab_id
        if not self._folder.is_dir():
            raise UsageProblem(_("{folder} is not a folder").format(folder=self._folder))

    def get_default_screen(self) -> Screen[Any]:
        """The preview."""
        return PreviewScreen(self._folder)

    def open_lab(self, lab_id: str) -> None:
        """A link to a lab leads nowhere here."""
        self.notify(lab_id, markup=False)

    def open_article(self, article_id: str) -> None:
        """A link to an article, too."""
        self.notify(article_id, markup=False)
