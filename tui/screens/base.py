"""What every screen has: a title, the line of keys, help, a sentence instead of a picture where there is no room.

Owns these, and what a screen does when the language changes. Knows nothing of what any screen shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static

from cluster.i18n import _
from tui.keys import bindings
from tui.widgets.footer import KeyLine
from tui.widgets.title import TitleLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from tui.app import LearnerApp

LEAST_WIDTH, LEAST_HEIGHT = 40, 12
"""Below that, nothing could be read."""


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

    async def speak(self) -> None:
        """Say everything anew: the language changed. A subclass that has read texts reads them again."""
        await self.recompose()

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
