"""Following a history as it grows: what was recorded since the last look.

Owns the position in the file and the recognition of another file in its place (each start and each reset begins
one); changes nothing. Knows nothing of what the changes are for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cluster.errors import EnvironmentProblem
from grader.history.reader import HistoryReader

if TYPE_CHECKING:
    from pathlib import Path

    from grader.history.model import Change, Gap


@dataclass(frozen=True, slots=True)
class News:
    """What is new."""

    changes: tuple[Change, ...]
    """In the order they came."""
    gaps: tuple[Gap, ...]
    """Every gap of the first of the kinds, old and new."""
    until: float
    """Unix seconds: the latest time that is known to be recorded."""
    anew: bool
    """Whether this is the beginning of a history: forget what came before."""


class HistoryTail:
    """The changes of `kinds` in the history at `path`, which may not be there yet, or be replaced by another.

    With `whole` the first look has all there ever was, else only the last change of each object that still stands.
    Any thread may use it, one at a time; each has to close it.
    """

    def __init__(self, path: Path, kinds: tuple[str, ...], *, whole: bool = True) -> None:
        self._path, self._kinds, self._whole = path, kinds, whole
        self._reader: HistoryReader | None = None
        self._file: tuple[int, int] | None = None
        self._seq = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def look(self) -> News:
        """What came since the last look. EnvironmentProblem: there is no history, or it can't be read just now."""
        try:
            found = self._path.stat()
        except OSError:
            found = None
        file = None if found is None else (found.st_dev, found.st_ino)
        anew = self._reader is None or file != self._file
        if anew:
            self.close()
            self._reader = HistoryReader(self._path)
            self._file, self._seq = file, 0
        assert self._reader is not None
        try:
            if anew and not self._whole:
                self._seq = (
                    self._reader.last_seq()
                )  # before, so that what comes meanwhile is told once more, not missed
                changes = self._reader.standing(self._kinds)
            else:
                changes = self._reader.newer(self._seq, self._kinds)
            news = News(tuple(changes), tuple(self._reader.gaps(self._kinds[0])), self._reader.recorded_until(), anew)
        except EnvironmentProblem:
            self.close()  # what was half read is read again
            raise
        self._seq = max([self._seq, *(change.seq for change in changes[-1:])])
        return news

    def close(self) -> None:
        """Let go of the file; the next look begins anew."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
