"""A table whose cells change while one looks at it.

Owns the drawing of rows, the cursor and what is drawn again: of a row that changed, only the cells that did. Columns
never move with their contents. Knows nothing of what the rows are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cluster.i18n import _
from grader.board.columns import GAP, widths
from grader.board.model import Level
from grader.board.panes import MUTED
from grader.report.layout import ASCII_TWINS
from tui.marks import cut, is_ascii

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from grader.board.panes import Cell, Pane, Row

_STYLES: dict[object, str] = {
    Level.OK: "table--ok",
    Level.MOVING: "table--moving",
    Level.WAITING: "table--waiting",
    Level.BAD: "table--bad",
    MUTED: "table--muted",
    "bar": "table--bar",
}


class Table(ScrollView, can_focus=True):
    """The rows of one pane."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--head", "table--cursor", *_STYLES.values()}
    DEFAULT_CSS = """
    Table {
        background: $background; border: $frame $border; border-title-color: $muted; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; overflow-x: hidden;
        border-subtitle-color: $warning;
        &:focus { border: $frame $primary; border-title-color: $primary; border-title-style: bold; }
        & > .table--head { color: $muted; text-style: bold; }
        & > .table--cursor { background: $panel; }
        &:focus > .table--cursor { background: $primary 30%; text-style: bold; }
        & > .table--ok { color: $success; }
        & > .table--moving { color: $primary; }
        & > .table--waiting { color: $warning; }
        & > .table--bad { color: $error; text-style: bold; }
        & > .table--muted { color: $muted; }
        & > .table--bar { color: $primary; }
    }
    """

    class Opened(Message):
        """Enter, or a second click, on a row."""

        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class Moved(Message):
        """The cursor went to another row."""

    def __init__(self, pane: Pane) -> None:
        """An empty table of `pane`."""
        super().__init__(id=pane.name)
        self.pane = pane
        self.rows: list[Row] = []
        self.drawn_cells = 0
        """Cells that were asked to be drawn again so far, for whoever wants to know whether that is little."""
        self._cursor = 0
        self._empty = ""
        self._frame = ("", "")

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self._cursor < len(self.rows) else None

    def show(self, rows: Sequence[Row], empty: str = "") -> None:
        """Have `rows` instead of those before. The cursor stays on its row; `empty` is said where there are none."""
        before, at = self.rows, self.row
        self.rows, self._empty = list(rows), empty
        if len(before) != len(self.rows):
            self.virtual_size = Size(self._room, len(self.rows) + 1)
        cursor = self._cursor
        if at is not None:
            same = (number for number, row in enumerate(self.rows) if row.key == at.key)
            cursor = next(same, min(self._cursor, len(self.rows) - 1))
        self._cursor = max(0, cursor)
        if not before or not self.rows:
            self.refresh()
            return
        room = widths(self.pane.columns, self._room)
        for number in range(max(len(before), len(self.rows))):
            self._refresh_changes(number, before, room)

    def entitle(self, above: str, below: str) -> None:
        """What stands in the frame."""
        if self._frame != (above, below):
            self._frame = (above, below)
            self.border_title, self.border_subtitle = Content(above), Content(below)

    # -- moving ---------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """The cursor so many rows further down."""
        self.move_to(self._cursor + by)

    def move_to(self, number: int) -> None:
        """The cursor to a row, or as near as there is one."""
        number = max(0, min(number, len(self.rows) - 1))
        if number == self._cursor or not self.rows:
            return
        for each in (self._cursor, number):
            self._refresh_row(each)
        self._cursor = number
        self._reveal()
        self.post_message(self.Moved())

    def action_scroll_down(self) -> None:
        """One row down."""
        self.move(1)

    def action_scroll_up(self) -> None:
        """One row up."""
        self.move(-1)

    def action_page_down(self) -> None:
        """As many rows down as are seen."""
        self.move(self.page)

    def action_page_up(self) -> None:
        """As many rows up as are seen."""
        self.move(-self.page)

    def action_scroll_home(self) -> None:
        """The first row."""
        self.move_to(0)

    def action_scroll_end(self) -> None:
        """The last row."""
        self.move_to(len(self.rows) - 1)

    @property
    def page(self) -> int:
        """Rows that are seen at once."""
        return max(1, self.scrollable_content_region.height - 1)

    def on_click(self, event: events.Click) -> None:
        """A click takes the cursor along, a second one opens."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y < 1:
            return
        number = offset.y - 1 + self.scroll_offset.y
        if number >= len(self.rows):
            return
        self.move_to(number)
        if event.chain == 2:
            self.post_message(self.Opened(self.rows[number]))

    def on_resize(self) -> None:
        """Another width, other columns."""
        self.virtual_size = Size(self._room, len(self.rows) + 1)
        self._reveal()
        self.refresh()

    # -- drawing --------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """The head, then rows from where one has scrolled to."""
        room = widths(self.pane.columns, self._room)
        if y == 0:
            return self._head(room)
        number = y - 1 + self.scroll_offset.y
        if number < len(self.rows):
            return self._line(self.rows[number], room, number == self._cursor)
        text = cut(self._empty, self._room) if not self.rows and y == 1 else ""
        style = self.get_component_rich_style("table--muted") if text else self.rich_style
        return Strip([Segment(text, style)]).adjust_cell_length(self._room, self.rich_style)

    @property
    def _room(self) -> int:
        return max(1, self.scrollable_content_region.width)

    def _head(self, room: list[int]) -> Strip:
        style = self.get_component_rich_style("table--head")
        shown = [_padded(_(column.title), wide) for column, wide in zip(self.pane.columns, room, strict=True) if wide]
        return Strip([Segment((" " * GAP).join(shown), style)]).adjust_cell_length(self._room, style)

    def _line(self, row: Row, room: list[int], cursor: bool) -> Strip:
        base = self.get_component_rich_style("table--cursor") if cursor else self.rich_style
        segments: list[Segment] = []
        for cell, wide in zip(row.cells, room, strict=True):
            if wide:
                if segments:
                    segments.append(Segment(" " * GAP, base))
                segments.append(Segment(_padded(cell.text, wide), base + self._style(cell)))
        return Strip(segments).adjust_cell_length(self._room, base)

    def _style(self, cell: Cell) -> Style:
        name = _STYLES.get(cell.style)
        if name is None:
            return Style.null()
        found: Any = self.get_component_rich_style(name, partial=True)
        return Style(color=found.color, bold=found.bold, dim=found.dim)

    def _refresh_changes(self, number: int, before: list[Row], room: list[int]) -> None:
        old = before[number] if number < len(before) else None
        new = self.rows[number] if number < len(self.rows) else None
        if old == new:
            return
        if old is None or new is None or len(old.cells) != len(new.cells):
            self._refresh_row(number)
            return
        x = 0
        for one, other, wide in zip(old.cells, new.cells, room, strict=True):
            if not wide:
                continue
            if one != other:
                self._refresh_region(number, x, wide)
            x += wide + GAP

    def _refresh_row(self, number: int) -> None:
        self._refresh_region(number, 0, self._room)

    def _refresh_region(self, number: int, x: int, width: int) -> None:
        y = number + 1 - self.scroll_offset.y
        if 1 <= y <= self.page:
            self.drawn_cells += width
            self.refresh(Region(x, y, width, 1))

    def _reveal(self) -> None:
        """Scroll as little as it takes to see the cursor."""
        top, page = self.scroll_offset.y, self.page
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= top + page:
            self.scroll_to(y=self._cursor - page + 1, animate=False, force=True)


def _padded(text: str, width: int) -> str:
    text = cut(text.translate(ASCII_TWINS) if is_ascii() else text, width)
    return text + " " * (width - cell_len(text))
