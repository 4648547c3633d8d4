"""What a check read on its way to a verdict, in words: objects, files, entries of the history.

Owns these lines. Objects are called as the check calls them, never by a name it does not know: that may be what a
learner is to find out. Knows nothing of what is right.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.words import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.checks.world import Change

MOST_READ = 12
"""How many things that were read are told; a function of a lab may read hundreds."""
_DIGITS = 12
"""Of a digest: enough to see whether a file is the same."""


class Trace:
    """What one evaluation read, each thing once, in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}

    def objects(self, what: str, versions: Sequence[str], at: float | None) -> None:
        """Objects of a reference, with their resourceVersions; `at`: as they were then, by history."""
        when = _("now") if at is None else _("as of {time}").format(time=clock(at))
        if not versions:
            self._add(_("{what}: none, {when}").format(what=what, when=when))
            return
        newest = max(versions, key=lambda version: (len(version), version))
        line = _("{what}: {count}, {when}, resourceVersion {version}")
        if len(versions) > 1:
            line = _("{what}: {count}, {when}, newest resourceVersion {version}")
        self._add(line.format(what=what, count=len(versions), when=when, version=newest))

    def history(self, what: str, changes: Sequence[Change]) -> None:
        """Recorded changes of what a reference means."""
        if not changes:
            self._add(_("history of {what}: nothing was recorded").format(what=what))
            return
        line = _("history of {what}: {count} changes, entries {first} to {last}, {start} to {end}")
        first, last = changes[0], changes[-1]
        self._add(
            line.format(
                what=what,
                count=len(changes),
                first=first.seq,
                last=last.seq,
                start=clock(first.at),
                end=clock(last.at),
            )
        )

    def file(self, name: str, data: bytes, mtime: float) -> None:
        """A learner's file."""
        digest = hashlib.sha256(data).hexdigest()[:_DIGITS]
        line = _("{file}: {size} bytes, written {time}, sha256 {digest}…")
        self._add(line.format(file=name, size=len(data), time=clock(mtime), digest=digest))

    def more(self, lines: Sequence[str]) -> None:
        """What was read for this, but earlier in the same look."""
        self._lines |= dict.fromkeys(lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """Everything, in words."""
        return tuple(self._lines)

    def _add(self, line: str) -> None:
        self._lines.setdefault(line)


def some_of(lines: Sequence[str]) -> tuple[str, ...]:
    """The first of many lines, and how many more there are."""
    if len(lines) <= MOST_READ:
        return tuple(lines)
    return (*lines[: MOST_READ - 1], _("and {count} more").format(count=len(lines) - MOST_READ + 1))
