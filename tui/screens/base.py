"""What every screen has: a title, the line of keys, help, a sentence instead of a picture where there is no room.

Owns these, and what a screen does when the language changes. Knows nothing of what any screen shows.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.containers import Container
from textual.events import Key, ScreenResume
from textual.screen import Screen
from textual.widgets import Static

from cluster.i18n import _
from tui.keys import KEYS, bindings
from tui.widgets.footer import KeyLine
from tui.widgets.title import TitleLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from tui.app import LearnerApp

LEAST_WIDTH, LEAST_HEIGHT = 40, 12
"""Below that, nothing could be read."""
REFUSED_SECONDS = 4.0
"""How long it is said why a key does nothing; the same is not said twice meanwhile."""


class LearnerScreen(Screen[None]):
    """A screen of ours. A subclass names its `PLACE` in the table of keys and takes its bindings from there."""

    PLACE: ClassVar[str]
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012  # as Textual declares it
        (0, "-narrow"),
        (100, "-wide"),
    ]
    AUTO_FOCUS = ""
    ABOUT = ""
    """What the screen is for, for its page of help; marked with `N_`."""

    _refused = ("", 0.0)

    DEFAULT_CSS = """
    LearnerScreen {
        background: $background;
        #no-room { display: none; width: 100%; height: 100%; content-align: center middle; text-align: center; }
        &.-tiny {
            #no-room { display: block; }
            #body, TitleLine, KeyLine { display: none; }
        }
        #body { height: 1fr; width: 100%; }
    }
    """

    def __init_subclass__(cls, **more: Any) -> None:
        """The bindings come from the one table, so nobody can forget a key's id."""
        if "PLACE" in cls.__dict__:
            cls.BINDINGS = bindings(cls.PLACE)
        super().__init_subclass__(**more)

    @property
    def learner(self) -> LearnerApp:
        """The application, as what it is."""
        from tui.app import LearnerApp

        assert isinstance(self.app, LearnerApp)
        return self.app

    def compose(self) -> ComposeResult:
        """Title, body, keys."""
        yield TitleLine()
        with Container(id="body"):
            yield from self.body()
        yield Static(id="no-room")
        yield KeyLine(self.PLACE)

    def body(self) -> ComposeResult:
        """What the subclass shows between title and keys."""
        raise NotImplementedError

    def entitle(self, left: str, right: str = "") -> None:
        """What the title says."""
        title = self.query_one(TitleLine)
        title.left, title.right = left, right
        self.name_terminal()

    def named(self) -> str:
        """What the terminal's own title says while this screen is in front, so that other windows can be told apart."""
        return self.query_one(TitleLine).left

    def name_terminal(self) -> None:
        """Say it, where this screen is in front and there is something to say."""
        if self.is_current and self.query(TitleLine):
            self.learner.name_terminal(self.named())

    @on(ScreenResume)
    def _back_in_front(self) -> None:
        self.name_terminal()

    async def speak(self) -> None:
        """Say everything anew: the language changed. A subclass that has read texts reads them again."""
        await self.recompose()

    def why_not(self, action: str) -> str:
        """Why the key of an action does nothing just now, and what would help; "" where there is nothing to say."""
        del action
        return ""

    def on_key(self, event: Key) -> None:
        """A key that does nothing now says why, rather than seem broken."""
        keymap = self.learner.keymap
        for key in KEYS[self.PLACE]:
            if event.key in keymap.get(key.id, key.keys).split(",") and self.check_action(key.action, ()) is not True:
                why, now = self.why_not(key.action), time.monotonic()
                if why and (why != self._refused[0] or now > self._refused[1]):
                    self._refused = (why, now + REFUSED_SECONDS)
                    self.notify(why, timeout=REFUSED_SECONDS, markup=False)
                event.stop()

    def on_resize(self, event: Resize) -> None:
        """A terminal too small to draw in is told so."""
        width, height = event.size
        tiny = width < LEAST_WIDTH or height < LEAST_HEIGHT
        self.set_class(tiny, "-tiny")
        if tiny:
            room = _("{width} x {height} is too small: make the terminal at least {least_width} x {least_height}")
            self.query_one("#no-room", Static).update(
                room.format(width=width, height=height, least_width=LEAST_WIDTH, least_height=LEAST_HEIGHT)
            )
