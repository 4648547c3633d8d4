"""Keeping a real node's GPUs, which are a number in its status and nothing more.

kubelet sets resources it does not know to zero when it restarts, and a learner may patch them away, too. Owns
the watch over that one node, which costs nothing while nothing happens; how GPUs are given is `cluster.steps.nodes`'.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from cluster.api import Api
from cluster.errors import Problem, WatchExpired
from cluster.spec import NodeSpec
from cluster.steps.nodes import give_gpus

_PAUSE = 1.0
"""Seconds between two tries to reach an API that is not there."""


def keep_gpus(
    api: Api, node: NodeSpec, given_again: Callable[[], None], pause: Callable[[], None] = lambda: time.sleep(_PAUSE)
) -> None:
    """Give `node` its GPUs whenever they are gone, and say so by `given_again`. Ends only where `pause` raises."""
    while True:
        try:
            for _change in _changes(api, node.name):
                if give_gpus(api, node):
                    given_again()
        except (Problem, WatchExpired):
            pause()


def _changes(api: Api, name: str) -> Iterator[None]:
    """At once, then whenever the node of that name changed, until the API server ends the watch."""
    fields = f"metadata.name={name}"
    _nodes, version = api.list_page("v1", "Node", fields=fields)
    yield
    for verb, _node in api.watch("v1", "Node", version, fields=fields):
        if verb in ("ADDED", "MODIFIED"):
            yield
