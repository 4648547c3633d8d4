"""What a screen is told, as data, and the port through which it asks: `Backend`.

Owns these types. Everything a backend does leaves the event loop free; what goes wrong is raised as a `Problem`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from cluster.binaries.progress import BuildEvent
from cluster.machine import BootEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from cluster.errors import Problem
    from cluster.machine import MachineStatus
    from grader.content.model import Article
    from grader.lab.model import Lab
    from grader.report.model import RunReport
    from grader.report.progress_report import Row
    from grader.session.lifecycle import Started

MachineState = Literal["running", "starting", "stopped", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One lab or article of the catalogue, and how far the learner is there."""

    kind: Literal["article", "lab"]
    id: str
    title: str
    minutes: int
    passed: int
    """Steps that passed at some time; 1 for an article that was read."""
    total: int
    """0 where its file can't be read."""
    waits_for: tuple[str, ...] = ()
    """What should be done first and isn't."""
    after: tuple[str, ...] = ()
    """What should be done first, done or not."""
    summary: str = ""
    needs_root: bool = False
    machine: MachineState = "stopped"
    steps: tuple[tuple[str, bool], ...] = ()
    """Title of each step, and whether it passed."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do there."""
        return 0 < self.total <= self.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A course, or what belongs to none."""

    title: str
    summary: str
    entries: tuple[Entry, ...]
    minutes_left: int
    is_course: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Everything there is to do. `notes` are sentences about files that can't be read."""

    shelves: tuple[Shelf, ...]
    next: str = ""
    """The id of what comes next in the first course that is not done."""
    notes: tuple[str, ...] = field(default=())

    def entry(self, entry_id: str) -> Entry | None:
        """The entry of that id."""
        return next((one for shelf in self.shelves for one in shelf.entries if one.id == entry_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at what the learner did: a verdict, or why there can't be one now."""

    report: RunReport | None = None
    problem: Problem | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a lab is now, without asking its cluster."""

    machine: MachineStatus
    hints: Mapping[str, int] = field(default_factory=dict)
    """Step id → how many of its hints were shown."""
    passed: frozenset[str] = frozenset()
    """Ids of the steps that passed at some time."""
    finished: bool = False
    work: Path | None = None
    """The learner's files, where there are any."""
    stamp: tuple[int, ...] = ()
    """Changes when a file of the lab does."""
    free: int | None = None
    """Bytes of disk that are left where its state is; None where nobody knows. Coarse: it changes by MiB."""


OnBoot = Callable[[BootEvent], None]
OnBuild = Callable[[BuildEvent], None]


class Backend(Protocol):
    """What the application asks of the world. Each method may take its time; none blocks the screen."""

    async def catalogue(self) -> Catalogue:
        """What there is, and how far the learner is; in the language in force."""

    async def lab(self, lab_id: str) -> Lab:
        """The lab, in the language in force."""

    async def article(self, article_id: str) -> Article:
        """The article, in the language in force; it is noted as read."""

    async def report(self) -> list[Row]:
        """Each lab with what is remembered of it, as `grader report`."""

    async def standing(self, lab_id: str) -> Standing:
        """How the lab is now."""

    async def start(self, lab: Lab, on_boot: OnBoot, on_build: OnBuild, *, again: bool = False) -> Started:
        """Bring the lab up; `again`: as `grader reset`. Cancelling the task that awaits this ends the start."""

    def watch(self, lab: Lab, *, explain: bool = False) -> AsyncIterator[Look]:
        """A look whenever something changed, at most one a second; ends when everything passed, never fails.
        `explain`: also at what passed for good, to tell how it is now."""

    async def check(self, lab: Lab, step_id: str | None = None) -> Look:
        """Look once, patiently: it counts as an attempt."""

    async def hint(self, lab: Lab, step_id: str) -> int:
        """One more hint of the step; how many are shown then."""

    def shell_command(self, lab_id: str) -> tuple[list[str], dict[str, str]]:
        """What opens a shell in the lab, and the environment it needs: `grader shell`."""

    async def stop(self, lab_id: str) -> bool:
        """End the lab's machine; False where none ran."""

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        """Why the lab can't be started by this user, in lines; empty where it can."""
