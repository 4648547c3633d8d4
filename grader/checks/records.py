"""`records`: the file's lines are exactly those rendered from the objects of a selector, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, FileName, ObjectRef, Template, Timed, names_problem
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Records(CheckKind, Timed):
    """One line for each object. Blank lines, `#` lines, order and the width of gaps don't matter."""

    name: ClassVar[str] = "records"

    file: FileName
    each: ObjectRef
    line: Template

    @model_validator(mode="after")
    def _known_names(self) -> Records:
        if self.each.name:
            raise ValueError(_("`each` selects by labels: one line for each object"))
        if wrong := names_problem(self.templates(), OBJECT_NAMES):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return bool(self.before) or self.when == "written"

    def kinds(self) -> frozenset[str]:
        return frozenset({self.each.canonical_kind})

    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def references(self) -> tuple[str, ...]:
        return (self.before,) if self.before else ()

    def templates(self) -> tuple[str, ...]:
        return (self.line,)

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
