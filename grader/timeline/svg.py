"""A timeline as a picture: one SVG file that needs nothing beside it.

Owns the drawing; colours are told apart by people who see few of them, and each bar has its letter and a tooltip.
Lengths are pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from rich.cells import cell_len

from cluster.i18n import _
from grader.report.layout import cut, one_line
from grader.timeline.bars import Mark
from grader.timeline.model import LETTERS, Phase
from grader.timeline.scale import Window, clock, ticks
from grader.timeline.text import duration, everything, fate, heading, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.timeline.model import Group, Life, Row, Span, Timeline

WIDTH = 1000
COLOURS = {
    Phase.PENDING: "#f0d25a",
    Phase.CREATING: "#8cc8ee",
    Phase.RUNNING: "#2f9e78",
    Phase.SUCCEEDED: "#3f78b5",
    Phase.FAILED: "#c8441b",
    Phase.TERMINATING: "#b783a7",
    Phase.UNKNOWN: "#8a8a8a",
    Phase.QUEUED: "#f0d25a",
    Phase.RESERVED: "#8cc8ee",
    Phase.ADMITTED: "#2f9e78",
}
_DARK_LETTERS = frozenset({Phase.PENDING, Phase.CREATING, Phase.QUEUED, Phase.RESERVED, Phase.TERMINATING})
"""Phases on whose colour white can't be read."""
_CELL = 7.3
"""Width of one cell of the small monospaced text."""
_ROW, _GROUP, _HEAD, _MARGIN, _BAR = 22, 32, 64, 16, 14
_MARK = "#1b1b1b"
_STYLE = (
    "text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px;fill:#1b1b1b}"
    ".t{font-size:15px;font-weight:600}.g{font-weight:600}.d{fill:#5c5c5c}.b{fill:#a8320c;font-weight:600}"
    ".l{font-size:10px;text-anchor:middle}.w{fill:#fff}"
)


def render_svg(timeline: Timeline, *, title: str, width: int = WIDTH, window: Window | None = None) -> str:
    """The whole picture. `title`: what it is of; `window`: the time to show, everything if None."""
    return "\n".join(_Picture(timeline, title, width, window).parts()) + "\n"


