"""The short forms of `happened`: never, created_after, changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from grader.checks.base import Flag, Model, Name, NamedRef, ObjectRef, Partial, names_problem, strings_of
from grader.checks.happened.forms import Account, Form
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World


class Never(Form):
    """No object `of` describes ever existed since the lab started."""

    of: ObjectRef

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def account(self, world: World) -> Account:
        raise NotImplementedError


class ConditionRef(Model):
    """A condition by type and status."""

    type: Name
    status: Literal["True", "False", "Unknown"] = "True"


class CreatedAfter(Form):
    """The first `of` was created only once every `other` had met the condition."""

    of: ObjectRef
    other: ObjectRef
    condition: ConditionRef

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind, self.other.canonical_kind})

    def account(self, world: World) -> Account:
        raise NotImplementedError


class Changed(Form):
    """An object matched `from`, and later, the same object still, matched `to`."""

    of: NamedRef
    old: Partial = Field(alias="from")
    new: Partial = Field(alias="to")
    same_uid: Flag = True

    @model_validator(mode="after")
    def _known_names(self) -> Changed:
        if wrong := names_problem(self.templates(), OBJECT_NAMES):
            raise ValueError(wrong)
        return self

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def templates(self) -> tuple[str, ...]:
        return (*strings_of(self.old), *strings_of(self.new))

    def account(self, world: World) -> Account:
        raise NotImplementedError
