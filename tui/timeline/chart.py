"""The chart of a timeline: rows of bars under their owners, with an axis, and a cursor in time.

Owns the drawing and the cursor; what stands in a cell is `grader.timeline.bars`'.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from grader.report.layout import ASCII_TWINS, one_line, pad
from grader.timeline.bars import ASCII, UNICODE, Mark, cells
from grader.timeline.model import LETTERS, Phase
from grader.timeline.scale import Window, ticks
from grader.timeline.text import everything, fate, heading, label_width, word
from tui import marks
from tui.marks import cut
from tui.widgets.jump import Jump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual import events

    from grader.timeline.bars import Cell
    from grader.timeline.model import Group, Moment, Row, Timeline

_PHASES = {
    Phase.PENDING: "chart--pending",
    Phase.QUEUED: "chart--pending",
    Phase.CREATING: "chart--creating",
    Phase.RESERVED: "chart--creating",
    Phase.RUNNING: "chart--running",
    Phase.ADMITTED: "chart--running",
    Phase.SUCCEEDED: "chart--succeeded",
    Phase.FAILED: "chart--failed",
    Phase.TERMINATING: "chart--terminating",
    Phase.UNKNOWN: "chart--failed",
}
_MARKS = {
    Mark.RECREATED: "chart--recreated",
    Mark.RESTARTED: "chart--restarted",
    Mark.UNSEEN: "chart--unseen",
}
_WORDS_FROM = 76
"""Cells of width from which the phase now stands behind each bar."""
_NARROWEST = 16
AXIS = 2
"""Lines above the rows: the axis, and the cursor's place on it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the chart: the name of a group, a row of it, or nothing."""

    group: Group | None = None
    row: Row | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """Tells lines apart while the timeline grows."""
        if self.group is None:
            return ()
        label = (self.row.kind, self.row.label) if self.row else ()
        return (self.group.namespace, self.group.kind, self.group.name, self.group.part, *label)


