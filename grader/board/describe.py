"""One object in full: what was said about it, then all of it.

Owns that page. Secrets are never recorded, so none can be on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from cluster.i18n import _
from grader.board.build import event_line
from grader.board.model import Level
from grader.checks.objects import titled
from grader.report.layout import clean
from grader.timeline.scale import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.board.model import Ref
    from grader.board.store import Store
    from grader.checks.objects import Object

_NOISE = ("managedFields", "uid", "resourceVersion", "generation", "selfLink")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_ORDER = ("apiVersion", "kind", "metadata", "spec", "status")


def describe(store: Store, ref: Ref) -> str:
    """The page about an object; a sentence where it is gone."""
    obj = store.one(ref)
    if obj is None:
        return _("{object} is gone").format(object=titled(*ref)) + "\n"
    return "\n".join([*_events(store, ref), _yaml(obj)])


def _events(store: Store, ref: Ref) -> Iterator[str]:
    lines = [line for line in map(event_line, store.all("Event")) if line.ref == ref]
    yield _("Events") if lines else _("no events")
    for line in lines:
        mark = "!" if line.level is Level.BAD else " "
        times = f" ×{line.count}" if line.count > 1 else ""
        yield clean(f" {mark} {clock(line.at)}  {line.reason}: {line.message}{times}")
    yield ""


def _yaml(obj: Object) -> str:
    shown: dict[str, Any] = {key: obj[key] for key in _ORDER if key in obj}
    shown |= {key: value for key, value in obj.items() if key not in shown}
    meta = {key: value for key, value in (shown.get("metadata") or {}).items() if key not in _NOISE}
    if notes := {key: value for key, value in (meta.get("annotations") or {}).items() if key != _LAST_APPLIED}:
        meta["annotations"] = notes
    else:
        meta.pop("annotations", None)
    shown["metadata"] = meta
    text = yaml.dump(shown, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=100)
    return clean(text)
