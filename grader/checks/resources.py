"""`resources`: the objects of a selector: how many, what all, some or none match, how they are spread."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, ObjectRef, WithRefs
from grader.checks.fields import Model, Number, Partial, Path, names_problem, strings_of
from grader.checks.instead import instead
from grader.checks.matching import differences, explained, matches
from grader.checks.moments import in_any_scene
from grader.checks.objects import ABSENT, Object, dig, meta, parse_path, terminating, title
from grader.checks.settling import any_moving, goes_on
from grader.checks.templates import OBJECT_NAMES
from grader.checks.words import listed, shown
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.world import World


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

    def wrong(self, objects: list[Object]) -> Finding | None:
        """Which group is not where it should be."""
        places: dict[str, list[str]] = {}
        for obj in objects:
            group, place = dig(obj, parse_path(self.group_by)), dig(obj, parse_path(self.over))
            if group is ABSENT or place is ABSENT:
                missing = self.group_by if group is ABSENT else self.over
                saw = _("it has no {path}").format(path=missing)
                return Finding(wanted=self._wanted(), saw=saw, where=(title(obj),))
            places.setdefault(str(group), []).append(str(place))
        for group, found in sorted(places.items()):
            distinct = sorted(set(found))
            if len(distinct) != (1 if self.each == "same" else len(found)):
                return Finding(wanted=self._wanted(), saw=self._seen(group, distinct))
        return self._wrong_between(places) if self.groups != "any" else None

    def _wrong_between(self, places: dict[str, list[str]]) -> Finding | None:
        groups = sorted(places)
        for index, one in enumerate(groups):
            for other in groups[index + 1 :]:
                here, there = set(places[one]), set(places[other])
                if (here != there) if self.groups == "same" else (here & there):
                    saw = f"{self._seen(one, sorted(here))}; {self._seen(other, sorted(there))}"
                    return Finding(wanted=self._wanted(), saw=saw)
        return None

    def _wanted(self) -> str:
        inside = {
            "same": _("each group with one {path}"),
            "different": _("within a group each with its own {path}"),
        }[self.each]
        between = {
            "any": "",
            "same": _(", all groups the same"),
            "different": _(", no two groups the same"),
        }[self.groups]
        return inside.format(path=self.over) + between

    def _seen(self, group: str, places: list[str]) -> str:
        return _("group {group}: {places}").format(group=group, places=listed(places))


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
        return self.ref_past

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | {self.of.canonical_kind}

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return tuple(text for partial in (self.every, self.some, self.none) for text in strings_of(partial))

    def evaluate(self, world: World) -> Verdict:
        wanted = self.of.title(world.namespace)
        return in_any_scene(self.refs, world, None, wanted, partial(self._judge, world))

    def _judge(self, world: World, context: Mapping[str, Any]) -> Verdict:
        found = world.select(self.of)
        standing = [obj for obj in found if not terminating(obj)]
        most = self._count().max
        # Where none are right, one that is still being deleted is one too many.
        objects = found if most == 0 else standing
        finding = self._wrong(objects, context, world)
        evidence = tuple(map(title, found))
        if finding is None:
            return Verdict(passed=True, evidence=evidence)
        moving = any_moving(found, world.now) or self._goes_on(objects, context, world)
        return Verdict(passed=False, finding=finding, moving=moving, evidence=evidence)

    def _goes_on(self, objects: list[Object], context: Mapping[str, Any], world: World) -> bool:
        """Whether one of them is a run on its way to what all should be."""
        if not self.every:
            return False
        every = ((obj, differences(self.every, obj, {**obj, **context})) for obj in objects)
        return any(unlike and goes_on(obj, unlike, world) for obj, unlike in every)

    def _count(self) -> Count:
        """What number is right; unless the check says otherwise, at least one."""
        if isinstance(self.count, int):
            return Count(min=self.count, max=self.count)
        return self.count or Count(min=1)

    def _wrong(self, objects: list[Object], context: Mapping[str, Any], world: World) -> Finding | None:
        """The first rule that does not hold."""
        unlike = (
            self._wrong_count(objects, world)
            or self._wrong_match(objects, context)
            or self._wrong_same(objects)
            or self._wrong_spread(objects)
        )
        if unlike is None:
            return None
        where = unlike.where or (self.of.title(world.namespace),)
        return replace(unlike, where=where, look_at=self.of.command(world.namespace))

    def _wrong_count(self, objects: list[Object], world: World) -> Finding | None:
        count = self._count()
        if len(objects) >= count.min and (count.max is None or len(objects) <= count.max):
            return None
        if count.max is None:
            wanted = _("at least {min}").format(min=count.min)
        elif count.min == count.max:
            wanted = str(count.min)
        else:
            wanted = _("{min} to {max}").format(min=count.min, max=count.max)
        saw = str(len(objects))
        if not objects:
            saw += instead(world, self.of)
        else:
            saw += f": {listed(str(meta(obj).get('name', '')) for obj in objects)}"
        return Finding(wanted=wanted, saw=saw)

    def _wrong_match(self, objects: list[Object], context: Mapping[str, Any]) -> Finding | None:
        for obj in objects if self.every else ():
            assert self.every is not None
            if unlike := differences(self.every, obj, {**obj, **context}):
                wanted, saw = explained(unlike)
                return Finding(wanted=_("all: {wanted}").format(wanted=wanted), saw=saw, where=(title(obj),))
        if self.some and objects:
            each = [differences(self.some, obj, {**obj, **context}) for obj in objects]
            if all(each):
                nearest = min(range(len(each)), key=lambda index: len(each[index]))
                wanted, saw = explained(each[nearest])
                where = (title(objects[nearest]),)
                return Finding(wanted=_("at least one: {wanted}").format(wanted=wanted), saw=saw, where=where)
        for obj in objects if self.none else ():
            assert self.none is not None
            if matches(self.none, obj, {**obj, **context}):
                wanted = _("none with {what}").format(what=shown(self.none))
                return Finding(wanted=wanted, saw=_("it has that"), where=(title(obj),))
        return None

    def _wrong_same(self, objects: list[Object]) -> Finding | None:
        for path in self.same:
            values = {title(obj): dig(obj, parse_path(path)) for obj in objects}
            if any(value is ABSENT for value in values.values()):
                lacking = [name for name, value in values.items() if value is ABSENT]
                return Finding(
                    wanted=_("all with the same {path}").format(path=path),
                    saw=_("it has none"),
                    where=tuple(lacking[:3]),
                )
            distinct = list(dict.fromkeys(shown(value) for value in values.values()))
            if len(distinct) > 1:
                return Finding(
                    wanted=_("all with the same {path}").format(path=path),
                    saw=_("{number} different ones: {values}").format(number=len(distinct), values=listed(distinct)),
                )
        return None

    def _wrong_spread(self, objects: list[Object]) -> Finding | None:
        return self.spread.wrong(objects) if self.spread else None
