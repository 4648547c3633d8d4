"""`happened.recreated`: a group came back as one because a container of it exited, the others untouched.

What counts is read from UIDs and container states. An incident is: a container of the group ends by itself
while nobody has asked for a pod of the group to go; soon after, the pods of the group start to go; in the end
the group is whole again and Running with new UIDs only; no pod of another group went meanwhile. A pod deleted
by hand, or a set deleted and applied again, begins with a deletion and so never counts.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cluster.i18n import _
from grader.checks.base import ObjectRef
from grader.checks.fields import Name, Path
from grader.checks.happened.forms import Account, Form, Incident, refuse_gaps
from grader.checks.happened.lives import Instant, Life, in_groups, instants, lives
from grader.checks.objects import parse_path
from grader.checks.words import clock, listed, period
from grader.results import Finding

if TYPE_CHECKING:
    from grader.checks.world import World

_REACTION = 60.0
"""Seconds between a container's end and the first deletion that still counts as the answer to it."""

_CONSEQUENCE = 30.0
"""Seconds after a deletion in which the end of a pod that was already there may be its consequence."""

_RETURN = 120.0
"""Seconds a group may take to come back before it counts as not coming."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What followed one end of a container."""

    exited: Life
    exit: Instant
    members: tuple[Life, ...]
    """The pods of the group at that moment."""
    after_deletion: bool
    back: Instant | None
    """When the group was whole, new and Running."""
    touched: tuple[Life, ...]
    """Pods of other groups that went before that."""
    alone: bool
    """No other group was there to be left untouched."""

    @property
    def answered(self) -> bool:
        """Whether the group's pods began to go because of it."""
        dooms = [life.doomed for life in self.members if life.doomed is not None]
        return bool(dooms) and min(doom.at for doom in dooms) - self.exit.at <= _REACTION

    @property
    def remaining(self) -> list[Life]:
        """Members nobody has replaced."""
        return [life for life in self.members if life.doomed is None]

    @property
    def good(self) -> bool:
        """Whether it is an incident as wanted."""
        blameless = not self.after_deletion and not self.touched and not self.alone
        return blameless and self.answered and self.back is not None


