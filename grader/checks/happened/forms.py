"""What the forms of `happened` have in common: a form finds incidents, or says what it saw instead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import model_validator

from grader.checks.base import ObjectRef
from grader.checks.fields import Model
from grader.checks.world import HistoryGap
from grader.results import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.happened.lives import Life
    from grader.checks.world import Gap, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Something that happened as wanted, from `start` to `end` (Unix seconds, the recorder's clock)."""

    start: float
    end: float
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a form makes of the history: the incidents, or why there is none and whether one is under way."""

    incidents: tuple[Incident, ...] = ()
    """In the order in which they happened."""
    passed: bool = False
    finding: Finding = field(default_factory=Finding)
    moving: bool = False


_RELIST = 2.0
"""Seconds after a gap in which what happened in it is written down."""


def refuse_gaps(gaps: Iterable[Gap], every: Iterable[Life]) -> None:
    """HistoryGap where one of the lives began or ended in a gap: how it came about was not recorded.

    A gap in which nothing began or ended hides nothing: UIDs never come back.
    """
    edges = [edge.at for life in every for edge in (life.born, life.doomed, life.gone) if edge is not None]
    for gap in gaps:
        if any(gap.start <= edge <= gap.end + _RELIST for edge in edges):
            raise HistoryGap(gap.start, gap.end)


class Form(Model, ABC):
    """One form of `happened`."""

    @model_validator(mode="after")
    def _recorded(self) -> Form:
        for name in type(self).model_fields:
            ref = getattr(self, name)
            if isinstance(ref, ObjectRef):
                ref.need_history()
        return self

    @abstractmethod
    def account(self, world: World) -> Account:
        """Read the history. HistoryGap where what decides was not recorded."""

    @abstractmethod
    def kinds(self) -> frozenset[str]:
        """Kinds of objects it looks at."""

    def templates(self) -> tuple[str, ...]:
        """Every Jinja source in it."""
        return ()
