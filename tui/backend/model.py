"""What a screen is told, as data, and the port through which it asks: `Backend`.

Owns these types. Everything a backend does leaves the event loop free; what goes wrong is raised as a `Problem`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.content.model import Article
    from grader.lab.model import Lab

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


class Backend(Protocol):
    """What the application asks of the world. Each method may take its time; none blocks the screen."""

    async def catalogue(self) -> Catalogue:
        """What there is, and how far the learner is; in the language in force."""

    async def lab(self, lab_id: str) -> Lab:
        """The lab, in the language in force."""

    async def article(self, article_id: str) -> Article:
        """The article, in the language in force; it is noted as read."""

    async def stop(self, lab_id: str) -> bool:
        """End the lab's machine; False where none ran."""

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        """Why the lab can't be started by this user, in lines; empty where it can."""
