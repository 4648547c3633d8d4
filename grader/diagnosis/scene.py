"""The cluster as a diagnosis reads it: objects by name, by owner, and what is said about them.

Owns look-ups over the lists of one `World`, so that everything is asked for once; draws no conclusions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.checks.objects import CLUSTER_WIDE, KINDS, Object, meta, uid
from grader.checks.settling import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.checks.world import World


class Scene:
    """One look. `history`: whether what was recorded may be read, which costs more than the lists."""

    def __init__(self, world: World, *, history: bool = True) -> None:
        self.world = world
        self.history = history

    def all(self, kind: str, namespace: str | None = None) -> list[Object]:
        """Every object of a known kind in a namespace, or in all."""
        return self.world.all(KINDS[kind], kind, None if kind in CLUSTER_WIDE else namespace)

    def one(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """The object of that name, if there is one."""
        return next((obj for obj in self.all(kind, namespace) if meta(obj).get("name") == name), None)

    def owned(self, kind: str, owner: Object) -> list[Object]:
        """The objects of a kind that `owner` owns, in the order of their names."""
        mine = uid(owner)
        found = [
            obj
            for obj in self.all(kind, namespace_of(owner))
            if any(ref.get("uid") == mine for ref in meta(obj).get("ownerReferences") or [])
        ]
        return sorted(found, key=name_of)

    def jobsets_of(self, obj: Object) -> list[Object]:
        """The JobSets that `obj` owns. Nothing is asked where it is of a kind that makes none."""
        return self.owned("JobSet", obj) if obj.get("kind") == "TrainJob" else []

    def owner(self, obj: Object) -> Object | None:
        """The object that controls this one, where it is of a known kind and still there.

        A group's Workload has no controller: it belongs to the LeaderWorkerSet and to the group's pods alike.
        """
        shared = obj.get("kind") == "Workload"
        for ref in meta(obj).get("ownerReferences") or []:
            kind = str(ref.get("kind", ""))
            if KINDS.get(kind) == ref.get("apiVersion") and (ref.get("controller") or (shared and kind != "Pod")):
                found = self.one(kind, str(ref.get("name", "")), namespace_of(obj))
                if found is not None and uid(found) == ref.get("uid"):
                    return found
        return None

    def owners(self, obj: Object) -> Iterator[Object]:
        """The owner, its owner, and so on to the top."""
        seen = {uid(obj)}
        while (found := self.owner(obj)) is not None and uid(found) not in seen:
            seen.add(uid(found))
            yield found
            obj = found

    def warnings(self, obj: Object) -> list[Object]:
        """Warning events about an object, the latest last."""
        found = [
            event
            for event in self.all("Event", namespace_of(obj))
            if event.get("type") == "Warning" and (event.get("involvedObject") or {}).get("uid") == uid(obj)
        ]
        return sorted(found, key=said_at)

    @property
    def now(self) -> float:
        """The time of this look, Unix seconds."""
        return self.world.now.timestamp()


def name_of(obj: Object) -> str:
    """metadata.name."""
    return str(meta(obj).get("name", ""))


def namespace_of(obj: Object) -> str:
    """metadata.namespace; "" for what has none."""
    return str(meta(obj).get("namespace") or "")


def spec(obj: Object) -> dict[str, Any]:
    """spec, empty where there is none."""
    found = obj.get("spec")
    return found if isinstance(found, dict) else {}


def status(obj: Object) -> dict[str, Any]:
    """status, empty where there is none."""
    found = obj.get("status")
    return found if isinstance(found, dict) else {}


def said_at(event: Object) -> float:
    """When an event was last seen, Unix seconds; 0 where it does not say."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return max((at for text in times if (at := instant(text)) is not None), default=0.0)


def command(obj: Object, *words: str) -> str:
    """The kubectl command that shows an object: `get … -o yaml`, or as `words` say."""
    place = namespace_of(obj)
    what = [str(obj.get("kind", "")).lower(), name_of(obj)]
    verb, *rest = words or ("get", "-o", "yaml")
    return " ".join(["kubectl", *(["-n", place] if place else []), verb, *what, *rest])


def is_true(found: dict[str, Any] | None) -> bool:
    """Whether a condition is there and True."""
    return found is not None and found.get("status") == "True"


def live(pods: Iterable[Object]) -> list[Object]:
    """The pods that have not ended."""
    return [pod for pod in pods if status(pod).get("phase") not in ("Succeeded", "Failed")]
