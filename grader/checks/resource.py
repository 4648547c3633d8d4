"""`resource`: one object exists and matches a partial object, or is gone (after it was there)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, ObjectRef, WithRefs
from grader.checks.fields import Flag, Partial, names_problem, strings_of
from grader.checks.instead import instead
from grader.checks.matching import differences, explained
from grader.checks.moments import in_any_scene
from grader.checks.objects import terminating
from grader.checks.objects import title as title_of
from grader.checks.settling import goes_on, moving
from grader.checks.templates import OBJECT_NAMES
from grader.checks.words import listed
from grader.checks.world import HistoryGap
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.world import World


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
        if self.absent:
            self.of.need_history()
        if wrong := names_problem(self.templates(), OBJECT_NAMES | self.refs.keys()):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return self.absent or self.ref_past

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | {self.of.canonical_kind}

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return tuple(strings_of(self.match))

    def evaluate(self, world: World) -> Verdict:
        if self.absent:
            return self._gone(world)
        title = self.of.title(world.namespace)
        return in_any_scene(
            self.refs, world, None, _("{object} as asked").format(object=title), partial(self._there, world)
        )

    def _there(self, world: World, context: Mapping[str, Any]) -> Verdict:
        title = self.of.title(world.namespace)
        obj = world.get(self.of)
        if obj is None:
            return self._missing(world)
        if terminating(obj):
            saw = _("it is being deleted")
            return Verdict(passed=False, finding=self._finding(world, title, saw), moving=True)
        unlike = differences(self.match, obj, {**obj, **context}) if self.match else []
        if not unlike:
            return Verdict(passed=True, evidence=(title,))
        wanted, saw = explained(unlike)
        return Verdict(
            passed=False,
            finding=self._finding(world, wanted, saw),
            moving=moving(obj, world.now) or goes_on(obj, unlike, world),
            evidence=(title,),
        )

    def _missing(self, world: World) -> Verdict:
        title = self.of.title(world.namespace)
        saw = _("there is no {object}").format(object=title) + instead(world, self.of)
        return Verdict(passed=False, finding=self._finding(world, title, saw))

    def _gone(self, world: World) -> Verdict:
        title = self.of.title(world.namespace)
        wanted = _("{object} gone, after it was there").format(object=title)
        live = world.select(self.of)
        if live:
            saw = _("still there: {objects}").format(objects=listed(map(title_of, live)))
            finding = self._finding(world, wanted, saw)
            return Verdict(passed=False, finding=finding, moving=all(map(terminating, live)))
        if world.changes(self.of):
            return Verdict(passed=True, evidence=(title,))
        if gaps := world.gaps(self.of):
            raise HistoryGap(gaps[0].start, gaps[-1].end)
        return Verdict(passed=False, finding=self._finding(world, wanted, _("it was never there")))

    def _finding(self, world: World, wanted: str, saw: str) -> Finding:
        place = self.of.title(world.namespace)
        return Finding(wanted=wanted, saw=saw, where=(place,), look_at=self.of.command(world.namespace))
