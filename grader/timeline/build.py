"""From recorded changes to a timeline, change by change: what follows a live cluster never reads anything twice.

Owns how lives, rows and groups come about. What a single version says is `pods`' and `workloads`'; where a pod
belongs is `owners`'.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import meta
from grader.checks.settling import instant
from grader.timeline import pods, workloads
from grader.timeline.model import Group, Life, Moment, Phase, Row, Source, Span, Timeline, Unseen
from grader.timeline.owners import Owner, Place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.objects import Object
    from grader.history.model import Change, Gap
    from grader.timeline.pods import Told

KINDS = ("Pod", "Event", "Workload")
"""What a timeline is made of; of `Workload`, Kueue's."""
_KUEUE = "kueue.x-k8s.io/"
_LATE = 2.0
"""Seconds by which a first sighting may be later than the creation; beyond, the recorder had been away."""
_FEWEST = 10.0
"""Seconds that a timeline shows at least."""


@dataclass(slots=True)
class _Life:
    """A life that may still go on."""

    uid: str
    name: str
    place: Place
    kind: str
    born: float
    last: Object
    gone: float | None = None
    turns: list[tuple[float, Phase]] = field(default_factory=list)
    """When it came into which phase."""
    restarts: list[float] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    def finished(self, said: Iterable[Moment]) -> Life:
        ends = [*(at for at, _phase in self.turns[1:]), self.gone]
        spans = (Span(phase, at, end) for (at, phase), end in zip(self.turns, ends, strict=True))
        return Life(
            uid=self.uid,
            name=self.name,
            born=self.born,
            gone=self.gone,
            spans=tuple(span for span in spans if span.end is None or span.end > span.start),
            restarts=tuple(self.restarts),
            moments=tuple(sorted((*self.moments, *said), key=lambda moment: moment.at)),
            attempt=self.place.attempt,
        )