class Chart(ScrollView, can_focus=True):
    """A timeline with a cursor: a line and a moment."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *("chart--axis", "chart--group", "chart--fate", "chart--label", "chart--cursor", "chart--line", "chart--muted"),
        *_PHASES.values(),
        *_MARKS.values(),
    }
    DEFAULT_CSS = """
    Chart {
        background: $background; padding: 0 1; height: 1fr; overflow-x: hidden;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0;
        & > .chart--axis { color: $muted; }
        & > .chart--group { color: $foreground; text-style: bold; }
        & > .chart--fate { color: $warning; text-style: bold; }
        & > .chart--label { color: $foreground; }
        & > .chart--muted { color: $muted; }
        & > .chart--line { background: $panel; }
        & > .chart--cursor { background: $primary; color: $background; text-style: bold; }
        & > .chart--pending { color: $warning; }
        & > .chart--creating { color: $accent; }
        & > .chart--running { color: $success; }
        & > .chart--succeeded { color: $primary; }
        & > .chart--failed { color: $error; text-style: bold; }
        & > .chart--terminating { color: $muted; }
        & > .chart--recreated { color: $background; background: $accent; text-style: bold; }
        & > .chart--restarted { color: $background; background: $error; text-style: bold; }
        & > .chart--unseen { color: $muted; }
    }
    """

    class Moved(Message):
        """The cursor stands elsewhere, or what is under it changed."""

    def __init__(self) -> None:
        super().__init__(id="chart")
        self.timeline: Timeline | None = None
        self.window = Window(0.0, 10.0, 1)
        self.lines: list[Line] = []
        self.at = 0.0
        """The moment of the cursor."""
        self.follows = True
        """Whether the end stays in sight while time goes on."""
        self._number = 0
        self._whole = True
        self._labels = self._words = 0

    # -- what is shown --------------------------------------------------------------------------------

    def show(self, timeline: Timeline) -> None:
        """Have `timeline` in the place of an earlier state of it; line and moment stay."""
        first, key = self.timeline is None, self.line.key if self.lines else ()
        self.timeline = timeline
        self.lines = [*_lines(timeline)]
        found = [number for number, line in enumerate(self.lines) if line.key == key and key]
        self._number = found[0] if found else self._first_row()
        if first:
            self.at = timeline.end
        self._fit()
        self.virtual_size = Size(self._width, len(self.lines) + AXIS)
        self.refresh()
        self.post_message(self.Moved())

    @property
    def line(self) -> Line:
        """The line under the cursor."""
        return self.lines[self._number] if self._number < len(self.lines) else Line()

    @property
    def column(self) -> int:
        """The column of the cursor; the last moment of what has ended belongs to the last one."""
        cell = self.window.cell(self.at)
        return cell - 1 if cell == self.window.width and self.at <= self.window.end else cell

    @property
    def moments(self) -> tuple[Moment, ...]:
        """All that happened in the line under the cursor."""
        line = self.line
        return line.row.moments if line.row else line.group.moments if line.group else ()

    def _fit(self) -> None:
        """The window within what there is: all of it, the end of it, or where one has gone."""
        assert self.timeline is not None
        self._measure()
        room = self._bars
        whole = everything(self.timeline, room)
        if self._whole:
            self.window = whole
        else:
            self.window = self.window.resized(room).within(whole.start, whole.end)
        if self.follows:
            self.at = self.timeline.end
            if not self._whole:
                self.window = self.window.moved(whole.end - self.window.end)
        self.at = max(self.timeline.start, min(self.at, self.timeline.end))

    # -- moving ---------------------------------------------------------------------------------------

    def move(self, columns: int) -> None:
        """The cursor to another column."""
        if self.timeline is None:
            return
        cell = self.column + columns
        self.go_to(self.window.times(cell)[0] + self.window.per_cell / 2)

    def go_to(self, at: float) -> None:
        """The cursor to a moment, with the window after it."""
        if self.timeline is None:
            return
        self.at = max(self.timeline.start, min(at, self.timeline.end))
        self.follows = self.at >= self.timeline.end and self.timeline.live
        if not self.window.start <= self.at < self.window.end:
            self.window = self.window.moved(self.at - self.window.start - self.window.span / 2)
        self._fit()
        self._changed()

    def jump(self, direction: int) -> None:
        """To the next thing that happened in this line, or to the one before."""
        # What one column can't tell apart is one step, unless it is all there is.
        times = sorted({moment.at for moment in self.moments})
        if direction > 0:
            after = [at for at in times if at > self.at + 1e-6]
            if after:
                self.go_to(after[0])
        elif before := [at for at in times if at < self.at - 1e-6]:
            self.go_to(before[-1])

    def zoom(self, direction: int) -> None:
        """Half the time (-1) or twice (1), around the cursor."""
        if self.timeline is None:
            return
        whole = everything(self.timeline, self._bars)
        wider = self.window.zoomed(2.0**direction, self.at)
        self._whole = wider.span >= whole.span
        self.window = wider
        self._fit()
        self._changed()

    def show_everything(self) -> None:
        """From the first moment until now."""
        if self.timeline is not None:
            self._whole = True
            self._fit()
            self._changed()

    def follow(self) -> None:
        """To the end, and along with it."""
        if self.timeline is not None:
            self.go_to(self.timeline.end)

    def go_down(self, by: int) -> None:
        """To another line, past the empty ones."""
        number = self._number
        for _step in range(abs(by)):
            number = self._next_line(number, 1 if by > 0 else -1)
        if number != self._number:
            self._number = number
            self._reveal()
            self._changed()

    def jumps(self) -> Iterator[Jump]:
        """The lines that are seen."""
        region, top = self.content_region, self.scroll_offset.y
        for number, line in enumerate(self.lines[top : top + self._page], start=top):
            if line.group is not None:
                yield Jump(region.x, region.y + AXIS + number - top, partial(self.go_to_line, number))

    def go_to_line(self, number: int) -> None:
        """To a line by its number."""
        self._number = number
        self._reveal()
        self._changed()

    def action_scroll_down(self) -> None:
        """The arrow key of a view that scrolls."""
        self.go_down(1)

    def action_scroll_up(self) -> None:
        """As above."""
        self.go_down(-1)

    def action_page_down(self) -> None:
        """As many lines as are seen."""
        self.go_down(self._page)

    def action_page_up(self) -> None:
        """As above."""
        self.go_down(-self._page)

    def action_scroll_left(self) -> None:
        """Earlier."""
        self.move(-1)

    def action_scroll_right(self) -> None:
        """Later."""
        self.move(1)

    def action_scroll_home(self) -> None:
        """To the first moment."""
        if self.timeline is not None:
            self.go_to(self.timeline.start)

    def action_scroll_end(self) -> None:
        """To the last."""
        self.follow()

    def on_click(self, event: events.Click) -> None:
        """A click takes the cursor along."""
        offset = event.get_content_offset(self)
        if offset is None or self.timeline is None or offset.y < AXIS:
            return
        number = offset.y - AXIS + self.scroll_offset.y
        if number < len(self.lines) and self.lines[number].group is not None:
            self._number = number
        cell = offset.x - self._labels
        if 0 <= cell < self.window.width:
            start, end = self.window.times(cell)
            self.go_to((start + end) / 2)
        self._changed()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """With ctrl, farther; else lines as everywhere."""
        if event.ctrl:
            event.stop()
            event.prevent_default()
            self.zoom(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """With ctrl, closer."""
        if event.ctrl:
            event.stop()
            event.prevent_default()
            self.zoom(-1)

    def on_resize(self) -> None:
        """More or fewer columns for the same time."""
        if self.timeline is not None:
            self._fit()
            self.virtual_size = Size(self._width, len(self.lines) + AXIS)
            self._reveal()
            self.refresh()

    # -- drawing --------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """The axis, then lines from where one has scrolled to."""
        if self.timeline is None:
            return Strip.blank(self._width, self.rich_style)
        if y < AXIS:
            return self._axis(y)
        number = y - AXIS + self.scroll_offset.y
        if number >= len(self.lines):
            return Strip.blank(self._width, self.rich_style)
        line, here = self.lines[number], number == self._number
        base = self._style("chart--line") if here else Style.null()
        if line.row is not None:
            return self._row(line.row, here, base)
        return self._heading(line, base)

    def _axis(self, y: int) -> Strip:
        style = self.rich_style + self._style("chart--axis")
        cell = self.column
        if y == 0:
            text = " " * self._labels
            for tick in ticks(self.window):
                text = pad(text, self._labels + tick.cell) + tick.label
            return Strip([Segment(text, style)]).adjust_cell_length(self._width, style)
        before = " " * (self._labels + max(0, cell))
        down = marks.mark("down") if 0 <= cell < self.window.width else ""
        return Strip([Segment(before, style), Segment(down, style + self._style("chart--group"))]).adjust_cell_length(
            self._width, style
        )

    def _heading(self, line: Line, base: Style) -> Strip:
        style = self.rich_style + base
        if line.group is None:
            return Strip.blank(self._width, self.rich_style)
        assert self.timeline is not None
        said, name = fate(line.group), one_line(heading(line.group, self.timeline.namespace))
        if marks.is_ascii():
            said, name = said.translate(ASCII_TWINS), name.translate(ASCII_TWINS)
        name = cut(name, self._width)
        segments = [Segment(name, style + self._style("chart--group"))]
        room = self._width - cell_len(name) - 2
        if said and room > 8:
            segments.append(Segment("  " + cut(said, room), style + self._style("chart--fate")))
        return Strip(segments).adjust_cell_length(self._width, style)

    def _row(self, row: Row, here: bool, base: Style) -> Strip:
        assert self.timeline is not None
        style = self.rich_style + base
        label = "  " + pad(cut(one_line(row.label), self._labels - 3), self._labels - 2)
        segments = [Segment(label, style + self._style("chart--label"))]
        at = self.column
        for number, cell in enumerate(cells(row, self.timeline, self.window, self._glyphs)):
            shade = style + self._shade(cell)
            if number == at:  # what the other rows did at that time is seen as well
                shade = self._style("chart--cursor") if here else self._style("chart--line") + self._shade(cell)
            segments.append(Segment(cell.text, shade))
        if self._words:
            phase = row.lives[-1].phase_at(self.timeline.end)
            name = _PHASES[phase] if phase else "chart--muted"
            segments.append(Segment("  " + word(phase), style + self._style(name)))
        return Strip(segments).simplify().adjust_cell_length(self._width, style)

    def _shade(self, cell: Cell) -> Style:
        if cell.mark is not Mark.NONE:
            return self._style(_MARKS[cell.mark])
        if cell.phase is None:
            return Style.null()
        # The letter that begins a phase stands out from what fills it.
        return self._style(_PHASES[cell.phase]) + Style(bold=cell.text in LETTERS.values() or None)

    def _style(self, name: str) -> Style:
        found: Any = self.get_component_rich_style(name, partial=True)
        return Style(color=found.color, bgcolor=found.bgcolor, bold=found.bold, reverse=found.reverse)

    # -- measures -------------------------------------------------------------------------------------

    @property
    def _glyphs(self) -> Any:  # one of two constants of one class
        return ASCII if marks.is_ascii() else UNICODE

    @property
    def _width(self) -> int:
        return max(1, self.scrollable_content_region.width)

    @property
    def _bars(self) -> int:
        return max(_NARROWEST, self._width - self._labels - self._words)

    def _measure(self) -> None:
        """How wide names and words are; they change with the rows and the width only."""
        assert self.timeline is not None
        self._labels = label_width(self.timeline, self._width) + 3
        now = [row.lives[-1].phase_at(self.timeline.end) for _group, row in self.timeline.rows]
        widest = max((cell_len(word(phase)) for phase in now), default=0)
        self._words = widest + 2 if self._width >= _WORDS_FROM else 0

    @property
    def _page(self) -> int:
        return max(1, self.scrollable_content_region.height - AXIS)

    # -- beneath --------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Moved())

    def _first_row(self) -> int:
        return next((number for number, line in enumerate(self.lines) if line.row), 0)

    def _next_line(self, number: int, step: int) -> int:
        after = number + step
        while 0 <= after < len(self.lines) and self.lines[after].group is None:
            after += step
        return after if 0 <= after < len(self.lines) else number

    def _reveal(self) -> None:
        """Scroll as little as it takes to see the cursor's line, and its group's name where it is the first."""
        top, page = self.scroll_offset.y, self._page
        first = self._number - 1 if self._number and self.lines[self._number - 1].row is None else self._number
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif self._number >= top + page:
            self.scroll_to(y=self._number - page + 1, animate=False, force=True)


def _lines(timeline: Timeline) -> list[Line]:
    found: list[Line] = []
    for group in timeline.groups:
        if found:
            found.append(Line())
        found.append(Line(group))
        found += [Line(group, row) for row in group.rows]
    return found
