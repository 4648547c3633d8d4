"""The well-known cause behind a check that does not pass, in one sentence.

Owns which objects a check is about, and which causes may be told there. A check of a learner's file gets none: what
the cluster says may be the very answer that the file should hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cluster.errors import Problem
from cluster.i18n import _
from grader.checks.base import CheckKind, ObjectRef, TimedRef
from grader.checks.fields import Model
from grader.checks.happened import Happened
from grader.checks.objects import CLUSTER_WIDE, KINDS, Object, title
from grader.checks.python import Python
from grader.checks.resource import Resource
from grader.checks.resources import Resources
from grader.checks.selectors import parse_selector
from grader.diagnosis.chain import case_of
from grader.diagnosis.diagnose import cause_of
from grader.diagnosis.model import Fault
from grader.diagnosis.scene import Scene

if TYPE_CHECKING:
    from grader.checks.base import Check
    from grader.checks.world import World
    from grader.diagnosis.model import Cause
    from grader.results import Finding

_MOST = 4
"""Objects that are looked at for one check."""
_SETS = {
    "jobset.sigs.k8s.io/jobset-name": "JobSet",
    "leaderworkerset.sigs.k8s.io/name": "LeaderWorkerSet",
    "batch.kubernetes.io/job-name": "Job",
    "job-name": "Job",
}
"""Labels of pods that name what made them: where there is no pod, that says why."""
_CONTROLLED = frozenset({"suspend", "nodeName", "nodeSelector", "schedulingGates"})
"""Fields of a spec that say what became of an object."""
_QUEUE_WORDS = ("Workload", "LocalQueue", "ClusterQueue", "Kueue", "kueue.x-k8s.io")


class Explainer:
    """Explains the checks of a run. What was found about an object is kept as long as the look is the same."""

    def __init__(self) -> None:
        self._world: World | None = None
        self._known: dict[tuple[str, bool], Cause | None] = {}

    def __call__(self, check: Check, finding: Finding, world: World) -> str:
        """The cause, or "" where there is none that is well known, or the cluster can't be asked."""
        if self._world is not world:
            self._world, self._known = world, {}
        kind = check.kind
        if (
            finding.plain
            or kind.files()
            or (isinstance(kind, Python) and any(" " not in place for place in finding.where))
        ):
            return ""
        # Only this kind has read the pods' record anyway.
        scene = Scene(world, history=isinstance(kind, Happened) and "Pod" in kind.kinds())
        try:
            for obj in _objects(scene, kind, finding):
                cause = self._cause(scene, obj)
                if cause is not None and _to_the_point(cause, kind, finding):
                    ours = cause.fault is Fault.ENVIRONMENT
                    return _("our fault, not yours: {message}").format(message=cause.says) if ours else cause.says
        except Problem:
            return ""
        return ""

    def _cause(self, scene: Scene, obj: Object) -> Cause | None:
        key = (title(obj), scene.history)
        if key not in self._known:
            self._known[key] = cause_of(scene, case_of(scene, obj))
        return self._known[key]


def _to_the_point(cause: Cause, kind: CheckKind, finding: Finding) -> bool:
    """Whether a cause belongs to the check.

    Something that runs without a queue is wrong only where queues matter; that something waits does not explain that
    it was written otherwise than asked for.
    """
    if finding.saw and cause.says.startswith(finding.saw):
        return False  # it was said already
    if cause.id == "no-queue-label":
        said = " ".join([kind.model_dump_json(by_alias=True), finding.wanted, finding.saw, *finding.where])
        return any(word in said for word in _QUEUE_WORDS)
    return not _only_what_was_written(kind)


def _only_what_was_written(kind: CheckKind) -> bool:
    """Whether a check compares nothing but fields that a learner writes and no controller touches."""
    match kind:
        case Resource():
            return kind.match is not None and _written(kind.match)
        case Resources():
            partials = [each for each in (kind.every, kind.some, kind.none) if each]
            return kind.count is None and bool(partials) and all(map(_written, partials))
    return False


def _written(partial: Mapping[str, Any]) -> bool:
    return "status" not in partial and not _CONTROLLED.intersection(partial.get("spec") or ())


# -- what a check is about ----------------------------------------------------------------------------


def _objects(scene: Scene, kind: CheckKind, finding: Finding) -> list[Object]:
    found: dict[str, Object] = {}
    for obj in _every(scene, kind, finding):
        found.setdefault(title(obj), obj)
        if len(found) == _MOST:
            break
    return list(found.values())


def _every(scene: Scene, kind: CheckKind, finding: Finding) -> Iterator[Object]:
    for place in finding.where:
        if (obj := _titled(scene, place)) is not None:
            yield obj
    for ref in references(kind):
        if not (isinstance(ref, TimedRef) and ref.past):
            yield from scene.world.select(ref)
            yield from _set_of(scene, ref)


def _titled(scene: Scene, place: str) -> Object | None:
    """The object a finding's `where` names, `Pod infer/llm-0`."""
    kind, _space, rest = place.partition(" ")
    namespace, slash, name = rest.partition("/")
    if kind not in KINDS or bool(slash) == (kind in CLUSTER_WIDE) or " " in rest:
        return None
    return scene.one(kind, name if slash else rest, namespace if slash else None)


def _set_of(scene: Scene, ref: ObjectRef) -> Iterator[Object]:
    """What makes the objects that a selector means."""
    for requirement in parse_selector(ref.selector).requirements:
        kind = _SETS.get(requirement.key)
        if kind and requirement.operator == "in":
            for name in sorted(requirement.values):
                if (obj := scene.one(kind, name, ref.place(scene.world.namespace))) is not None:
                    yield obj


def references(part: object) -> Iterator[ObjectRef]:
    """Every reference in a check's kind, at any depth."""
    if isinstance(part, ObjectRef):
        yield part
    elif isinstance(part, Model):
        for name in type(part).model_fields:
            yield from references(getattr(part, name))
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from references(value)
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from references(value)
