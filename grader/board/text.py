"""The board for a terminal: its tables one below the other.

Owns that layout; what stands in the tables is `panes`'.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.cells import cell_len

from cluster.i18n import _
from grader.board.columns import GAP, widths
from grader.board.feed import Trust
from grader.board.model import Level
from grader.board.panes import EVENTS, FANCY, MUTED, PANES, PLAIN, QUEUES, chosen, rows
from grader.report.layout import ASCII_TWINS, BOLD, DIM, GREEN, RED, WIDTH, YELLOW, cut, pad, paint, spread
from grader.timeline.scale import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.board.feed import Look
    from grader.board.panes import Cell, Pane, Row

STYLES: dict[object, str] = {
    Level.OK: GREEN,
    Level.MOVING: "36",
    Level.WAITING: YELLOW,
    Level.BAD: RED,
    MUTED: DIM,
    "bar": "34",
}
FEW_EVENTS = 8


def render_board(
    look: Look,
    *,
    title: str,
    width: int = WIDTH,
    now: float | None = None,
    colour: bool = False,
    ascii_only: bool = False,
    words: str = "",
    faults: bool = False,
) -> str:
    """The board in lines of at most `width` cells, ended by a new line.

    `now`: Unix seconds, for ages. `words` and `faults` choose rows, as on the screen.
    """
    at = time.time() if now is None else now
    lines = [*_head(look, title, at, width, colour=colour)]
    for pane in PANES:
        found = rows(pane, look.board, at, PLAIN if ascii_only else FANCY)
        if pane is QUEUES and not found:
            continue  # a lab without Kueue has no queues
        kept = chosen(found, words, faults=faults)
        lines += ["", *_table(pane, kept[:FEW_EVENTS] if pane is EVENTS else kept, width, colour=colour)]
    text = "\n".join(lines) + "\n"
    return text.translate(ASCII_TWINS) if ascii_only else text


def _head(look: Look, title: str, now: float, width: int, *, colour: bool) -> Iterator[str]:
    live = look.trust is Trust.LIVE
    right = f"{look.says} · {clock(now)}" if live else look.says
    if cell_len(title) + cell_len(right) + 2 <= width:
        yield paint(spread(title, right, width), BOLD if live else f"{BOLD};{RED}", on=colour)
        return
    yield paint(cut(title, width), BOLD, on=colour)
    yield paint(cut(right, width), BOLD if live else f"{BOLD};{RED}", on=colour)


def _table(pane: Pane, found: list[Row], width: int, *, colour: bool) -> Iterator[str]:
    room = widths(pane.columns, width - 1)
    if not found:
        yield paint(_(pane.title), BOLD, on=colour) + "  " + paint(_("nothing"), DIM, on=colour)
        return
    heads = [_(pane.title), *(_(column.title) for column in pane.columns[1:])]
    room[0] += 1  # a table's title stands one cell further out than its rows
    shown = [pad(cut(head, wide), wide) for head, wide in zip(heads, room, strict=True) if wide]
    room[0] -= 1
    yield paint((" " * GAP).join(shown).rstrip(), BOLD, on=colour)
    for row in found:
        line = (" " * GAP).join(
            _cell(cell, wide, colour=colour) for cell, wide in zip(row.cells, room, strict=True) if wide
        )
        yield " " + line.rstrip()


def _cell(cell: Cell, width: int, *, colour: bool) -> str:
    text = cut(cell.text, width)
    gap = " " * (width - cell_len(text))
    return paint(text, STYLES.get(cell.style, ""), on=colour and cell.style in STYLES) + gap
