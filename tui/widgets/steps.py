"""The steps of a lab in one line: which have passed, which is shown; a click goes there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from cluster.i18n import _
from grader.results import State
from tui.marks import mark
from tui.widgets.checks import COLOURS
from tui.widgets.jump import Jump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import RenderResult


class Steps(Widget):
    """`show` says how each step is and which one is in front; 0 is what stands before the first."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Steps { height: 1; padding: 0 1; background: $surface; }
    """

    class Chosen(Message):
        """A step was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self) -> None:
        super().__init__()
        self._states: tuple[State | None, ...] = ()
        self._at = 0

    def show(self, states: list[State | None], at: int) -> None:
        """Draw anew if it is not so already."""
        if (tuple(states), at) != (self._states, self._at):
            self._states, self._at = tuple(states), at
            self.refresh()

    def jumps(self) -> Iterator[Jump]:
        """Each step."""
        region = self.content_region
        x = region.x
        for number, part in enumerate(self._parts()):
            if x < region.right:
                yield Jump(x, region.y, partial(self.post_message, self.Chosen(number)))
            x += part.cell_length + 1

    def render(self) -> RenderResult:
        """Numbers with their marks, as far as there is room; the one in front always."""
        return Content(" ").join(self._parts())

    def _parts(self) -> Iterator[Content]:
        yield self._part(0, _("about"), "")
        for number, state in enumerate(self._states, start=1):
            colour = COLOURS[state] if state is State.PASSED or state is State.ERROR else ""
            sign = mark("passed") if state is State.PASSED else mark("error") if state is State.ERROR else mark("open")
            yield self._part(number, f"{number}{sign}", colour)

    def action_choose(self, number: int) -> None:
        """By mouse."""
        self.post_message(self.Chosen(number))

    def _part(self, number: int, text: str, colour: str) -> Content:
        if number == self._at:
            return Content.styled(f"[{text}]", "bold reverse" if not colour else f"bold reverse {colour}")
        style = colour or "$muted"
        return Content.from_markup(f"[@click=choose({number})][{style}] $text [/][/]", text=text)
