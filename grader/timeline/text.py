"""A timeline for a terminal: rows under their owners, an axis, a legend, and what was not seen.

Owns that layout; which character stands where is `bars`'.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len

from cluster.i18n import _
from grader.report.layout import ASCII_TWINS, BOLD, DIM, WIDTH, cut, hanging, one_line, pad, paint, spread, wrap
from grader.timeline.bars import ASCII, UNICODE, Mark, cells
from grader.timeline.model import LETTERS, Phase
from grader.timeline.scale import Window, clock, ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.timeline.bars import Cell, Glyphs
    from grader.timeline.model import Group, Moment, Row, Timeline

COLOURS = {
    Phase.PENDING: "33",
    Phase.CREATING: "36",
    Phase.RUNNING: "32",
    Phase.SUCCEEDED: "34",
    Phase.FAILED: "1;31",
    Phase.TERMINATING: "35",
    Phase.UNKNOWN: "31",
    Phase.QUEUED: "33",
    Phase.RESERVED: "36",
    Phase.ADMITTED: "32",
}
_MARKS = {Mark.RECREATED: "1;7", Mark.RESTARTED: "1;7;31", Mark.UNSEEN: DIM}
_NARROWEST_BARS = 24
_WORDS_FROM = 72
"""Cells of width from which the phase now is written behind each bar."""
_MOST_EVENTS = 500


def render_text(
    timeline: Timeline,
    *,
    title: str,
    width: int = WIDTH,
    window: Window | None = None,
    colour: bool = False,
    ascii_only: bool = False,
    events: bool = False,
) -> str:
    """The timeline in lines of at most `width` cells, ended by a new line.

    `title`: what it is of. `window`: the time to show (its width is set here), everything if None. `events`: with
    every moment in it, oldest first.
    """
    page = _Page(timeline, width, window, colour=colour, ascii_only=ascii_only)
    text = "\n".join(page.lines(title, events)) + "\n"
    return text.translate(ASCII_TWINS) if ascii_only else text


def heading(group: Group, namespace: str) -> str:
    """A group's name: `LeaderWorkerSet llm · group 0`; with its namespace where that is not the lab's."""
    space = f"{group.namespace}/" if group.namespace != namespace else ""
    if not group.kind:
        return _("pods without an owner") + (f" · {group.namespace}" if space else "")
    return f"{group.kind} {space}{group.name}" + (f" · {group.part}" if group.part else "")


def short(kind: str) -> str:
    """A kind as people type it."""
    return {"LeaderWorkerSet": "lws", "": "pods"}.get(kind, kind.lower())


def fate(group: Group) -> str:
    """What became of a group, in a few words; "" where nothing did."""
    said = []
    if len(group.attempts) > 1:
        said.append(_("{count} attempts").format(count=len(group.attempts)))
    elif group.recreations:
        said.append(_("recreated {count}×").format(count=group.recreations))
    if group.restarts:
        said.append(_("containers restarted {count}×").format(count=group.restarts))
    return ", ".join(said)


def word(phase: Phase | None) -> str:
    """A phase in the cluster's own word; what is no more is gone."""
    return _("gone") if phase is None else phase.value


def legend(timeline: Timeline, glyphs: Glyphs) -> list[str]:
    """What the letters and marks mean, as far as they occur."""
    lives = [life for _group, row in timeline.rows for life in row.lives]
    phases = {span.phase for life in lives for span in life.spans}
    found = [f"{LETTERS[phase]}{glyphs.fill[phase]} {phase.value}" for phase in LETTERS if phase in phases]
    if any(row.recreations for _group, row in timeline.rows):
        found.append(f"{glyphs.recreated} {_('another one in its place')}")
    if any(life.restarts for life in lives):
        found.append(f"{glyphs.restarted} {_('a container was started again')}")
    if timeline.unseen:
        found.append(f"{glyphs.unseen} {_('not recorded')}")
    return found