class TimelineBuilder:
    """Takes changes in the order of their `seq`; `timeline` says how it looks now. Not for two threads at once."""

    def __init__(self, namespace: str = "") -> None:
        """`namespace`: the lab's own."""
        self._namespace = namespace
        self._lives: dict[str, _Life] = {}
        self._said: dict[str, dict[str, Moment]] = {}
        """By the uid of the object it is about, then by the event's own (an event that comes again changes)."""
        self._owners: dict[str, Owner] = {}
        """Uids of owners that pods name, so that what is said about them finds its group."""
        self._first: float | None = None
        self._last = 0.0

    def add(self, changes: Iterable[Change]) -> None:
        """Take what was recorded next."""
        for change in changes:
            if change.kind == "Event":
                self._hear(change)
            elif change.kind == "Pod":
                self._see(change, place_of(change.object), pods.phase_of(change.object))
            elif change.kind == "Workload" and change.api_version.startswith(_KUEUE):
                self._see(change, self._place_of_workload(change.object), workloads.phase_of(change.object))

    def timeline(self, now: float, *, live: bool, gaps: Iterable[Gap] = ()) -> Timeline:
        """Everything so far. `now`: until when the record is complete, Unix seconds; `live`: more may come."""
        end = max(now, self._last)
        first = end if self._first is None else self._first
        unseen = tuple(
            Unseen(max(gap.start, first), gap.end, gap.sentence) for gap in gaps if gap.end > first and gap.end > 0
        )
        return Timeline(
            start=min(first, end - _FEWEST),
            end=end,
            live=live,
            groups=tuple(self._groups()),
            unseen=unseen,
            namespace=self._namespace,
        )

    # -- lives --------------------------------------------------------------------------------------

    def _see(self, change: Change, place: Place, phase: Phase) -> None:
        obj, at = change.object, change.at
        life = self._lives.get(change.uid)
        before = None if life is None else life.last
        if life is None:
            made = instant(meta(obj).get("creationTimestamp"))
            born = at if made is None or at - made < _LATE else made
            life = _Life(change.uid, change.name, place, change.kind, born, obj)
            self._lives[change.uid] = life
            self._name_owners(obj, place.owner)
        self._first = life.born if self._first is None else min(self._first, life.born)
        self._last = max(self._last, at)
        if change.verb == "DELETED":
            if not life.turns:  # all that was ever seen of it is its end
                life.turns.append((life.born, phase))
            life.gone = at
            life.moments.append(Moment(at, Source.CHANGE, _("gone"), warning=False))
            return
        self._tell(life, before, obj, at)
        if not life.turns or life.turns[-1][1] is not phase:
            life.turns.append((at if life.turns else life.born, phase))
        life.last = obj

    def _tell(self, life: _Life, before: Object | None, obj: Object, at: float) -> None:
        told: Iterable[Told] = pods.news(before, obj) if life.kind == "Pod" else workloads.news(before, obj)
        when = life.born if before is None else at
        life.moments += [Moment(when, Source.CHANGE, says, warning=bad) for says, bad in told]
        if life.kind == "Pod" and before is not None and pods.restarts(obj) > pods.restarts(before):
            life.restarts.append(at)

    def _place_of_workload(self, workload: Object) -> Place:
        """With what it is for: the group of a pod it belongs to, else its owner as a whole."""
        refs = meta(workload).get("ownerReferences") or []
        for ref in refs:
            life = self._lives.get(str(ref.get("uid", "")))
            if ref.get("kind") == "Pod" and life is not None:
                return Place(life.place.owner, _("quota"))
        space, name = str(meta(workload).get("namespace") or ""), str(meta(workload).get("name", ""))
        owner = next((ref for ref in refs if ref.get("controller") or ref.get("kind") != "Pod"), None)
        if owner is None:
            return Place(Owner(space, "Workload", name), _("quota"))
        kind, named = str(owner.get("kind", "")), str(owner.get("name", ""))
        if kind == "LeaderWorkerSet":  # one for each group, made before its pods: <kind>-<name>-<group>-<hash>
            part = name.removeprefix(f"{kind.lower()}-{named}-").partition("-")[0]
            return Place(Owner(space, kind, named, part if part.isdecimal() else ""), _("quota"))
        return Place(Owner(space, kind, named), _("quota"))

    def _name_owners(self, obj: Object, owner: Owner) -> None:
        for ref in meta(obj).get("ownerReferences") or []:
            self._owners[str(ref.get("uid", ""))] = owner

    # -- what is said -------------------------------------------------------------------------------

    def _hear(self, change: Change) -> None:
        if change.verb == "DELETED":  # the API forgets events after an hour; what happened did happen
            return
        event = change.object
        about = event.get("involvedObject") or {}
        said = f"{event.get('reason', '')}: {event.get('message', '')}".rstrip(": ")
        moment = Moment(change.at, Source.EVENT, said, warning=event.get("type") == "Warning")
        self._said.setdefault(str(about.get("uid", "")), {})[f"{change.uid}/{change.resource_version}"] = moment
        owner = Owner(str(about.get("namespace") or ""), str(about.get("kind", "")), str(about.get("name", "")))
        self._owners.setdefault(str(about.get("uid", "")), owner)

    # -- groups -------------------------------------------------------------------------------------

    def _groups(self) -> Iterable[Group]:
        rows: dict[Owner, dict[tuple[str, str], list[_Life]]] = {}
        for life in self._lives.values():
            rows.setdefault(life.place.owner, {}).setdefault((life.kind, life.place.label), []).append(life)
        about = self._about_owners()
        first = {owner: min(life.born for each in places.values() for life in each) for owner, places in rows.items()}
        began: dict[Owner, float] = {}
        for owner, at in first.items():
            began[owner.whole] = min(at, began.get(owner.whole, at))
        for owner in sorted(rows, key=lambda each: (began[each.whole], each.whole, _natural(each.part))):
            yield Group(
                kind=owner.kind,
                namespace=owner.namespace,
                name=owner.name,
                part=owner.part_in_words,
                rows=tuple(self._row(*place) for place in sorted(rows[owner].items(), key=_order)),
                moments=tuple(sorted(about.get(owner.whole, []), key=lambda moment: moment.at)),
            )

    def _row(self, place: tuple[str, str], lives: list[_Life]) -> Row:
        kind, label = place
        lives = sorted(lives, key=lambda life: life.born)
        done = tuple(life.finished(self._said.get(life.uid, {}).values()) for life in lives)
        return Row(label=label, kind=kind, lives=done)

    def _about_owners(self) -> dict[Owner, list[Moment]]:
        found: dict[Owner, list[Moment]] = {}
        for uid, said in self._said.items():
            if uid not in self._lives:
                found.setdefault(self._owners[uid].whole, []).extend(said.values())
        return found


def _order(place: tuple[tuple[str, str], list[_Life]]) -> tuple[object, ...]:
    (kind, label), lives = place
    first = min(lives, key=lambda life: life.born)
    return kind == "Pod", first.place.order, first.born, label


def _natural(part: str) -> tuple[int, str]:
    return (int(part), "") if part.isdecimal() else (-1 if not part else 0, part)
