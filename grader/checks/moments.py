"""The moments a check may take its truth from, and the first of them at which it holds.

Owns what `when` and `before` mean: now; now or when the file was written; just before an incident (any of
them). Knows nothing of what is compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.objects import the_one
from grader.checks.settling import any_moving
from grader.checks.templates import NoValueError
from grader.checks.words import listed
from grader.checks.world import HistoryGap
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from grader.checks.base import ObjectRef, Timed, TimedRef
    from grader.checks.objects import Object
    from grader.checks.world import Gap, World


@dataclass(frozen=True, slots=True)
class Moment:
    """Now (`at` None) or a time (Unix seconds). `gap`: nothing was recorded just then."""

    at: float | None = None
    gap: Gap | None = None

    def select(self, ref: ObjectRef, world: World) -> list[Object]:
        """What a reference means at this moment."""
        return world.select(ref) if self.at is None else world.select_at(ref, self.at)


NOW = Moment()


def moments(time: Timed, ref: ObjectRef, world: World, written: float | None) -> list[Moment]:
    """The moments a time allows; none: what it refers to has not happened. `written`: the file's mtime."""
    if time.before:
        account = world.account_of(time.before)
        latest_first = reversed(account.incidents)
        return [Moment(math.nextafter(incident.start, -math.inf)) for incident in latest_first]
    if time.when == "written" and written is not None:
        gap = next((gap for gap in world.gaps(ref) if gap.start <= written <= gap.end), None)
        return [NOW, Moment(written, gap)]
    return [NOW]


def not_happened(check_id: str, wanted: str, world: World) -> Verdict:
    """The verdict where a check needs what another has not found yet."""
    saw = _("this has not happened yet: {says}").format(says=world.says(check_id))
    account = world.account_of(check_id)
    return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw), moving=account.moving)


@dataclass(frozen=True, slots=True)
class Scene:
    """Named objects at one choice of moments: what templates are rendered with."""

    context: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    """Titles of the objects that were not there."""
    gap: Gap | None = None
    moving: bool = False


def scenes(refs: Mapping[str, TimedRef], world: World, written: float | None) -> Iterator[Scene]:
    """Every choice of moments for the named objects, now first.

    References with the same time share their moment: `before` the same incident for all of them.
    """
    times: dict[tuple[str, str], list[Moment]] = {
        (ref.when, ref.before): moments(ref, ref, world, written) for ref in refs.values()
    }
    for chosen in product(*times.values()):
        at = dict(zip(times, chosen, strict=True))
        yield _scene(refs, world, at)


def _scene(refs: Mapping[str, TimedRef], world: World, at: Mapping[tuple[str, str], Moment]) -> Scene:
    context: dict[str, Any] = {"namespace": world.namespace}
    missing: list[str] = []
    seen: list[Object] = []
    gap = None
    for name, ref in refs.items():
        moment = at[ref.when, ref.before]
        gap = gap or moment.gap
        found = the_one(moment.select(ref, world))
        if found is not None:
            context[name] = found
            seen += [found] if moment.at is None else []
        else:
            missing.append(ref.title(world.namespace))
    return Scene(context, tuple(missing), gap, any_moving(seen, world.now))


def in_any_scene(
    refs: Mapping[str, TimedRef],
    world: World,
    written: float | None,
    wanted: str,
    judge: Callable[[Mapping[str, Any]], Verdict],
) -> Verdict:
    """The verdict of the first choice of moments that passes, else of the first of all (now, where allowed).

    HistoryGap: none passes, and one that might have lies in a gap.
    """
    for ref in refs.values():
        if ref.before and not world.account_of(ref.before).incidents:
            return not_happened(ref.before, wanted, world)
    return _first_passing((_judged(scene, wanted, judge), scene.gap) for scene in scenes(refs, world, written))


def at_any_moment(
    time: Timed,
    ref: ObjectRef,
    world: World,
    written: float | None,
    wanted: str,
    judge: Callable[[Moment], Verdict],
) -> Verdict:
    """The same for a check with one reference and no names."""
    if time.before and not world.account_of(time.before).incidents:
        return not_happened(time.before, wanted, world)
    return _first_passing((judge(moment), moment.gap) for moment in moments(time, ref, world, written))


def _first_passing(judged: Iterable[tuple[Verdict, Gap | None]]) -> Verdict:
    failed: Verdict | None = None
    unknown: Gap | None = None
    for verdict, gap in judged:
        if verdict.passed:
            return verdict
        unknown = unknown or gap
        failed = failed or verdict
    if unknown is not None:
        raise HistoryGap(unknown.start, unknown.end)
    assert failed is not None  # there is always a moment: what has not happened was told before
    return failed


def _judged(scene: Scene, wanted: str, judge: Callable[[Mapping[str, Any]], Verdict]) -> Verdict:
    if scene.missing:
        saw = _("no {objects}").format(objects=listed(scene.missing))
        return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=scene.missing))
    try:
        verdict = judge(scene.context)
    except NoValueError as lack:
        saw = _("the cluster does not show it (yet): {detail}").format(detail=lack.detail)
        return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw), moving=scene.moving)
    return replace(verdict, moving=verdict.moving or (scene.moving and not verdict.passed))
