"""A report as a person reads it: text for a terminal, markdown for a page.

Owns the layout of both and the place between two comments of a page that `--write` fills.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from typing import TYPE_CHECKING

from tests.bench.figures import COMPONENTS, Figure, Report, Spread, spread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.bench.comparison import Comparison

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
_HEAD = ["what", "unit", "target", "min", "median", "max", "runs"]
_COMPARED_TITLE = "beside the kept run"
_COMPONENT_TITLE = "components (medians)"


def text(report: Report, then: Comparison | None = None) -> str:
    """For a terminal. `then`: the kept run beside it."""
    blocks = []
    for title, rows in _tables(report, then):
        lines = _aligned(rows)
        blocks.append("\n".join([title, *(f"  {line}" for line in lines)]))
    if rows := _ratio_rows(report, then):
        rows = [[title, now, *(f"then {kept}" for kept in more if kept)] for title, now, *more in rows]
        blocks.append("\n".join(["ratios of medians", *(f"  {line}" for line in _aligned(rows))]))
    for title, route in _routes(report):
        legs = _aligned([[task, f"{seconds} s"] for task, seconds in route])
        blocks.append("\n".join([title, *(f"  {line}" for line in legs)]))
    blocks.append("\n".join(["machine", f"  {machine_line(report)}"]))
    if then is not None:
        blocks.append("\n".join([_COMPARED_TITLE, *(f"  {line}" for line in _compared(then))]))
    if report.notes:
        blocks.append("\n".join(["notes", *(f"  {note}" for note in report.notes)]))
    return "\n\n".join(blocks) + "\n"


def markdown(report: Report, then: Comparison | None = None) -> str:
    """For a page."""
    blocks = [f"Machine: {machine_line(report)}"]
    for title, rows in _tables(report, then):
        blocks.append("\n".join([f"**{title}**", "", *_pipes(rows)]))
    if rows := _ratio_rows(report, then):
        head = ["ratio of medians", "now", *(["then"] if then else [])]
        blocks.append("\n".join(_pipes([head, *rows])))
    for title, route in _routes(report):
        blocks.append("\n".join([f"**{title}**", "", *_pipes([["task", "seconds"], *route])]))
    if then is not None:
        blocks.append("\n".join([f"**{_COMPARED_TITLE}**", "", *(f"- {line}" for line in _compared(then))]))
    if report.notes:
        blocks.append("\n".join(f"- {note}" for note in report.notes))
    return "\n\n".join(blocks) + "\n"


def parts_of(page: Path) -> tuple[str, str]:
    """What stands before and after the two comments of `page`; ValueError if they aren't there."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no {BEGIN} with {END} after it")
    return before, after


def write_between(page: Path, content: str) -> None:
    """Put `content` in the place of what is between the two comments of `page`."""
    before, after = parts_of(page)
    temporary = page.with_name(f".{page.name}.{os.getpid()}")
    temporary.write_text(f"{before}{BEGIN}\n\n{content.strip()}\n\n{END}{after}", encoding="utf-8")
    temporary.replace(page)


def _compared(found: Comparison) -> Iterator[str]:
    """What the two runs say about each other, a sentence each."""
    yield f"then: {machine_line(found.then)}"
    if not found.same_machine:
        yield "measured on another machine: seconds and megabytes can't be compared, only ratios are"
    elif found.busy:
        yield "one of the two was measured on a busy machine: seconds on the clock say little"
    worse = found.worse()
    for one in worse:
        yield f"worse: {one.title}: {_range(one.then, one.unit)}, now {_range(one.now, one.unit)}"
    if not worse:
        yield "nothing got worse by more than the samples of a run lie apart"
    if unsaid := found.unsaid():
        yield f"figures with too few samples to say so: {unsaid}"


def _range(found: Spread, unit: str) -> str:
    low, middle, high = (
        number(value, unit) if unit else f"{value:.2f}" for value in (found.low, found.middle, found.high)
    )
    return f"{middle}{f' {unit}' if unit else ''} ({low} to {high})"


def machine_line(report: Report) -> str:
    """Where it was measured."""
    return "; ".join(f"{key} {value}" for key, value in report.machine.items())


def number(value: float, unit: str) -> str:
    """As many digits as mean something."""
    match unit:
        case "s":
            return f"{value:.3f}" if value < 1 else f"{value:.2f}"
        case "% core":
            return f"{value:.1f}"
    return f"{value:.0f}"


def _tables(report: Report, then: Comparison | None) -> Iterator[tuple[str, list[list[str]]]]:
    parts = dict.fromkeys(figure.part for figure in report.figures.values())
    for part in parts:
        if part != COMPONENTS:
            figures = [figure for figure in report.figures.values() if figure.part == part]
            yield part, [_head(then), *(_row(figure, then) for figure in figures)]
    if COMPONENTS in parts:
        yield _COMPONENT_TITLE, _component_rows(report)


def _component_rows(report: Report) -> list[list[str]]:
    """A row for each component, the largest first, and a column for each thing that was looked at."""
    cells: dict[str, dict[str, tuple[float, str]]] = {}
    columns: dict[str, None] = {}
    for figure in report.figures.values():
        if figure.part == COMPONENTS:
            what = f"{figure.id.removeprefix(f'{figure.title}: ')}, {figure.unit}"
            columns[what] = None
            middle = spread(figure.samples).middle
            cells.setdefault(figure.title, {})[what] = (middle, number(middle, figure.unit))
    order = sorted(cells, key=lambda name: -max(value for value, _text in cells[name].values()))
    empty = (0.0, "")
    return [["", *columns], *([name, *(cells[name].get(what, empty)[1] for what in columns)] for name in order)]


def _head(then: Comparison | None) -> list[str]:
    return [*_HEAD, *(["then", "now ÷ then"] if then and then.same_machine else [])]


def _row(figure: Figure, then: Comparison | None) -> list[str]:
    found = spread(figure.samples)
    target = "" if figure.target is None else f"≤ {figure.target:g}"
    numbers = [number(value, figure.unit) for value in (found.low, found.middle, found.high)]
    row = [figure.title, figure.unit, target, *numbers, str(found.count)]
    if then is None or not then.same_machine:
        return row
    before = then.before(figure)
    if not before:
        return [*row, "", ""]
    return [*row, number(before, figure.unit), f"{found.middle / before:.2f}"]


def _ratio_rows(report: Report, then: Comparison | None) -> list[list[str]]:
    rows = []
    for ratio in report.ratios:
        found = report.quotient(ratio)
        if found is None:
            continue
        row = [ratio.title, f"{found:.2f}"]
        if then is not None:
            before = then.ratio_before(ratio)
            row.append("" if before is None else f"{before:.2f}")
        rows.append(row)
    return rows


def _routes(report: Report) -> Iterator[tuple[str, list[list[str]]]]:
    for route in report.routes:
        yield route.title, [[leg.task, f"{leg.seconds:.2f}"] for leg in route.legs]


def _aligned(rows: list[list[str]]) -> list[str]:
    """First column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def _pipes(rows: list[list[str]]) -> list[str]:
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    head, *body = [f"| {' | '.join(row)} |" for row in escaped]
    rule = "|" + "|".join(["---", *["---:"] * (len(rows[0]) - 1)]) + "|"
    return [head, rule, *body]
