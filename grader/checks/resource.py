"""`resource`: one object exists and matches a partial object, or is gone (after it was there)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, Flag, ObjectRef, Partial, WithRefs, names_problem, strings_of
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Resource(CheckKind, WithRefs):
    """`of` (by name) with `match`; or with `absent: true`, which needs a sighting in history."""

    name: ClassVar[str] = "resource"

    of: ObjectRef
    match: Partial | None = None
    absent: Flag = False

    @model_validator(mode="after")
    def _one_form(self) -> Resource:
        if self.absent and self.match is not None:
            raise ValueError(_("`match` or `absent: true`, not both"))
        if not self.absent and not self.of.name:
            raise ValueError(_("`of` needs a name; for the objects of a selector there is `resources`"))
        if wrong := names_problem(self.templates(), OBJECT_NAMES | self.refs.keys()):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return self.absent or any(ref.before or ref.when == "written" for ref in self.refs.values())

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | {self.of.canonical_kind}

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return tuple(strings_of(self.match))

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
