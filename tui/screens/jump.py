"""Jump mode: a letter beside everything on the screen that one can go to; the letter goes there.

Owns the letters and their drawing; where they lead is found by `tui.widgets.jump`.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from textual.screen import ModalScreen
from textual.widgets import Static

from tui.widgets.jump import Jump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import Key, Resize
    from textual.geometry import Size

LETTERS = "asdfghjklqwertyuiopzxcvbnm" + string.ascii_uppercase
"""Those under the fingers first. What finds no letter is far down, and seen once one has scrolled."""


class JumpScreen(ModalScreen[Jump]):
    """Answers with the place whose letter was pressed; with None after any other key, or a click."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    JumpScreen {
        background: $background 45%;
        Static {
            position: absolute; width: 3; height: 1;
            background: $accent; color: $background; text-style: bold;
        }
    }
    """

    def __init__(self, jumps: Sequence[Jump]) -> None:
        super().__init__()
        self._jumps = dict(zip(LETTERS, jumps, strict=False))
        self._size_of_below: Size | None = None

    def compose(self) -> ComposeResult:
        """The letters, each where it leads."""
        for letter, jump in self._jumps.items():
            label = Static(f" {letter} ", markup=False)
            label.styles.offset = (jump.x, jump.y)
            yield label

    def on_key(self, event: Key) -> None:
        """There, or nowhere."""
        event.stop()
        event.prevent_default()
        self.dismiss(self._jumps.get(event.character or ""))

    def on_click(self) -> None:
        """Whoever takes the mouse needs no letters."""
        self.dismiss(None)

    def on_resize(self, event: Resize) -> None:
        """Everything below stands elsewhere now."""
        if self._size_of_below not in (None, event.size):
            self.dismiss(None)
        self._size_of_below = event.size
