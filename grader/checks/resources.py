"""`resources`: the objects of a selector: how many, what all, some or none match, how they are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import (
    CheckKind,
    Model,
    Number,
    ObjectRef,
    Partial,
    Path,
    WithRefs,
    names_problem,
    strings_of,
)
from grader.checks.templates import OBJECT_NAMES

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Count(Model):
    """How many objects are right."""

    min: Number = 0
    max: Number | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Count:
        if self.max is not None and self.max < self.min:
            raise ValueError(_("max is below min"))
        return self


class Spread(Model):
    """Where the groups of objects are: `over` compared inside each group and between groups."""

    group_by: Path
    over: Path
    each: Literal["same", "different"]
    groups: Literal["same", "different", "any"] = "any"


class Resources(CheckKind, WithRefs):
    """What is true of all the objects `of` selects. Objects that are being deleted don't count."""

    name: ClassVar[str] = "resources"

    of: ObjectRef
    count: Number | Count | None = None
    every: Partial | None = Field(default=None, alias="all")
    some: Partial | None = None
    none: Partial | None = None
    same: tuple[Path, ...] = ()
    spread: Spread | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Resources:
        if self.of.name:
            raise ValueError(_("`of` selects by labels here; for one object there is `resource`"))
        asked = (self.count, self.every, self.some, self.none, self.spread)
        if not self.same and all(rule is None for rule in asked):
            raise ValueError(_("say what is wanted: count, all, some, none, same or spread"))
        if wrong := names_problem(self.templates(), OBJECT_NAMES | self.refs.keys()):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return any(ref.before or ref.when == "written" for ref in self.refs.values())

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | {self.of.canonical_kind}

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return tuple(text for partial in (self.every, self.some, self.none) for text in strings_of(partial))

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
