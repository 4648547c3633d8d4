"""Pods that may not be made because a ResourceQuota of their namespace is used up.

Owns this cause; read from the events of whoever wanted to make them, and from the quota as it is now.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.matching import quantity
from grader.checks.objects import title
from grader.diagnosis.model import Cause
from grader.diagnosis.quota import ZERO
from grader.diagnosis.room import amount
from grader.diagnosis.scene import Scene, command, namespace_of, status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from grader.checks.objects import Object

_EXCEEDED = re.compile(r"exceeded quota: (?P<quota>[^,]+), requested: (?P<resource>[^=,]+)=(?P<asked>[^,]+)")


def quota_used_up(scene: Scene, objects: Iterable[Object]) -> Cause | None:
    """The ResourceQuota that keeps one of these objects, none of which has all its pods, from making more."""
    for obj in objects:
        refusals = scene.warnings(obj)
        found = _EXCEEDED.search(str(refusals[-1].get("message", ""))) if refusals else None
        quota = scene.one("ResourceQuota", found["quota"], namespace_of(obj)) if found else None
        if found and quota:
            resource = found["resource"]
            hard, used = (_of(quota, key, resource) for key in ("hard", "used"))
            if used + (quantity(found["asked"]) or ZERO) > hard:  # else there is room again
                return _cause(obj, quota, resource, amount(hard, resource), amount(used, resource))
    return None


def _of(quota: Object, key: str, resource: str) -> Decimal:
    return quantity((status(quota).get(key) or {}).get(resource)) or ZERO


def _cause(obj: Object, quota: Object, resource: str, hard: str, used: str) -> Cause:
    says = _(
        "{object} may make no more pods: {quota} allows {hard} {resource}, of which {used} are used; what is refused "
        "stands in no line, it is tried again more and more rarely"
    )
    return Cause(
        id="resource-quota",
        says=says.format(object=title(obj), quota=title(quota), hard=hard, used=used, resource=resource),
        where=(title(obj), title(quota)),
        look_at=command(quota, "describe"),
    )
