"""One run beside the kept one: what may be compared, and what got worse.

Owns which figures of two runs say anything about each other; knows nothing of how they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.bench.figures import COMPONENTS, Spread, spread

if TYPE_CHECKING:
    from tests.bench.figures import Figure, Ratio, Report

_ENOUGH = 2
"""Samples; one alone does not say how far samples lie apart."""


_IDLE_LOAD = 1.0


@dataclass(frozen=True, slots=True)
class Worse:
    """A figure, or a ratio of two, whose middle is further up than either run's samples lie apart."""

    title: str
    unit: str
    """Empty for a ratio."""
    then: Spread
    now: Spread


@dataclass(frozen=True, slots=True)
class Comparison:
    """`then`: the kept run."""

    now: Report
    then: Report

    @property
    def same_machine(self) -> bool:
        """Whether both were measured with as many cores of the same model: else only ratios compare."""
        return self.now.machine.get("cores") == self.then.machine.get("cores")

    @property
    def busy(self) -> bool:
        """Whether something else ran during either run, which seconds on the clock then are about as well."""
        return any(
            float(run.machine.get("load before", 0)) > _IDLE_LOAD
            or run.machine.get("other machines of ours", "0") != "0"
            for run in (self.now, self.then)
        )

    def before(self, figure: Figure) -> float | None:
        """The median of the same figure then; None where it was not measured, or elsewhere."""
        return self.then.median(figure.id) if self.same_machine else None

    def ratio_before(self, ratio: Ratio) -> float | None:
        """The same ratio then."""
        return self.then.quotient(ratio)

    def worse(self) -> list[Worse]:
        """What got worse by more than its own spread, the worst first. All that is measured is better when smaller."""
        found = [*(self._figures() if self.same_machine else ()), *self._ratios()]
        found = [one for one in found if _is_worse(one)]
        return sorted(found, key=lambda one: -one.now.middle / one.then.middle if one.then.middle else 0.0)

    def unsaid(self) -> int:
        """How many figures of both runs have too few samples for that."""
        return sum(
            min(len(figure.samples), len(self.then.figures[name].samples)) < _ENOUGH
            for name, figure in self.now.figures.items()
            if name in self.then.figures
        )

    def _figures(self) -> list[Worse]:
        return [
            Worse(_title(figure), figure.unit, spread(self.then.figures[name].samples), spread(figure.samples))
            for name, figure in self.now.figures.items()
            if name in self.then.figures and figure.samples and self.then.figures[name].samples
        ]

    def _ratios(self) -> list[Worse]:
        spreads = [
            (ratio.title, _ratio_spread(self.then, ratio), _ratio_spread(self.now, ratio)) for ratio in self.now.ratios
        ]
        return [Worse(title, "", then, now) for title, then, now in spreads if then is not None and now is not None]


def _is_worse(one: Worse) -> bool:
    if min(one.then.count, one.now.count) < _ENOUGH:
        return False
    apart = max(one.then.high - one.then.low, one.now.high - one.now.low)
    return one.now.middle - one.then.middle > apart


def _title(figure: Figure) -> str:
    """Titles such as "of it, the boot" say little alone."""
    return figure.id if figure.part == COMPONENTS else f"{figure.title} [{figure.id}]"


def _ratio_spread(report: Report, ratio: Ratio) -> Spread | None:
    """From the least to the greatest that the samples of its two sides allow."""
    over, under = report.figures.get(ratio.over), report.figures.get(ratio.under)
    if not over or not under or not over.samples or not under.samples or min(under.samples) <= 0:
        return None
    upper, lower = spread(over.samples), spread(under.samples)
    count = min(upper.count, lower.count)
    return Spread(upper.low / lower.high, upper.middle / lower.middle, upper.high / lower.low, count)
