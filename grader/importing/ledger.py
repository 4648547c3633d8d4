"""What became of each thing of a source: converted, approximated or not mapped, with its place and the reason.

Owns the entries and their order; knows nothing of formats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """converted: it means here what it meant there · approximated: nearly so · unmapped: nothing came of it."""

    CONVERTED = "converted"
    APPROXIMATED = "approximated"
    UNMAPPED = "unmapped"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line, from 1, of a file of the source, by its path from the source's root; 0 for the file as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def down(self, lines: int) -> Place:
        """So many lines below."""
        return Place(self.file, self.line + lines)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing: where it stood, what it was, and what became of it. `into`: the file of the lab that has it now."""

    place: Place
    what: str
    outcome: Outcome
    into: str = ""
    reason: str = ""


@dataclass(slots=True)
class Ledger:
    """The entries of one lab. The same thing of one place is told once."""

    entries: list[Entry] = field(default_factory=list)

    def converted(self, place: Place, what: str, into: str) -> None:
        """It is all there."""
        self._add(Entry(place, what, Outcome.CONVERTED, into))

    def approximated(self, place: Place, what: str, into: str, reason: str) -> None:
        """It is there in another way, and `reason` says in which."""
        self._add(Entry(place, what, Outcome.APPROXIMATED, into, reason))

    def unmapped(self, place: Place, what: str, reason: str) -> None:
        """It is not there."""
        self._add(Entry(place, what, Outcome.UNMAPPED, "", reason))

    def count(self, outcome: Outcome) -> int:
        """How many became that."""
        return sum(entry.outcome is outcome for entry in self.entries)

    def sorted(self) -> list[Entry]:
        """By file and line, in the order of the telling within one line."""
        return sorted(self.entries, key=lambda entry: entry.place)

    def _add(self, entry: Entry) -> None:
        if entry not in self.entries:
            self.entries.append(entry)
