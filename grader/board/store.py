"""The objects there are, kept up by changes.

Owns the latest version of each object; draws no conclusions. One thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from grader.checks.objects import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.board.model import Ref
    from grader.checks.objects import Object
    from grader.history.model import Change

T = TypeVar("T")
MOST_EVENTS = 500
"""The oldest are forgotten first: a board tells what is, the timeline what was."""


class Store:
    """What changes have told so far."""

    def __init__(self) -> None:
        self.version = 0
        """Changes whenever anything did."""
        self._kinds: dict[str, dict[str, Object]] = {}
        self._read: dict[object, dict[str, tuple[Object, Any]]] = {}

    def apply(self, changes: Iterable[Change]) -> None:
        """Take changes in the order they came. Of kinds with one name, only what labs speak of is kept."""
        for change in changes:
            if KINDS.get(change.kind, change.api_version) != change.api_version:
                continue
            self.version += 1
            objects = self._kinds.setdefault(change.kind, {})
            if change.verb == "DELETED":
                objects.pop(change.uid, None)
                continue
            if change.kind == "Event":
                objects.pop(change.uid, None)  # so that the order is that of the last word
                while len(objects) >= MOST_EVENTS:
                    del objects[next(iter(objects))]
            objects[change.uid] = change.object

    def forget(self) -> None:
        """Another cluster begins."""
        self._kinds.clear()
        self.version += 1

    def all(self, kind: str) -> list[Object]:
        """Every object of a kind."""
        return list(self._kinds.get(kind, {}).values())

    def each(self, kind: str, read: Callable[[Object], T]) -> list[T]:
        """What `read` makes of every object of a kind; each version is read once, however often it is asked for."""
        known, objects = self._read.get(read, {}), self._kinds.get(kind, {})
        found: dict[str, tuple[Object, T]] = {}
        for uid, obj in objects.items():
            before = known.get(uid)
            found[uid] = before if before is not None and before[0] is obj else (obj, read(obj))
        self._read[read] = found
        return [made for _obj, made in found.values()]

    def one(self, ref: Ref) -> Object | None:
        """The object of that name; of several (one is being deleted), the one that came last."""
        found = None
        for obj in self._kinds.get(ref.kind, {}).values():
            meta = obj["metadata"]
            if meta.get("name") == ref.name and (meta.get("namespace") or "") == ref.namespace:
                found = obj
        return found
