"""Where the time of a start went: on the host, and in the machine from its first moment to READY.

Owns the arithmetic on boot events, the plan that a boot leaves beside them (`run/plan.json`), and the clock of the
host's part. Knows no task by its name: whatever a plan has is told.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster.components.model import Component
from cluster.machine import BootEvent, write_private
from cluster.supervisor.events import READY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cluster.plan import Task

SANDBOX = "(the sandbox and its supervisor)"
"""The leg before the first task."""
LAUNCH, BOOT = "launch", "boot"
"""Parts of the host: until the machine's clock begins (and from READY until it is noticed), and what it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A task as the boot planned it. `wave`: from 1, one more than the last of what it needs; 0 if it had no plan."""

    name: str
    program: bool = False
    """Whether it is a program that is kept running; else a step with an end."""
    needs: tuple[str, ...] = ()
    wave: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTiming:
    """One task that was done: `began` and `seconds` (launch to ready) by the machine's clock."""

    plan: Planned
    began: float
    seconds: float
    objects: int | None = None
    """How many objects it applied, for a step that applies any."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One stretch of a start's critical path: `seconds` until it let the next one begin."""

    task: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BootTimings:
    """A boot that reached READY, `seconds` after the machine's first moment."""

    seconds: float
    tasks: tuple[TaskTiming, ...]
    """What was done by then, wave by wave, in the order in which they began."""
    later: tuple[str, ...] = ()
    """What READY did not wait for, and was not done by then."""
    path: tuple[Leg, ...]
    """The tasks that it would have been quicker without; together they last `seconds`."""


def turned_to(part: str) -> BootEvent:
    """The event that the host does `part` from now on, until it turns to another."""
    return BootEvent(task=part, state="host", seconds=time.monotonic())


class HostClock:
    """A receiver of boot events that says where the time of a command on the host goes.

    Every moment from `began` (time.monotonic()) on belongs to one part, so that all of them explain the whole.
    """

    def __init__(self, part: str, began: float | None = None) -> None:
        """`began`: by default when this process was started."""
        self._began = _process_began() if began is None else began
        self._part, self._since = part, self._began
        self._parts: dict[str, float] = {}

    def __call__(self, event: BootEvent) -> None:
        """Turn to another part, or take from the present one what the machine's own clock counted."""
        if event.state == "host":
            self._turn(event.task, event.seconds)
        elif event.task == READY:
            self._turn(self._part, time.monotonic())
            counted = min(event.seconds, self._parts[self._part])
            self._parts[self._part] -= counted
            self._parts[BOOT] = self._parts.get(BOOT, 0.0) + counted

    def parts(self) -> dict[str, float]:
        """Part → seconds until now, in the order in which they began; their sum is the whole."""
        self._turn(self._part, time.monotonic())
        return dict(self._parts)

    def _turn(self, part: str, now: float) -> None:
        self._parts[self._part] = self._parts.get(self._part, 0.0) + now - self._since
        self._part, self._since = part, now


def boot_timings(events: Iterable[BootEvent], planned: Iterable[Planned]) -> BootTimings | None:
    """What the events of a boot come to; None where it did not reach READY."""
    plan = {task.name: task for task in planned}
    began: dict[str, float] = {}
    done: dict[str, BootEvent] = {}
    for event in events:
        if event.state == "started":
            began.setdefault(event.task, event.seconds)
        elif event.state == "ready":
            done.setdefault(event.task, event)
    end = done.pop(READY, None)
    if end is None:
        return None
    tasks = [
        TaskTiming(
            plan=plan.get(name, Planned(name=name)),
            began=began.get(name, event.seconds),
            seconds=event.seconds - began.get(name, event.seconds),
            objects=event.objects,
        )
        for name, event in done.items()
        if event.seconds <= end.seconds
    ]
    tasks.sort(key=lambda task: (task.plan.wave, task.began))
    return BootTimings(
        seconds=end.seconds,
        tasks=tuple(tasks),
        later=tuple(name for name in plan if name not in {task.plan.name for task in tasks}),
        path=tuple(_critical_path(tasks, end.seconds)),
    )


def _critical_path(tasks: Sequence[TaskTiming], end: float) -> list[Leg]:
    """From the last task back, each time to the need that ended last.

    A task's seconds count from the end of that need, so that waiting for its thread to begin is in them.
    """
    if not tasks:
        return [Leg(SANDBOX, end)]
    ready = {task.plan.name: task.began + task.seconds for task in tasks}
    by_name = {task.plan.name: task for task in tasks}
    name = max(ready, key=lambda one: ready[one])
    legs = [Leg(READY, end - ready[name])]
    while needs := [need for need in by_name[name].plan.needs if need in ready]:
        before = max(needs, key=lambda one: ready[one])
        legs.append(Leg(name, ready[name] - ready[before]))
        name = before
    legs += [Leg(name, by_name[name].seconds), Leg(SANDBOX, by_name[name].began)]
    return legs[::-1]


def write_plan(path: Path, waves: Iterable[Iterable[Task]]) -> None:
    """Keep what a boot is about to do."""
    plan = [
        {"name": task.name, "program": isinstance(task, Component), "needs": task.needs, "wave": number}
        for number, wave in enumerate(waves, 1)
        for task in wave
    ]
    write_private(path, json.dumps(plan))


def read_plan(path: Path) -> list[Planned]:
    """What `write_plan` kept; nothing where there is no such file, or another version's."""
    try:
        plan: list[Mapping[str, Any]] = json.loads(path.read_text())
        return [Planned(**{**task, "needs": tuple(task["needs"])}) for task in plan]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _process_began() -> float:
    """When the kernel made this process, on the clock of time.monotonic(); to a hundredth of a second."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[19])  # "starttime": field 22 of proc(5), of which two stand before the parenthesis
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.monotonic() - age