class Recreated(Form):
    """The pods `of` selects, in groups; `group` is the one that was recreated."""

    of: ObjectRef
    group_by: Path
    group: Name
    because: Literal["container-exited"] = "container-exited"
    others: Literal["untouched", "any"] = "untouched"

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def account(self, world: World) -> Account:
        every = lives(self.of, world)
        groups = in_groups(every, parse_path(self.group_by))
        mine = groups.get(self.group, [])
        others = [life for group, found in groups.items() if group != self.group for life in found]
        exits = sorted(((when, life) for life in mine for when in life.exits()), key=lambda pair: pair[0].seq)
        points = instants(mine)
        attempts = [self._attempt(life, when, mine, others, points) for when, life in exits]
        good = _distinct([attempt for attempt in attempts if attempt.good])
        if good:
            return Account(passed=True, incidents=tuple(map(_incident, good)))
        refuse_gaps(world.gaps(self.of), every)
        if not attempts:
            return Account(finding=self._no_exit(mine, others, world))
        # The end of a container is recorded again while its group already goes: that echo explains nothing.
        telling = [attempt for attempt in attempts if not attempt.after_deletion] or attempts
        return self._explain(telling[-1], world)

    def _attempt(
        self, exited: Life, exit_at: Instant, mine: list[Life], others: list[Life], points: list[Instant]
    ) -> Attempt:
        members = [life for life in mine if life.stands(exit_at.seq)]
        back = _back(members, mine, points[bisect_right(points, exit_at.seq, key=_seq) :])
        bystanders = [life for life in others if life.stands(exit_at.seq)]
        strict = self.others == "untouched"
        touched = [life for life in bystanders if life.doomed and (back is None or life.doomed.seq <= back.seq)]
        fellows = [life.doomed for life in mine if life.doomed and life.doomed.seq > exited.born.seq]
        left_alone = any(0 <= exit_at.at - doom.at < _CONSEQUENCE for doom in fellows)
        return Attempt(
            exited=exited,
            exit=exit_at,
            members=tuple(members),
            after_deletion=left_alone or any(life.dying(exit_at.seq) for life in mine),
            back=back,
            touched=tuple(touched) if strict else (),
            alone=strict and not bystanders,
        )

    # -- words --------------------------------------------------------------------------------------

    def _wanted(self) -> str:
        wanted = _("a container of group {group} exits, then every pod of the group is new and Running")
        if self.others == "untouched":
            wanted = _(
                "a container of group {group} exits, then every pod of the group is new and Running, "
                "and no pod of another group has changed"
            )
        return wanted.format(group=self.group)

    def _no_exit(self, mine: list[Life], others: list[Life], world: World) -> Finding:
        look_at = self.of.command(world.namespace)
        deleted = [(life.doomed, life) for life in mine if life.doomed is not None]
        if not deleted:
            saw = _("no container of group {group} has exited").format(group=self.group)
            where = tuple(life.title for life in mine if life.gone is None) or (self.of.title(world.namespace),)
            return Finding(wanted=self._wanted(), saw=saw, where=where[:3], look_at=look_at)
        latest = max(doom.at for doom, _life in deleted)
        # The others went because of the first.
        went, first = min(
            (each for each in deleted if latest - each[0].at < _CONSEQUENCE), key=lambda each: each[0].seq
        )
        with_it = [life for life in others if life.doomed and abs(life.doomed.at - went.at) < _REACTION]
        if with_it:
            saw = _("pods of group {group} and of other groups were deleted, no container had exited")
        else:
            saw = _("pods of group {group} were deleted, no container had exited")
        when = _("history {time}").format(time=clock(went.at))
        return Finding(
            wanted=self._wanted(),
            saw=saw.format(group=self.group),
            where=(first.title, when),
            look_at=look_at,
        )

    def _explain(self, attempt: Attempt, world: World) -> Account:
        now = world.now.timestamp()
        moving = False
        if attempt.after_deletion:
            saw = _("a pod of group {group} was already being deleted when {pod} exited").format(
                group=self.group, pod=attempt.exited.name
            )
        elif attempt.alone:
            saw = _("{pod} exited while there was no other group").format(pod=attempt.exited.name)
        elif attempt.touched:
            saw = _("{pod} exited; {others} of another group went as well").format(
                pod=attempt.exited.name, others=listed(life.name for life in attempt.touched)
            )
        elif attempt.remaining:
            moving = now - attempt.exit.at < _REACTION
            same = listed(f"{life.name} ({life.short_uid})" for life in attempt.remaining)
            saw = _("{pod} exited; still the same pod as before: {same}").format(pod=attempt.exited.name, same=same)
        elif attempt.back is None:
            moving = now - attempt.exit.at < _RETURN
            saw = _("{pod} exited; group {group} is not whole and Running again").format(
                pod=attempt.exited.name, group=self.group
            )
        else:
            saw = _("{pod} exited, but the group was replaced only long after").format(pod=attempt.exited.name)
        end = attempt.back.at if attempt.back else now
        where = (
            attempt.exited.title,
            _("history {period}").format(period=period(attempt.exit.at, end)),
        )
        finding = Finding(wanted=self._wanted(), saw=saw, where=where, look_at=self.of.command(world.namespace))
        return Account(finding=finding, moving=moving)


def _seq(when: Instant) -> int:
    return when.seq


def _back(members: list[Life], mine: list[Life], later: list[Instant]) -> Instant | None:
    """The first of the later instants at which the group is as big as it was, all new, all Running."""
    old = {life.uid for life in members}
    for when in later:
        standing = [life for life in mine if life.stands(when.seq)]
        whole = len(standing) >= len(members) and not any(life.uid in old for life in standing)
        if whole and all(life.running(when.seq) for life in standing):
            return when
    return None


def _distinct(attempts: list[Attempt]) -> list[Attempt]:
    """One for each set of replaced pods: a container's end is recorded more than once."""
    by_members: dict[frozenset[str], Attempt] = {}
    for attempt in attempts:
        by_members.setdefault(frozenset(life.uid for life in attempt.members), attempt)
    return list(by_members.values())


def _incident(attempt: Attempt) -> Incident:
    assert attempt.back is not None
    span = _("history {period}").format(period=period(attempt.exit.at, attempt.back.at))
    replaced = _("new: {pods}").format(pods=listed(life.name for life in attempt.members))
    return Incident(start=attempt.exit.at, end=attempt.back.at, evidence=(attempt.exited.title, span, replaced))