class _Picture:
    """One drawing."""

    def __init__(self, timeline: Timeline, title: str, width: int, window: Window | None) -> None:
        self._timeline, self._title, self._width = timeline, title, width
        longest = max((cell_len(one_line(row.label)) for _group, row in timeline.rows), default=8)
        self._left = _MARGIN + round(min(longest + 3, 44) * _CELL)
        self._right = width - _MARGIN - round(12 * _CELL)
        self._window = (window or everything(timeline, 1)).resized(max(50, self._right - self._left))

    def parts(self) -> Iterator[str]:
        body = [*self._groups()]
        legend = [*self._legend(self._bottom + 30)]
        height = self._bottom + 44 + 18 * (1 + len(self._timeline.unseen)) + 18 * self._legend_lines
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}" '
            f'viewBox="0 0 {self._width} {height}" role="img" aria-label={quoteattr(one_line(self._title))}>'
        )
        yield f"<style>{_STYLE}</style>"
        yield (
            '<defs><pattern id="unseen" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="2" height="6" fill="#8a8a8a" opacity="0.6"/></pattern></defs>'
        )
        yield f'<rect width="{self._width}" height="{height}" fill="#fff"/>'
        yield from self._head()
        yield from body
        yield from self._unseen()
        yield from legend
        yield "</svg>"

    # -- around the bars ----------------------------------------------------------------------------

    def _head(self) -> Iterator[str]:
        timeline, window = self._timeline, self._window
        end = min(window.end, timeline.end)
        yield _text(_MARGIN, 26, self._title, "t")
        shown = _("{start} to {end}").format(start=clock(window.start), end=clock(end))
        said = f"{shown} · {duration(end - window.start)} · {_('live') if timeline.live else _('stopped')}"
        yield f'<text x="{self._width - _MARGIN}" y="26" class="d" text-anchor="end">{escape(said)}</text>'
        for tick in ticks(window, room=80):
            x = self._left + tick.cell
            yield f'<path d="M{x} {_HEAD - 6}V{self._bottom}" stroke="#e2e2e2"/>'
            yield _text(x, _HEAD - 12, tick.label, "d")

    def _unseen(self) -> Iterator[str]:
        for gap in self._timeline.unseen:
            x, width = self._extent(gap.start, gap.end)
            if width > 0:
                yield (
                    f'<rect x="{x:.1f}" y="{_HEAD}" width="{width:.1f}" height="{self._bottom - _HEAD}" '
                    f'fill="url(#unseen)"><title>{escape(_unseen(gap.start, gap.end, gap.says))}</title></rect>'
                )

    def _legend(self, y: int) -> Iterator[str]:
        lives = [life for _group, row in self._timeline.rows for life in row.lives]
        phases = {span.phase for life in lives for span in life.spans}
        items: list[tuple[Phase | Mark, str]] = [(phase, phase.value) for phase in LETTERS if phase in phases]
        if any(row.recreations for _group, row in self._timeline.rows):
            items.append((Mark.RECREATED, _("another one in its place")))
        if any(life.restarts for life in lives):
            items.append((Mark.RESTARTED, _("a container was started again")))
        x, self._legend_lines = _MARGIN, 0
        for sign, says in items:
            width = round((cell_len(says) + 5) * _CELL)
            if x + width > self._width and x > _MARGIN:
                x, y, self._legend_lines = _MARGIN, y + 18, self._legend_lines + 1
            if isinstance(sign, Phase):
                yield f'<rect x="{x}" y="{y - 11}" width="16" height="{_BAR}" fill="{COLOURS[sign]}"/>'
                yield _letter(sign, x + 8, y - 1)
            else:
                yield f'<path d="{_shape(sign, x + 8, y - 11)}" fill="{_MARK}"/>'
            yield _text(x + 22, y, says, "d")
            x += width
        for number, gap in enumerate(self._timeline.unseen, 1):
            yield _text(_MARGIN, y + 18 * number, _unseen(gap.start, gap.end, gap.says), "b")

    # -- groups, rows, bars -------------------------------------------------------------------------

    @property
    def _bottom(self) -> int:
        groups = self._timeline.groups
        return _HEAD + len(groups) * _GROUP + sum(len(group.rows) for group in groups) * _ROW + 8

    def _groups(self) -> Iterator[str]:
        y = _HEAD
        if not self._timeline.groups:
            yield _text(_MARGIN, y + 20, _("no pod has been seen yet"), "d")
        for group in self._timeline.groups:
            y += _GROUP
            yield from self._group(group, y - 9)
            for row in group.rows:
                yield from self._row(row, y)
                y += _ROW

    def _group(self, group: Group, y: int) -> Iterator[str]:
        name, said = one_line(heading(group, self._timeline.namespace)), fate(group)
        more = f'<tspan class="b" dx="14">{escape(said)}</tspan>' if said else ""
        yield f'<text x="{_MARGIN}" y="{y}" class="g">{escape(name)}{more}</text>'

    def _row(self, row: Row, y: int) -> Iterator[str]:
        label = cut(one_line(row.label), int((self._left - _MARGIN) / _CELL) - 2)
        yield _text(_MARGIN + 14, y + 11, label)
        for life in row.lives:
            for span in life.spans:
                yield from self._bar(life, span, y)
        for at in row.recreations:
            yield from self._mark(Mark.RECREATED, at, y, _("another one in its place"))
        for at in row.restarts:
            yield from self._mark(Mark.RESTARTED, at, y, _("a container was started again"))
        now = word(row.lives[-1].phase_at(self._timeline.end))
        yield _text(self._right + 8, y + 11, cut(now, 12), "d")

    def _bar(self, life: Life, span: Span, y: int) -> Iterator[str]:
        end = self._timeline.end if span.end is None else span.end
        x, width = self._extent(span.start, end)
        if width <= 0:
            return
        said = f"{life.name} ({life.uid[:8]}): {span.phase.value}, {clock(span.start, fine=True)}, "
        said += duration(end - span.start)
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{max(width, 1.5):.1f}" height="{_BAR}" '
            f'fill="{COLOURS[span.phase]}"><title>{escape(said)}</title></rect>'
        )
        if width >= 16:
            yield _letter(span.phase, x + 10, y + 11)

    def _mark(self, mark: Mark, at: float, y: int, says: str) -> Iterator[str]:
        x = self._left + (at - self._window.start) / self._window.per_cell
        if self._left <= x <= self._right:
            tip = f"<title>{escape(f'{clock(at, fine=True)} {says}')}</title>"
            yield f'<path d="{_shape(mark, x, y)}" fill="{_MARK}" stroke="#fff">{tip}</path>'

    def _extent(self, start: float, end: float) -> tuple[float, float]:
        """Where a time begins and how wide it is, as far as it is in the window."""
        window = self._window
        left = self._left + max(0.0, (start - window.start) / window.per_cell)
        right = self._left + min(float(window.width), (end - window.start) / window.per_cell)
        return left, right - left


def _shape(mark: Mark, x: float, y: float) -> str:
    """A diamond over the whole bar, or a triangle that stands on it; `y` is the top of the bar."""
    if mark is Mark.RECREATED:
        return f"M{x:.1f} {y - 3}l6 10l-6 10l-6 -10z"
    return f"M{x:.1f} {y - 5}l6 10h-12z"


def _letter(phase: Phase, x: float, y: float) -> str:
    shade = "l" if phase in _DARK_LETTERS else "l w"
    return f'<text x="{x:.1f}" y="{y}" class="{shade}">{LETTERS[phase]}</text>'


def _unseen(start: float, end: float, says: str) -> str:
    return _("not recorded from {start} to {end}: {reason}").format(start=clock(start), end=clock(end), reason=says)


def _text(x: float, y: float, says: str, style: str = "") -> str:
    named = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{named}>{escape(one_line(says))}</text>'
