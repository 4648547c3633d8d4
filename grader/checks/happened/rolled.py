"""`happened.rolled`: a rolling update replaced the groups one after the other, the set staying the same.

A group's leader is its first pod; a move is a leader followed by one of the same name and another revision; a
roll is the groups' moves to one revision. The second leader may go only once the first one's successor exists:
LWS counts a worker as ready when it is created, so it does not wait for the first group to run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import NamedRef, ObjectRef
from grader.checks.fields import Partial, Path, names_problem, strings_of
from grader.checks.happened.forms import Account, Form, Incident, refuse_gaps
from grader.checks.happened.lives import Instant, Life, in_groups, instants, lives
from grader.checks.matching import differences, explained, matches
from grader.checks.objects import Object, parse_path
from grader.checks.templates import OBJECT_NAMES
from grader.checks.words import clock, listed, period
from grader.results import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.world import World

_MIXED = 10.0
"""Seconds a group may show old and new pods Running side by side: the garbage collector needs a moment."""

_STILL_ROLLING = 60.0
"""Seconds without any change after which an unfinished roll counts as stuck."""


@dataclass(frozen=True, slots=True)
class Move:
    """How one group went over to another revision."""

    group: str
    old: Life
    """The leader that went."""
    new: Life
    """Its successor."""
    went: Instant
    """When the old leader's deletion began."""
    revision: str
    """The new pods' revision."""
    size: int
    """How many pods the group had before."""


