"""What the forms of `happened` have in common: a form finds incidents, or says what it saw instead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.checks.base import Model
from grader.results import Finding

if TYPE_CHECKING:
    from grader.checks.world import World


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
    finding: Finding = field(default_factory=Finding)
    moving: bool = False


class Form(Model, ABC):
    """One form of `happened`."""

    @abstractmethod
    def account(self, world: World) -> Account:
        """Read the history. HistoryGap where what decides was not recorded."""

    @abstractmethod
    def kinds(self) -> frozenset[str]:
        """Kinds of objects it looks at."""

    def templates(self) -> tuple[str, ...]:
        """Every Jinja source in it."""
        return ()
