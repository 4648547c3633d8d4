"""What was measured: figures, their samples, and what a run of the benchmarks leaves behind.

Owns `Report` and its JSON form, and the arithmetic on samples. Knows nothing of how anything is measured.
"""

from __future__ import annotations

import json
import os
import statistics
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from cluster.timings import Leg

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = "batchlab/bench/v1"
Unit = Literal["s", "MB", "% core", "sessions"]
COMPONENTS = "components"
"""The part whose figures are one number for each component, and shown as one table."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How samples lie."""

    low: float
    middle: float
    """The median."""
    high: float
    count: int


def spread(samples: list[float]) -> Spread:
    """The spread of at least one sample; ValueError of none."""
    if not samples:
        raise ValueError("no samples")
    return Spread(min(samples), statistics.median(samples), max(samples), len(samples))


@dataclass(slots=True, kw_only=True)
class Figure:
    """One thing that is measured, and every sample of it.

    `unit`: seconds, megabytes (10⁶ bytes), or percent of one core. `target`: what the design wants it to be at
    most, if it says so. A `part` is what `--only` names.
    """

    id: str
    part: str
    title: str
    unit: Unit
    target: float | None = None
    samples: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ratio:
    """One median divided by another of the same run: the machine and its mood cancel out."""

    title: str
    over: str
    under: str


@dataclass(slots=True, kw_only=True)
class Route:
    """Where the time of one start went, from the beginning to the end."""

    title: str
    legs: list[Leg]


@dataclass(slots=True, kw_only=True)
class Report:
    """Everything one run of the benchmarks found."""

    machine: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    ratios: list[Ratio] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be measured, and why."""

    def add(self, figure: Figure, sample: float) -> None:
        """One more sample of `figure`, which is kept as it was first seen; the argument itself stays as it is."""
        self.figures.setdefault(figure.id, replace(figure, samples=[])).samples.append(sample)

    def by_component(self, component: str, what: str, unit: Unit, sample: float) -> None:
        """One more sample of something that every component has."""
        self.add(Figure(id=f"{component}: {what}", part=COMPONENTS, title=component, unit=unit), sample)

    def median(self, figure_id: str) -> float | None:
        """The median of a figure; None if it was not measured."""
        figure = self.figures.get(figure_id)
        return statistics.median(figure.samples) if figure and figure.samples else None

    def quotient(self, ratio: Ratio) -> float | None:
        """What a ratio comes to; None where a side of it was not measured or is 0."""
        over, under = self.median(ratio.over), self.median(ratio.under)
        return None if over is None or not under else over / under


def fit_to_keep(report: Report, hidden: Mapping[str, str]) -> Report:
    """The same run with samples to five digits, and without the machine's paths: `hidden` says what stands for which.

    What is shown, kept and compared is this one, so that a page and its kept run never differ.
    """

    def public(text: str) -> str:
        for path, word in hidden.items():
            text = text.replace(path, word)
        return text

    figures = {
        name: replace(figure, samples=[float(f"{sample:.5g}") for sample in figure.samples])
        for name, figure in report.figures.items()
    }
    return replace(report, figures=figures, notes=[public(note) for note in report.notes])


def save(report: Report, path: Path) -> None:
    """Write `report` for a later `--against`: a line for each figure, so that two runs are compared by diff, too."""
    content = {"schema": SCHEMA, **asdict(report)}
    blocks = [f"{_line(name)}: {_block(content[name])}" for name in content]
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    temporary.replace(path)


def _block(value: Any) -> str:
    match value:
        case dict() if value:
            return "{\n" + ",\n".join(f" {_line(key)}: {_line(each)}" for key, each in value.items()) + "\n}"
        case list() if value:
            return "[\n" + ",\n".join(f" {_line(each)}" for each in value) + "\n]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def load(path: Path) -> Report:
    """The inverse of `save`. ValueError where it is no report of ours, OSError where it can't be read."""
    raw: Any = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        raise ValueError(f"{path} is not of schema {SCHEMA}")
    return Report(
        machine=raw["machine"],
        figures={name: Figure(**figure) for name, figure in raw["figures"].items()},
        ratios=[Ratio(**ratio) for ratio in raw["ratios"]],
        routes=[Route(title=r["title"], legs=[Leg(**leg) for leg in r["legs"]]) for r in raw["routes"]],
        notes=raw["notes"],
    )
