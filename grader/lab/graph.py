"""What comes after what: an order, and the circles that make one impossible.

Owns two small graph walks over names; knows nothing of what the names stand for.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def in_order(after: Mapping[str, Sequence[str]]) -> list[str]:
    """The names, each behind all it comes after, else by alphabet; names in circles come last."""
    waits = {name: {other for other in others if other in after} for name, others in after.items()}
    ready = sorted(name for name, others in waits.items() if not others)
    ordered: list[str] = []
    while ready:
        name = heapq.heappop(ready)
        ordered.append(name)
        for other, others in waits.items():
            if name in others:
                others.discard(name)
                if not others:
                    heapq.heappush(ready, other)
    return ordered + sorted(name for name, others in waits.items() if others)


def circles(after: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Circles in the graph, at least one for each knot; each begins with its first name in `after`."""
    rank = {name: number for number, name in enumerate(after)}
    done: set[str] = set()
    found = []
    for start in after:
        if start in done:
            continue
        trail = [start]
        rest: list[Iterator[str]] = [iter(after[start])]
        while trail:
            follower = next(rest[-1], None)
            if follower is None:
                done.add(trail.pop())
                rest.pop()
            elif follower in trail:
                circle = trail[trail.index(follower) :]
                first = circle.index(min(circle, key=rank.__getitem__))
                found.append(circle[first:] + circle[:first])
            elif follower in after and follower not in done:
                trail.append(follower)
                rest.append(iter(after[follower]))
    return found
