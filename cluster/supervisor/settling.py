"""After a start: giving back the memory that only the start needed.

Owns that moment. While it starts, kube-apiserver's heap grows to more than twice of what it keeps, and Go's runtime
holds on to that until the second collection after it, minutes later in a quiet cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cluster.api import Api
from cluster.errors import Problem

_AFTER_SECONDS = 3.0
"""A collection takes a fifth of a second of processor: not in the moment in which a learner begins."""
_COLLECTIONS = 2
"""The first leaves behind what the heap was then as the measure of what to keep; the second one the true measure."""
_COLLECT = "/debug/pprof/heap?gc=1"
"""A heap profile, made after a collection. It is empty (`cluster.components.go`)."""


def settle(api: Api, pause: Callable[[float], None] = time.sleep) -> None:
    """When a start is over: after a while, have kube-apiserver collect its garbage. What goes wrong is no matter."""
    pause(_AFTER_SECONDS)
    for _collection in range(_COLLECTIONS):
        try:
            api.fetch(_COLLECT)
        except Problem:
            return