@dataclass(frozen=True, slots=True)
class Roll:
    """The groups' moves to one revision, in the order in which the old leaders went."""

    moves: tuple[Move, ...]
    until: float
    """The `seq` at which the next roll begins; endless for the last one."""

    @property
    def start(self) -> Instant:
        """When the first old leader went."""
        return self.moves[0].went

    @property
    def born(self) -> int:
        """The `seq` from which every group had a new leader."""
        return max(move.new.born.seq for move in self.moves)

    @property
    def revision(self) -> str:
        """What it rolled to."""
        return self.moves[0].revision


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
        every, owners = lives(self.of, world), lives(self.owner, world)
        groups = in_groups(every, parse_path(self.group_by))
        rolls = [roll for roll in self._rolls(groups) if self._fits(roll.moves[0].new.versions[0][1], self.new)]
        accounts = [self._judge(roll, groups, owners, world) for roll in rolls]
        incidents = tuple(incident for account in accounts for incident in account.incidents)
        if incidents:
            return Account(passed=True, incidents=incidents)
        gaps = [*world.gaps(self.of), *world.gaps(self.owner)]
        refuse_gaps(gaps, [*every, *owners])
        return accounts[-1] if accounts else Account(finding=self._not_begun(every, world))

    # -- reading ------------------------------------------------------------------------------------

    def _rolls(self, groups: dict[str, list[Life]]) -> list[Roll]:
        moves = [move for group, found in groups.items() for move in self._moves(group, found)]
        batches: list[list[Move]] = []
        for move in sorted(moves, key=lambda move: move.went.seq):
            here = batches[-1] if batches else []
            again = any(move.group == other.group for other in here)
            if not here or again or here[0].revision != move.revision:
                batches.append([move])
            else:
                here.append(move)
        return [
            Roll(tuple(batch), after[0].went.seq if after else math.inf) for batch, after in pairwise([*batches, []])
        ]

    def _moves(self, group: str, found: list[Life]) -> Iterator[Move]:
        path = parse_path(self.revision)
        leaders = [life for life in found if life.name == found[0].name]
        for old, new in pairwise(leaders):
            went, revision = old.doomed or new.born, new.value(path)
            if revision and revision != old.value(path):
                size = sum(life.stands(went.seq - 1) for life in found)
                yield Move(group, old, new, went, revision, size)

    def _fits(self, pod: Object, wanted: Partial) -> bool:
        return matches(wanted, pod, pod)

    def _done(self, roll: Roll, groups: dict[str, list[Life]]) -> Instant | None:
        """The first instant at which every group is whole, new and Running, before the next roll begins."""
        path = parse_path(self.revision)
        every = [life for found in groups.values() for life in found]
        for when in instants(every):
            if not roll.born <= when.seq < roll.until:
                continue
            standing = [life for life in every if life.stands(when.seq)]
            new = all(
                life.value(path) == roll.revision
                and life.running(when.seq)
                and self._fits(life.version(when.seq), self.new)
                for life in standing
            )
            whole = all(sum(life.stands(when.seq) for life in groups[move.group]) >= move.size for move in roll.moves)
            if new and whole:
                return when
        return None

    # -- judging ------------------------------------------------------------------------------------

    def _judge(self, roll: Roll, groups: dict[str, list[Life]], owners: list[Life], world: World) -> Account:
        done = self._done(roll, groups)
        end = done.at if done else world.now.timestamp()
        span = _("history {period}").format(period=period(roll.start.at, end))
        owner = _owner(roll, done, owners)
        problem = (
            self._remade(owners)
            if owner is None
            else self._never_old(roll, groups, owner) or _at_once(roll) or self._mixed(roll, groups, end)
        )
        if done is not None and not problem:
            went = tuple(move.old.title for move in roll.moves)
            incident = Incident(start=roll.start.at, end=done.at, evidence=(span, *went))
            return Account(passed=True, incidents=(incident,))
        if not problem:
            problem = self._unlike(roll, groups)
        quiet = world.now.timestamp() - max(when.at for found in groups.values() for when in instants(found))
        finding = Finding(
            wanted=self._wanted(world),
            saw=problem or self._unfinished(roll, groups),
            where=(self.owner.title(world.namespace), span),
            look_at=self.of.command(world.namespace),
        )
        return Account(finding=finding, moving=not problem and quiet < _STILL_ROLLING)

    def _never_old(self, roll: Roll, groups: dict[str, list[Life]], owner: Life) -> str:
        """Each group must once have matched `from` under this very set."""
        for move in roll.moves:
            before = [
                life
                for life in groups[move.group]
                if owner.created() <= life.born.at and life.born.seq < move.new.born.seq
            ]
            if not any(self._fits(life.versions[0][1], self.old) for life in before):
                return _("group {group} was not what is to be updated before").format(group=move.group)
        return ""

    def _mixed(self, roll: Roll, groups: dict[str, list[Life]], end: float) -> str:
        """A whole group that ran with pods of two revisions, longer than cleaning up takes."""
        path = parse_path(self.revision)
        for move in roll.moves:
            since: float | None = None
            found = groups[move.group]
            for when in [*instants(found), Instant(2**62, end)]:
                if when.seq < roll.start.seq or when.at > end:
                    continue
                standing = [life for life in found if life.stands(when.seq)]
                running = all(life.running(when.seq) for life in standing) and len(standing) >= move.size
                mixed = running and len({life.value(path) for life in standing}) > 1
                if since is not None and when.at - since > _MIXED:
                    return _("group {group} ran with pods of two revisions from {time} on").format(
                        group=move.group, time=clock(since)
                    )
                since = (when.at if since is None else since) if mixed else None
        return ""

    # -- words --------------------------------------------------------------------------------------

    def _wanted(self, world: World) -> str:
        return _("{set} stays, and its groups are replaced one after the other").format(
            set=self.owner.title(world.namespace)
        )

    def _remade(self, owners: list[Life]) -> str:
        if not owners:
            return _("the set itself was never seen")
        return _("{set} was deleted and made anew at {time}: a rolling update keeps it").format(
            set=owners[-1].title, time=clock(owners[-1].created())
        )

    def _unlike(self, roll: Roll, groups: dict[str, list[Life]]) -> str:
        """A pod that has the new revision and yet not what was asked: waiting does not help."""
        path = parse_path(self.revision)
        for life in (life for found in groups.values() for life in found if life.doomed is None):
            latest = life.versions[-1][1]
            if life.value(path) == roll.revision and (unlike := differences(self.new, latest, latest)):
                return f"{life.title}: {explained(unlike)[1]}"
        return ""

    def _unfinished(self, roll: Roll, groups: dict[str, list[Life]]) -> str:
        """What is not new yet."""
        path = parse_path(self.revision)
        standing = [life for found in groups.values() for life in found if life.doomed is None]
        old = [life.name for life in standing if life.value(path) != roll.revision]
        if old:
            return _("not new yet: {pods}").format(pods=listed(old))
        waiting = [life.name for life in standing if not life.running(life.versions[-1][0].seq)]
        return _("not Running yet: {pods}").format(pods=listed(waiting)) if waiting else _("a pod is missing")

    def _not_begun(self, every: list[Life], world: World) -> Finding:
        where = tuple(life.title for life in every if life.doomed is None)[:3]
        return Finding(
            wanted=self._wanted(world),
            saw=_("no group has been replaced by such pods"),
            where=where or (self.of.title(world.namespace),),
            look_at=self.owner.command(world.namespace),
        )


def _owner(roll: Roll, done: Instant | None, owners: list[Life]) -> Life | None:
    """The set that was there before the pods that went, and still when the last new one ran."""
    oldest = min(move.old.born.at for move in roll.moves)
    for owner in owners:
        outlived = owner.gone is None or (done is not None and owner.gone.at > done.at)
        if owner.created() <= oldest and outlived:
            return owner
    return None


def _at_once(roll: Roll) -> str:
    for first, second in pairwise(roll.moves):
        if second.went.seq < first.new.born.seq:
            return _("group {second} went at {time}, before group {first} had a new leader").format(
                second=second.group, first=first.group, time=clock(second.went.at)
            )
    return ""
