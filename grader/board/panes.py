"""The five tables of a board: their columns, and the cells of each line.

Owns what stands in which column; how wide a column is on a screen, `columns` decides. Cluster words are shown as they
are, so that a learner finds them again in kubectl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cluster.i18n import _
from grader.board.columns import Column
from grader.board.model import (
    Board,
    EventLine,
    Level,
    Line,
    NodeLine,
    OwnerLine,
    PodLine,
    QueueLine,
    QuotaLine,
    Ref,
    WorkloadLine,
)
from grader.cli.commands import N_
from grader.report.layout import one_line
from grader.timeline.scale import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MUTED = "muted"
_MOST_SLOTS = 16
"""Cells of a bar; a node with more GPUs has several in each."""


class Cell(NamedTuple):
    """What stands in one column; `style` is a level, MUTED or "" for ordinary."""

    text: str
    style: Level | str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    key: str
    """Tells rows apart; stays while the row changes."""
    ref: Ref
    level: Level
    cells: tuple[Cell, ...]
    head: bool = False
    """Others below belong to it, and it is shown where one of them is."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The characters of bars."""

    used: str
    ending: str
    free: str
    closed: str
    """Free, and nobody gets it."""
    over: str
    """Borrowed."""


FANCY = Bars(used="■", ending="▨", free="□", closed="×", over="+")
PLAIN = Bars(used="#", ending="%", free=".", closed="x", over="+")


@dataclass(frozen=True, slots=True)
class Pane:
    """One table."""

    name: str
    title: str
    """Marked; looked up when it is shown."""
    columns: tuple[Column, ...]


NODES = Pane(
    "nodes",
    N_("Nodes"),
    (Column(N_("node"), 8, flex=1), Column(N_("GPUs"), 14, flex=1), Column(N_("pods"), 4), Column(N_("state"), 8)),
)
GROUPS = Pane(
    "groups",
    N_("Groups"),
    (
        Column(N_("group"), 12, flex=2),
        Column(N_("ready"), 6),
        Column(N_("GPUs"), 4, drop=1),
        Column(N_("state"), 10, flex=1),
    ),
)
QUEUES = Pane(
    "queues",
    N_("Queues"),
    (Column(N_("queue"), 12, flex=1), Column(N_("quota"), 18, flex=2), Column(N_("state"), 13)),
)
PODS = Pane(
    "pods",
    N_("Pods"),
    (
        Column(N_("pod"), 14, flex=5),
        Column(N_("ready"), 6, drop=1),
        Column(N_("state"), 13, flex=1),
        Column(N_("restarts"), 8, drop=3),
        Column(N_("node"), 7, flex=1),
        Column(N_("GPUs"), 4, drop=4),
        Column(N_("age"), 4, drop=2),
    ),
)
EVENTS = Pane(
    "events",
    N_("Events"),
    (
        Column(N_("time"), 8),
        Column(N_("about"), 14, flex=1),
        Column(N_("reason"), 12, flex=1, drop=1),
        Column(N_("message"), 20, flex=4),
    ),
)
PANES = (NODES, GROUPS, QUEUES, PODS, EVENTS)


def rows(pane: Pane, board: Board, now: float, bars: Bars = FANCY) -> list[Row]:
    """The rows of a table at the time `now` (Unix seconds), for ages."""
    match pane.name:
        case "nodes":
            return [_node(line, bars) for line in board.nodes]
        case "groups":
            return [_owner(line, board) for line in board.owners]
        case "queues":
            return [_queue(line, board, bars) for line in board.queues]
        case "pods":
            return [_pod(line, board, now) for line in board.pods]
    return [_event(line, board) for line in board.events]


def chosen(found: Sequence[Row], words: str = "", *, faults: bool = False) -> list[Row]:
    """The rows that have all of `words`, and with `faults` only what waits or is bad; heads of what is left stay."""
    wanted = words.casefold().split()
    kept: list[Row] = []
    head: Row | None = None
    for row in found:
        if row.head:
            head = row
        if faults and row.level < Level.WAITING:
            continue
        text = " ".join(cell.text for cell in (*(head.cells if head else ()), *row.cells)).casefold()
        if not all(word in text for word in wanted):
            continue
        if head is not None and head is not row and head not in kept[-200:]:
            kept.append(head)
        kept.append(row)
    return kept


def troubles(found: Iterable[Row]) -> int:
    """How many rows wait or are bad, without heads of those."""
    return sum(row.level >= Level.WAITING and not row.head for row in found)


def age(seconds: float) -> str:
    """`12s`, `3m`, `2h`, `4d`: as kubectl, in one unit."""
    whole = max(0, int(seconds))
    for unit, length in (("s", 60), ("m", 60), ("h", 24)):
        if whole < length:
            return f"{whole}{unit}"
        whole //= length
    return f"{whole}d"


