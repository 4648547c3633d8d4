"""What checks share that judge one file of the learner by objects, at any moment that these may be taken from.

Owns that reading and the order of it; what the file has to say is its heirs' business (`quotes`, `records`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from grader.checks.base import CheckKind, Timed
from grader.checks.fields import FileName
from grader.checks.moments import at_any_moment
from grader.checks.work import FileTrouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.checks.base import ObjectRef
    from grader.checks.moments import Moment
    from grader.checks.work import LearnerFile
    from grader.checks.world import World
    from grader.results import Verdict

    Judge = Callable[[LearnerFile, str, World, Moment], Verdict]


class TimedFile(CheckKind, Timed):
    """A check of one file, with the time of its objects."""

    file: FileName

    @property
    def uses_history(self) -> bool:
        return self.past

    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def references(self) -> tuple[str, ...]:
        return (self.before,) if self.before else ()

    def judged(self, ref: ObjectRef, world: World, wanted: str, judge: Judge) -> Verdict:
        """The verdict of `judge` on the file at the first moment of `ref` that passes, else on now; what is wrong
        with the file itself is one, too."""
        try:
            file = world.work.read(self.file)
        except FileTrouble as trouble:
            return trouble.verdict(wanted)
        return at_any_moment(self, ref, world, file.mtime, wanted, partial(judge, file, wanted, world))
