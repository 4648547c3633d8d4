"""`happened.rolled`: a rolling update replaced the groups one after the other, the set staying the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from grader.checks.base import NamedRef, ObjectRef, Partial, Path, names_problem, strings_of
from grader.checks.happened.forms import Account, Form
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World


class Rolled(Form):
    """The pods `of` selects, in groups, owned by `owner`; old ones match `from`, new ones `to`."""

    of: ObjectRef
    group_by: Path
    owner: NamedRef
    revision: Path
    old: Partial = Field(alias="from")
    new: Partial = Field(alias="to")

    @model_validator(mode="after")
    def _known_names(self) -> Rolled:
        if wrong := names_problem(self.templates(), OBJECT_NAMES):
            raise ValueError(wrong)
        return self

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind, self.owner.canonical_kind})

    def templates(self) -> tuple[str, ...]:
        return (*strings_of(self.old), *strings_of(self.new))

    def account(self, world: World) -> Account:
        raise NotImplementedError
