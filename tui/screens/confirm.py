"""A question before something that can't be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cluster.i18n import _
from grader.cli.commands import N_

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class ConfirmScreen(ModalScreen[bool]):
    """What would happen, and yes or no; Escape and Enter are no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", N_("yes"), show=False),
        Binding("n,escape,enter,q", "answer(False)", N_("no"), show=False),
    ]
    DEFAULT_CSS = """
    ConfirmScreen {
        align: center middle; background: $background 60%;
        Vertical {
            width: 64; max-width: 95%; height: auto; background: $surface; border: $frame $warning; padding: 1 2;
            border-title-color: $warning;
        }
        #answers { margin-top: 1; }
    }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """The question and its answers."""
        with Vertical() as box:
            box.border_title = self._title
            yield Static(self._text, markup=False)
            answers = (
                "[@click=screen.answer(True)][bold]y[/] {yes}[/]    [@click=screen.answer(False)][bold]n[/] {no}[/]"
            )
            yield Static(answers.format(yes=_("yes"), no=_("no")), id="answers")

    def action_answer(self, yes: bool) -> None:
        """One of the two."""
        self.dismiss(yes)
