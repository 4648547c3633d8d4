"""The timeline of one lab: the chart, and below it what happened at the cursor.

Owns the screen, its keys and the export. Where the timeline comes from is a `TimelineFeed`'s; it is asked in a
thread, so the screen never waits for a disk or a cluster.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from grader.cli.commands import N_
from grader.report.layout import ASCII_TWINS, one_line, wrap
from grader.session.places import session_home, stamp, work_folder
from grader.timeline.bars import ASCII, UNICODE
from grader.timeline.model import Source
from grader.timeline.scale import clock
from grader.timeline.session import SessionTimeline
from grader.timeline.svg import render_svg
from grader.timeline.text import duration, flow, heading, legend, render_text, word
from tui import marks
from tui.screens.base import LearnerScreen
from tui.timeline.chart import Chart
from tui.widgets.laid import Laid
from tui.widgets.title import TitleLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult

    from grader.lab.model import Lab
    from grader.timeline.model import Life, Moment, Timeline

EVERY = 1.0
"""Seconds between two looks."""
NEAR = 6
"""Moments that are told around the cursor."""


class TimelineFeed(Protocol):
    """What the screen asks. `look` blocks: call it from a thread, one at a time."""

    def look(self) -> Timeline:
        """All that was recorded. EnvironmentProblem: nothing can be read just now."""

    def again(self) -> None:
        """Have the next look begin anew, in the language in force then."""

    def close(self) -> None:
        """Let go of what was opened."""


class TimelineScreen(LearnerScreen):
    """What happened in one lab."""

    PLACE = "timeline"
    ABOUT = N_(
        "A row for each pod, under what it belongs to: its letter says in which phase it is. A pod that takes the "
        "place of another goes on in its row."
    )
    DEFAULT_CSS = """
    TimelineScreen {
        #body { layout: vertical; }
        #trust { display: none; height: auto; padding: 0 1; background: $error 30%; color: $foreground;
                 text-style: bold; }
        &.-silent #trust { display: block; }
        #legend { height: auto; max-height: 3; padding: 0 1; color: $muted; }
        #detail { height: 9; border-top: $rule $border; padding: 0 1; scrollbar-size-vertical: 1; }
        &.-low #detail { height: 5; }
        &.-low #legend { display: none; }
        &.-high #detail { height: 12; }
    }
    """
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012  # as Textual declares it
        (0, "-low"),
        (22, "-middle"),
        (36, "-high"),
    ]

    def __init__(self, lab_id: str, title: str, feed: TimelineFeed, folder: Path | None = None) -> None:
        """`feed` is closed with the screen; `folder` is where an export goes, None where nothing may be written."""
        super().__init__()
        self.lab_id, self._lab_title, self.feed, self._folder = lab_id, title, feed, folder
        self.shown: Timeline | None = None
        self._looking = False
        self._asking = asyncio.Lock()

    @classmethod
    def of(cls, lab: Lab, *, exports: bool = True) -> Self:
        """The timeline of the learner's session of a lab; `exports`: whether it may be written to the work folder."""
        home = session_home(lab.id)
        return cls(lab.id, lab.title, SessionTimeline(home, lab.namespace), work_folder(home) if exports else None)

    def body(self) -> ComposeResult:
        """Chart, legend, what is under the cursor."""
        self._trust_line, self._legend = Static(id="trust"), Static(id="legend")
        self._explained: tuple[list[str], list[str]] = ([], [])
        self._chart, self._told = Chart(), Static(id="told")
        yield self._trust_line
        yield self._chart
        yield self._legend
        with VerticalScroll(id="detail", can_focus=False):
            yield self._told

    def on_mount(self) -> None:
        """Look at once, then each second."""
        self._chart.focus()
        self._title()
        self.set_interval(EVERY, self._tick)
        self._tick()

    async def on_unmount(self) -> None:
        """Let go of the feed, once nobody asks it any more."""
        async with self._asking:
            await asyncio.to_thread(self.feed.close)

    async def speak(self) -> None:
        """The other language; what was read is read again."""
        async with self._asking:
            self.feed.again()
        self.shown = None
        await self.recompose()
        self._chart.focus()
        self._title()
        self._tick()

    def on_screen_resume(self) -> None:
        """Whoever comes back sees what is."""
        self._tick()

    # -- looking --------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if not self._looking and self.is_current:
            self._looking = True
            self.run_worker(self._look(), group="look")

    async def _look(self) -> None:
        try:
            async with self._asking:
                timeline = await asyncio.to_thread(self.feed.look)
        except Problem as problem:
            self._say(problem.message)
        else:
            self._say("")
            if timeline != self.shown and self.query(TitleLine):  # the screen may have gone meanwhile
                self.shown = timeline
                self._draw()
        finally:
            self._looking = False

    def _draw(self) -> None:
        assert self.shown is not None
        self._chart.show(self.shown)
        glyphs = ASCII if marks.is_ascii() else UNICODE
        lines = []
        for gap in self.shown.unseen:
            said = _("not recorded from {start} to {end}: {reason}")
            lines.append(said.format(start=clock(gap.start), end=clock(gap.end), reason=gap.says))
        items = legend(self.shown, glyphs)
        if self._explained != (items, lines):  # else the whole screen would be laid out anew
            self._explained = (items, lines)
            self._legend.update(Laid(lambda width: Content("\n".join([*flow(items, width), *lines]))))

    def _say(self, sentence: str) -> None:
        if self.has_class("-silent") or sentence:
            self.set_class(bool(sentence), "-silent")
            self._trust_line.update(Content(sentence))

    def _title(self) -> None:
        right = ""
        if self.shown is not None:
            window, end = self._chart.window, min(self._chart.window.end, self.shown.end)
            shown = _("{start} to {end}").format(start=clock(window.start), end=clock(end))
            state = _("live") if self.shown.live else _("stopped")
            if self.shown.live and self._chart.follows:
                state = _("following")
            right = f" {marks.mark('dot')} ".join((shown, duration(end - window.start), state))
        self.entitle(f"{self.lab_id}  {_('Timeline')}", right)

    # -- what is under the cursor ---------------------------------------------------------------------

    def on_chart_moved(self) -> None:
        """Tell what is there now."""
        self._title()
        self._told.update(Laid(self._telling))

    def _telling(self, width: int) -> Content:
        """Who is under the cursor and how it is, then what happened, the latest first."""
        chart, line = self._chart, self._chart.line
        if self.shown is None or line.group is None:
            return Content(_("no pod has been seen yet"))
        life = line.row.life_at(chart.at) if line.row else None
        name = life.name if life else line.row.label if line.row else heading(line.group, self.shown.namespace)
        head = Content.from_markup("[bold]$at  $name[/]", at=clock(chart.at, fine=True), name=_plain(one_line(name)))
        lines = [head]
        if line.row:
            said = wrap(self._standing(life), max(12, width - head.cell_length - 2))
            lines = [
                head + Content(f"  {said[0]}"),
                *(Content(" " * (head.cell_length + 2) + more) for more in said[1:]),
            ]
        for moment in self._near():
            lines += self._moment(moment, width)
        return Content("\n").join(lines)

    def _standing(self, life: Life | None) -> str:
        """How a row is at the cursor: its phase, since when, and which of several objects it is."""
        if life is None:
            return _("not there")
        phase = life.phase_at(self._chart.at)
        span = next(span for span in life.spans if span.phase is phase and span.start <= self._chart.at)
        said = [word(phase), _("since {time}").format(time=clock(span.start))]
        row = self._chart.line.row
        if row and len(row.lives) > 1:
            which = _("object {number} of {count} in this place")
            said.append(which.format(number=row.lives.index(life) + 1, count=len(row.lives)))
        if life.attempt:
            said.append(_("attempt {number}").format(number=life.attempt))
        return ", ".join([*said, f"uid {life.uid[:8]}"])

    def _near(self) -> list[Moment]:
        """What happened last before the end of the cursor's column, the latest first."""
        chart = self._chart
        end = max(chart.at, chart.window.times(chart.column)[1])
        return [moment for moment in reversed(chart.moments) if moment.at <= end][:NEAR]

    def _moment(self, moment: Moment, width: int) -> Iterator[Content]:
        """One thing that happened, marked where it happened in the cursor's column."""
        chart = self._chart
        fresh = moment.at >= min(chart.window.times(chart.column)[0], chart.at)
        style = "$error" if moment.warning else "$foreground" if moment.source is Source.CHANGE else "$muted"
        start = f"{marks.mark('right') if fresh else ' '} {clock(moment.at, fine=True)}  "
        first, *more = wrap(moment.says, max(12, width - len(start)))
        for begin, text in ((start, first), *((" " * len(start), text) for text in more)):
            yield Content.from_markup(f"[{'bold ' if fresh else ''}{style}]$text[/]", text=_plain(begin + text))

    # -- what keys do ---------------------------------------------------------------------------------

    def action_move(self, columns: int) -> None:
        """The cursor to another column."""
        self._chart.move(columns)

    def action_next_change(self) -> None:
        """To what happened next in this row."""
        self._chart.jump(1)

    def action_previous_change(self) -> None:
        """To what happened before in this row."""
        self._chart.jump(-1)

    def action_closer(self) -> None:
        """Half the time in the same width."""
        self._chart.zoom(-1)

    def action_farther(self) -> None:
        """Twice the time in the same width."""
        self._chart.zoom(1)

    def action_everything(self) -> None:
        """From the first moment until now."""
        self._chart.show_everything()

    def action_follow(self) -> None:
        """To the end, and along with it."""
        self._chart.follow()

    def action_start(self) -> None:
        """To the first moment."""
        if self.shown is not None:
            self._chart.go_to(self.shown.start)

    def action_row(self, by: int) -> None:
        """To another row."""
        self._chart.go_down(by)

    def action_board(self) -> None:
        """The cluster as it is now."""
        self.learner.open_board(self.lab_id)

    def action_back(self) -> None:
        """Where one came from."""
        if len(self.app.screen_stack) > 1:
            self.dismiss()

    async def action_export(self) -> None:
        """What is shown, as a picture and as text, into the work folder."""
        if self.shown is None or self._folder is None:
            return
        window, title = self._chart.window, f"{self.lab_id}  {self._lab_title}"
        picture = render_svg(self.shown, title=title, window=window)
        text = render_text(self.shown, title=title, width=100, window=window, events=True)
        name = self._folder / f"timeline-{stamp()}"
        try:
            await asyncio.to_thread(_write, name, {".svg": picture, ".txt": text})
        except Problem as problem:
            self.notify(problem.message, severity="error", markup=False)
            return
        self.notify(_("written to {path}").format(path=f"{name}.svg, .txt"), markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No key for what can't be written."""
        del parameters
        return self._folder is not None if action == "export" else True


def _plain(text: str) -> str:
    return text.translate(ASCII_TWINS) if marks.is_ascii() else text


def _write(name: Path, texts: dict[str, str]) -> None:
    for suffix, text in texts.items():
        path = Path(f"{name}{suffix}")
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise EnvironmentProblem(
                _("can't write {path}: {why}").format(path=path, why=error.strerror or error)
            ) from error