def slots(used: int, total: int, bars: Bars, *, ending: int = 0, over: int = 0, closed: bool = False) -> str:
    """A bar of `total` places: used, of these ending, the rest free, and `over` beyond."""
    whole = max(total + over, 1)
    scale = min(1.0, _MOST_SLOTS / whole)
    full, rest = min(used - over, total), bars.closed if closed else bars.free
    parts = ((bars.used, full - ending), (bars.ending, ending), (rest, total - full), (bars.over, over))
    return "".join(sign * _scaled(count, scale) for sign, count in parts)


def _scaled(count: int, scale: float) -> int:
    return max(1, round(count * scale)) if count > 0 else 0


# -- lines --------------------------------------------------------------------------------------------


def _key(line: Line, more: str = "") -> str:
    return "/".join((*line.ref, more))


def _shade(level: Level) -> Level | str:
    return level if level is not Level.OK else ""


def _node(line: NodeLine, bars: Bars) -> Row:
    bar = slots(line.used, line.gpus, bars, ending=line.ending, closed=line.level is not Level.OK)
    gpus = f"{bar} {line.used}/{line.gpus}" if line.gpus else "-"
    cells = (Cell(line.ref.name), Cell(gpus, "bar"), Cell(str(line.pods)), Cell(line.state, _shade(line.level)))
    return Row(_key(line), line.ref, line.level, cells)


def _owner(line: OwnerLine, board: Board) -> Row:
    space = line.ref.namespace if line.ref.namespace not in ("", board.namespace) else ""
    title = f"  {line.title}" if line.part else f"{space}: {line.title}" if space else line.title
    cells = (
        Cell(one_line(title) if not line.part else f"  {one_line(line.title)}", MUTED if line.part else ""),
        Cell(f"{line.ready}/{line.wanted}" if line.wanted else "-", Level.MOVING if line.ready < line.wanted else ""),
        Cell(str(line.gpus or "")),
        Cell(line.state, line.level),
    )
    return Row(_key(line, line.title), line.ref, line.level, cells, head=not line.part)


def _queue(line: QueueLine | QuotaLine | WorkloadLine, board: Board, bars: Bars) -> Row:
    match line:
        case QueueLine():
            said = _("cohort {name}").format(name=line.cohort) if line.cohort else ""
            counts = _("{admitted} run, {waiting} wait").format(admitted=line.admitted, waiting=line.waiting)
            state = counts if line.level is Level.OK else line.state
            queue_cells = (Cell(line.ref.name), Cell(said, MUTED), Cell(state, _shade(line.level)))
            return Row(_key(line), line.ref, line.level, queue_cells, head=True)
        case QuotaLine():
            name = f"  {line.resource.rpartition('/')[2]} · {line.flavor}"
            bar = slots(line.used, line.nominal, bars, over=line.borrowed) if line.nominal + line.used <= 64 else ""
            quota_cells = (Cell(name, MUTED), Cell(f"{bar} {line.says}".strip(), "bar"), Cell(""))
            return Row(_key(line, f"{line.flavor}/{line.resource}"), line.ref, Level.OK, quota_cells)
    title = f"{line.ref.namespace}: {line.title}" if line.ref.namespace not in ("", board.namespace) else line.title
    wants = _("{count} GPUs").format(count=line.gpus) if line.gpus else ""
    cells = (Cell(f"  {one_line(title)}"), Cell(wants), Cell(line.state, line.level))
    return Row(_key(line), line.ref, line.level, cells)


def _pod(line: PodLine, board: Board, now: float) -> Row:
    over = line.state == "Completed"
    cells = (
        Cell(one_line(board.named(line.ref)), MUTED if over else ""),
        Cell(line.ready),
        Cell(line.state, MUTED if over else line.level),
        Cell(str(line.restarts or ""), Level.WAITING),
        Cell(line.node or "-", "" if line.node else MUTED),
        Cell(str(line.gpus or "")),
        Cell(age(now - line.born) if line.born else "", MUTED),
    )
    return Row(_key(line), line.ref, line.level, cells)


def _event(line: EventLine, board: Board) -> Row:
    space = f"{line.ref.namespace}: " if line.ref.namespace not in ("", board.namespace) else ""
    said = one_line(line.message) + (f" ×{line.count}" if line.count > 1 else "")
    cells = (
        Cell(clock(line.at) if line.at else "", MUTED),
        Cell(one_line(f"{space}{line.about}")),
        Cell(one_line(line.reason), line.level if line.level is Level.BAD else ""),
        Cell(said),
    )
    return Row(line.uid, line.ref, line.level, cells)
