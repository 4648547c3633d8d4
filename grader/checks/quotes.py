"""`quotes`: the file quotes a message the cluster itself gave, white space and case aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, FileName, NamedRef, Template, Timed, names_problem
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict

POD_MESSAGE = "{{ (status.conditions | selectattr('type', 'equalto', 'PodScheduled') | first).message }}"
"""What is quoted of a Pod where a check names no message: why the scheduler could not place it."""


class Quotes(CheckKind, Timed):
    """The whole message is somewhere in the file."""

    name: ClassVar[str] = "quotes"

    file: FileName
    of: NamedRef
    message: Template | None = None

    @model_validator(mode="after")
    def _has_message(self) -> Quotes:
        if self.message is None and self.of.canonical_kind != "Pod":
            raise ValueError(_("say which message: only a Pod's has a default"))
        if wrong := names_problem(self.templates(), OBJECT_NAMES | {"object"}):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return bool(self.before) or self.when == "written"

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def references(self) -> tuple[str, ...]:
        return (self.before,) if self.before else ()

    def templates(self) -> tuple[str, ...]:
        return (self.message or POD_MESSAGE,)

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