def label_width(timeline: Timeline, width: int) -> int:
    """Cells for the names of rows, of `width` in all."""
    longest = max((cell_len(one_line(row.label)) for _group, row in timeline.rows), default=0)
    return max(6, min(longest, width * 2 // 5))


def everything(timeline: Timeline, width: int) -> Window:
    """The window on all there is, with room behind the last moment where more is to come."""
    span = timeline.end - timeline.start
    return Window(timeline.start, span * (1.03 if timeline.live else 1.0), max(1, width))


def duration(seconds: float) -> str:
    """`5 min 21 s`."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return _("{hours} h {minutes} min").format(hours=hours, minutes=minutes)
    if minutes:
        return _("{minutes} min {seconds} s").format(minutes=minutes, seconds=left)
    return _("{seconds} s").format(seconds=left)


class _Page:
    """One rendering."""

    def __init__(
        self, timeline: Timeline, width: int, window: Window | None, *, colour: bool, ascii_only: bool
    ) -> None:
        self._timeline, self._width, self._colour = timeline, width, colour
        self._glyphs = ASCII if ascii_only else UNICODE
        self._labels = label_width(timeline, width) + 3
        words = max((cell_len(word(row.lives[-1].phase_at(timeline.end))) for _g, row in timeline.rows), default=0)
        self._words = words + 2 if width >= _WORDS_FROM else 0
        bars = max(_NARROWEST_BARS, width - self._labels - self._words)
        self._window = (window or everything(timeline, bars)).resized(bars)

    def lines(self, title: str, events: bool) -> Iterator[str]:
        yield self._head(title)
        if not self._timeline.groups:
            yield ""
            yield " " + _("no pod has been seen yet")
        else:
            yield self._axis()
        for group in self._timeline.groups:
            yield from self._group(group)
        if self._timeline.groups:
            yield ""
            yield from self._legend()
        yield from self._unseen()
        if events:
            yield from self._events()

    def _head(self, title: str) -> str:
        window, timeline = self._window, self._timeline
        end = min(window.end, timeline.end)
        shown = _("{start} to {end}").format(start=clock(window.start), end=clock(end))
        state = _("live") if timeline.live else _("stopped")
        right = f"{shown} · {duration(end - window.start)} · {state}"
        if cell_len(title) + cell_len(right) + 2 > self._width:
            right = shown
        return paint(spread(title, right, self._width), BOLD, on=self._colour)

    def _axis(self) -> str:
        line = " " * self._labels
        for tick in ticks(self._window):
            line = pad(line, self._labels + tick.cell) + tick.label
        return paint(line.rstrip(), DIM, on=self._colour)

    def _group(self, group: Group) -> Iterator[str]:
        yield ""
        name, said = one_line(heading(group, self._timeline.namespace)), fate(group)
        line = " " + paint(cut(name, self._width - 1), BOLD, on=self._colour)
        if said and cell_len(name) + cell_len(said) + 3 > self._width:
            yield line
            line, name = " ", ""
        yield line + ("  " + paint(cut(said, self._width - 3), "1;33", on=self._colour) if said else "")
        for row in group.rows:
            yield self._row(row)

    def _row(self, row: Row) -> str:
        label = pad("  " + cut(one_line(row.label), self._labels - 3), self._labels)
        bar = "".join(self._run(run) for run in _runs(cells(row, self._timeline, self._window, self._glyphs)))
        if not self._words:
            return (label + bar).rstrip()
        phase = row.lives[-1].phase_at(self._timeline.end)
        shown = paint(word(phase), COLOURS[phase] if phase else DIM, on=self._colour)
        return f"{label}{bar}  {shown}"

    def _run(self, run: tuple[str, str]) -> str:
        style, text = run
        return paint(text, style, on=self._colour and bool(style))

    def _legend(self) -> Iterator[str]:
        yield from (" " + line for line in flow(legend(self._timeline, self._glyphs), self._width - 1))

    def _unseen(self) -> Iterator[str]:
        for gap in self._timeline.unseen:
            said = _("not recorded from {start} to {end}: {reason}").format(
                start=clock(gap.start), end=clock(gap.end), reason=gap.says
            )
            yield from hanging("", wrap(said, self._width - 1), 1, 1)

    def _events(self) -> Iterator[str]:
        found = [(moment, name) for name, moments in self._told() for moment in moments if self._shows(moment.at)]
        found.sort(key=lambda each: each[0].at)
        yield ""
        if len(found) > _MOST_EVENTS:
            yield " " + _("{count} earlier ones are left out").format(count=len(found) - _MOST_EVENTS)
            found = found[-_MOST_EVENTS:]
        names = min(max((cell_len(one_line(name)) for _moment, name in found), default=0), self._width // 4)
        column = names + 13
        for moment, name in found:
            start = f"{clock(moment.at)}  {cut(one_line(name), names)}"
            texts = wrap(moment.says, max(20, self._width - column))
            first, *more = hanging(start, texts, 1, column)
            yield first.replace(texts[0], paint(texts[0], COLOURS[Phase.FAILED], on=self._colour and moment.warning), 1)
            yield from more

    def _told(self) -> Iterator[tuple[str, tuple[Moment, ...]]]:
        """Everything that was said, each with whom it is about."""
        for _group, row in self._timeline.rows:
            for life in row.lives:
                yield (life.name if row.kind == "Pod" else f"{short(row.kind)}/{life.name}"), life.moments
        for group in self._wholes():
            yield f"{short(group.kind)}/{group.name}", group.moments

    def _wholes(self) -> Iterable[Group]:
        """One group of each owner: all of them know what was said about it."""
        return {(group.kind, group.namespace, group.name): group for group in self._timeline.groups}.values()

    def _shows(self, at: float) -> bool:
        return self._window.start <= at <= self._window.end


def _runs(found: list[Cell]) -> Iterator[tuple[str, str]]:
    """(style, text) of neighbours that look alike."""
    for style, run in groupby(found, key=_style):
        yield style, "".join(cell.text for cell in run)


def _style(cell: Cell) -> str:
    return _MARKS.get(cell.mark) or (COLOURS[cell.phase] if cell.phase else "")


def flow(items: list[str], width: int) -> Iterator[str]:
    """Items beside one another, on as many lines of `width` cells as it takes; none is broken."""
    line = ""
    for item in items:
        joined = f"{line}   {item}" if line else item
        if line and cell_len(joined) > width:
            yield line
            line = item
        else:
            line = joined
    if line:
        yield line
