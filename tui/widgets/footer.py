"""The line of keys at the bottom, in the language in force.

Owns which keys of the screen are shown there: those of its place in the table, then those that work everywhere, as
many as there is room for; help is never among those left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from cluster.i18n import _
from tui.keys import EVERYWHERE, KEYS, displayed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.screen import Screen

LAST = "help"
GAP = 2


class Shown(NamedTuple):
    """One key of the line. `action` with its namespace; `able` is false where it does nothing now."""

    key: str
    label: str
    action: str
    able: bool
    id: str

    @property
    def width(self) -> int:
        """Cells it takes, the gap behind it left out."""
        return cell_len(self.key) + 1 + cell_len(self.label)


class KeyLine(Widget):
    """One key for each action that is shown, the first of its keys; a click does what the key does."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyLine { height: 1; dock: bottom; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self, place: str) -> None:
        """`place` of the table of keys."""
        super().__init__()
        self._place = place

    def on_mount(self) -> None:
        """What can be done changes with the focus and with what happens."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def on_unmount(self) -> None:
        """No signal for what is gone."""
        self.screen.bindings_updated_signal.unsubscribe(self)

    def render(self) -> RenderResult:
        """As many keys as fit."""
        keys = list(self._keys())
        room = self.size.width
        while len(keys) > 1 and sum(key.width + GAP for key in keys) - GAP > room:
            # From the end, because the table has what matters first.
            keys.remove(next(key for key in reversed(keys) if key.id != LAST))
        return Content(" " * GAP).join(map(_content, keys))

    def _keys(self) -> Iterator[Shown]:
        keymap: dict[str, str] = getattr(self.app, "keymap", {})
        for node, name, place in ((self.screen, "screen", self._place), (self.app, "app", EVERYWHERE)):
            for key in KEYS[place]:
                able = node.check_action(key.action, ())
                if key.shown and able is not False:
                    first = displayed(keymap.get(key.id, key.keys).split(",")[0])
                    yield Shown(first, _(key.label), f"{name}.{key.action}", able is True, key.id)

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()


def _content(shown: Shown) -> Content:
    if not shown.able:
        return Content.styled(f"{shown.key} {shown.label}", "$foreground 45%")
    return Content.from_markup(
        f"[@click={shown.action}][bold $footer-key-foreground]$key[/] $label[/]", key=shown.key, label=shown.label
    )
