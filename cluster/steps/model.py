"""What a step is, and what it may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cluster.api import Api
from cluster.machine import MachineConfig


class StepContext(Protocol):
    """What a step may use."""

    @property
    def config(self) -> MachineConfig:
        """The machine that comes up."""

    @property
    def api(self) -> Api:
        """The API, as the supervisor."""

    def run(self, argv: tuple[str, ...], seconds: float) -> None:
        """Run a short program of ours to its end; EnvironmentProblem if it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`work` returns how many objects it applied, None where that is not what it is about. `typed` is what a person
    would type for the same effect (`--dry-run`). `restored`: its whole effect is in the datastore, so that a machine
    whose datastore is a restored one has no need of it. `awaited`: READY waits for it."""

    name: str
    work: Callable[[StepContext], int | None]
    needs: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    restored: bool = False
    awaited: bool = True
