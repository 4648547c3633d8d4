"""A visual that is laid out for the width it gets, each time anew: rows with columns survive a resize by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.visual import Visual

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.css.styles import RulesMap
    from textual.strip import Strip
    from textual.style import Style
    from textual.visual import RenderOptions


class Laid(Visual):
    """`layout(width)` gives the content for so many cells."""

    def __init__(self, layout: Callable[[int], Content]) -> None:
        self._layout = layout

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """As Textual asks for it."""
        return self._layout(max(1, width)).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All there is."""
        del rules
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """As many lines as the content has at that width."""
        return self._layout(max(1, width)).get_height(rules, width) if width else 1
