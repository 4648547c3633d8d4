"""The short forms of `happened`: never, created_after, changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import NamedRef, ObjectRef
from grader.checks.fields import Flag, Model, Name, Partial, names_problem, strings_of
from grader.checks.happened.forms import Account, Form, Incident, refuse_gaps
from grader.checks.happened.lives import Instant, Life, lives
from grader.checks.instead import instead
from grader.checks.matching import differences, explained, matches
from grader.checks.objects import Object, condition
from grader.checks.settling import PATIENCE, any_moving, goes_on, moving
from grader.checks.templates import OBJECT_NAMES
from grader.checks.words import clock, listed, period
from grader.checks.world import HistoryGap
from grader.results import Finding

if TYPE_CHECKING:
    from grader.checks.world import World


class Never(Form):
    """No object `of` describes ever existed since the lab started."""

    of: ObjectRef

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def account(self, world: World) -> Account:
        found = lives(self.of, world)
        wanted = _("never any {objects}").format(objects=self.of.title(world.namespace))
        if found:
            first = found[0]
            saw = _("{object} was there at {time}").format(object=first.title, time=clock(first.born.at))
            return Account(finding=Finding(wanted=wanted, saw=saw, where=(first.title,), plain=True))
        if gaps := world.gaps(self.of):
            raise HistoryGap(gaps[0].start, gaps[-1].end)
        return Account(passed=True)


class ConditionRef(Model):
    """A condition by type and status."""

    type: Name
    status: Literal["True", "False", "Unknown"] = "True"


class CreatedAfter(Form):
    """The first `of` was created only once every `other` had met the condition.

    Each time all of `other` are gone a new try begins; one good try is enough. If none was good, the latest counts.
    """

    of: ObjectRef
    other: ObjectRef
    condition: ConditionRef

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind, self.other.canonical_kind})

    def account(self, world: World) -> Account:
        made, waited = lives(self.of, world), lives(self.other, world)
        tries = [self._judge(first, others, world) for first, others in _tries(made, waited)]
        incidents = tuple(incident for account in tries for incident in account.incidents)
        if incidents:
            return Account(passed=True, incidents=incidents)
        refuse_gaps([*world.gaps(self.of), *world.gaps(self.other)], [*made, *waited])
        if begun := _begun(made, waited):
            return self._awaited(begun, world)
        if tries:
            return tries[-1]
        lacking = self.other if not waited else self.of
        saw = _("there has been no {objects} yet").format(objects=lacking.title(world.namespace))
        saw += instead(world, lacking)
        return Account(finding=Finding(wanted=self._wanted(world), saw=saw))

    def _judge(self, first: Life, others: list[Life], world: World) -> Account:
        met = [self._met(life) for life in others]
        before = [when for when in met if when is not None and _precedes(when, first.born, self)]
        if others and len(before) == len(others):
            span = _("history {period}").format(period=period(max(when.at for when in before), first.born.at))
            incident = Incident(start=first.born.at, end=first.born.at, evidence=(first.title, span))
            return Account(passed=True, incidents=(incident,))
        early = [life.name for life, when in zip(others, met, strict=True) if when is None or when not in before]
        saw = _("{object} was created at {time}, before {others} was {condition}").format(
            object=first.title,
            time=clock(first.born.at),
            others=listed(early) or self.other.title(world.namespace),
            condition=f"{self.condition.type}={self.condition.status}",
        )
        return Account(finding=Finding(wanted=self._wanted(world), saw=saw, where=(first.title,)))

    def _awaited(self, others: list[Life], world: World) -> Account:
        """The others of a try are there, and no `of` is yet."""
        missing = _("there is no {objects}").format(objects=self.of.title(world.namespace))
        condition = f"{self.condition.type}={self.condition.status}"
        late = [life for life in others if self._met(life) is None]
        if late:
            saw = _("{missing}, and {others} is not {condition} yet").format(
                missing=missing, others=listed(life.name for life in late), condition=condition
            )
            under_way = any_moving((life.versions[-1][1] for life in late), world.now)
        else:
            last = max(met.at for life in others if (met := self._met(life)) is not None)
            saw = _("{missing}, although {others} has been {condition} since {time}").format(
                missing=missing, others=listed(life.name for life in others), condition=condition, time=clock(last)
            )
            under_way = world.now.timestamp() - last < PATIENCE
        where = tuple(life.title for life in others)[:3]
        return Account(finding=Finding(wanted=self._wanted(world), saw=saw, where=where), moving=under_way)

    def _met(self, life: Life) -> Instant | None:
        for when, obj in life.versions:
            found = condition(obj, self.condition.type)
            if found is not None and found.get("status") == self.condition.status:
                return when
        return None

    def _wanted(self, world: World) -> str:
        return _("{object} created only after {other} was {condition}").format(
            object=self.of.title(world.namespace),
            other=self.other.title(world.namespace),
            condition=f"{self.condition.type}={self.condition.status}",
        )


def _precedes(when: Instant, born: Instant, form: CreatedAfter) -> bool:
    # Each kind has its own watch: between kinds only the clock orders, within one the record does.
    same_kind = form.of.canonical_kind == form.other.canonical_kind
    return when.seq < born.seq if same_kind else when.at <= born.at


def _tries(made: list[Life], waited: list[Life]) -> list[tuple[Life, list[Life]]]:
    """(the first `of`, the `other`s) of each time in which some `other` existed."""
    tries: list[tuple[Life, list[Life]]] = []
    for start, end, others in _spans(waited):
        first = next((life for life in made if start <= life.born.at and (end is None or life.born.at < end)), None)
        if first is not None:
            by_name: dict[str, Life] = {}
            for life in others:
                by_name.setdefault(life.name, life)  # a successor came after the fact
            tries.append((first, list(by_name.values())))
    if made and not waited:
        tries.append((made[0], []))
    return tries


def _begun(made: list[Life], waited: list[Life]) -> list[Life]:
    """The `other`s of the try that goes on and has no `of` so far; none where it is decided already."""
    start, end, others = spans[-1] if (spans := _spans(waited)) else (0.0, 0.0, [])
    if end is not None or any(life.born.at >= start for life in made):
        return []
    return [life for life in others if life.gone is None]


def _spans(waited: list[Life]) -> list[tuple[float, float | None, list[Life]]]:
    """Times in which at least one of the lives lasted: start, end (None: still), lives."""
    spans: list[tuple[float, float | None, list[Life]]] = []
    for life in waited:
        gone = life.gone.at if life.gone else None
        if spans and (spans[-1][1] is None or life.born.at <= spans[-1][1]):
            start, end, others = spans[-1]
            spans[-1] = (start, None if end is None or gone is None else max(end, gone), [*others, life])
        else:
            spans.append((life.born.at, gone, [life]))
    return spans


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
        found = lives(self.of, world)
        chains = [life.versions for life in found]
        if not self.same_uid:
            chains = [[version for chain in chains for version in chain]]
        incidents = [incident for chain in chains for incident in self._changes(chain, world)]
        if incidents:
            return Account(passed=True, incidents=tuple(incidents))
        for gap in world.gaps(self.of):
            if any(gap.start <= when.at <= gap.end + 2 for life in found for when, _obj in life.versions):
                raise HistoryGap(gap.start, gap.end)
        return self._explain(found, world)

    def _changes(self, versions: list[tuple[Instant, Object]], world: World) -> list[Incident]:
        incidents = []
        since: Instant | None = None
        for when, obj in versions:
            if since is not None and matches(self.new, obj, obj):
                span = _("history {period}").format(period=period(since.at, when.at))
                evidence = (self.of.title(world.namespace), span)
                incidents.append(Incident(start=when.at, end=when.at, evidence=evidence))
                since = None
            if matches(self.old, obj, obj):
                since = when
        return incidents

    def _explain(self, found: list[Life], world: World) -> Account:
        title = self.of.title(world.namespace)
        look_at = self.of.command(world.namespace)
        if not found:
            saw = _("there has been no {objects} yet").format(objects=title) + instead(world, self.of)
            return Account(finding=Finding(wanted=title, saw=saw, look_at=look_at))
        latest = found[-1].versions[-1][1]
        was = any(matches(self.old, obj, obj) for life in found for _when, obj in life.versions)
        unlike = differences(self.new if was else self.old, latest, latest)
        wanted, saw = explained(unlike)
        if not was:
            wanted = _("first: {wanted}").format(wanted=wanted)
        elif not unlike:
            saw = _("it is so, but another object than before, or always was")
            wanted = _("the same object changed to that")
        finding = Finding(wanted=wanted, saw=saw, where=(title,), look_at=look_at)
        return Account(finding=finding, moving=moving(latest, world.now) or goes_on(latest, unlike, world))
