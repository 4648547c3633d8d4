"""Where the time of a start went: the chain of tasks that each waited for the one before.

Owns the walk back from the last task over boot events and the plan's needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.supervisor.events import READY
from tests.bench.figures import Leg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cluster.machine import BootEvent

SANDBOX = "(the sandbox and its supervisor)"


def critical_path(events: Iterable[BootEvent], needs: Mapping[str, Iterable[str]]) -> list[Leg]:
    """The tasks that a start would have been quicker without, in order; together they last until READY.

    A task's seconds count from the end of the need that ended last, so that waiting for its thread to begin is in
    them. ValueError where the start did not reach READY.
    """
    events = list(events)
    began = {event.task: event.seconds for event in events if event.state == "started"}
    ready = {event.task: event.seconds for event in events if event.state == "ready"}
    if READY not in ready:
        raise ValueError("this start never became ready")
    end = ready.pop(READY)
    task = max(ready, key=lambda name: ready[name])
    legs = [Leg(READY, end - ready[task])]
    while (before := max(needs[task], key=lambda name: ready[name], default=None)) is not None:
        legs.append(Leg(task, ready[task] - ready[before]))
        task = before
    legs += [Leg(task, ready[task] - began[task]), Leg(SANDBOX, began[task])]
    return legs[::-1]
