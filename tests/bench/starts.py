"""How long a start takes, where its time goes, and how long a stop takes."""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING

from cluster import local
from cluster.errors import EnvironmentProblem
from tests.bench import load
from tests.bench.figures import Figure, Ratio, Report, Route
from tests.bench.ground import LAB, Ground

if TYPE_CHECKING:
    from pathlib import Path

    from cluster.timings import BootTimings, Leg

PART = "start"
_FAKE = Figure(id="start.fake", part=PART, title="start, fake nodes only (cluster.local.start)", unit="s", target=8.0)
_FAKE_BOOT = Figure(id="start.fake.boot", part=PART, title="of it, the boot: sandbox to READY", unit="s")
_FAKE_STOP = Figure(id="stop.fake", part=PART, title="stop, fake nodes only (cluster.local.stop)", unit="s", target=2.0)
_REAL = Figure(id="start.real", part=PART, title=f"grader start {LAB}: a real node, DNS", unit="s", target=10.0)
_REAL_BOOT = Figure(id="start.real.boot", part=PART, title="of it, the boot: sandbox to READY", unit="s")
_REAL_STOP = Figure(id="stop.real", part=PART, title=f"grader stop {LAB}, four pods running", unit="s", target=2.0)
_FAKE_WORK = Figure(id="start.fake.work", part=PART, title="processor time of its processes until READY", unit="s")
_REAL_WORK = Figure(id="start.real.work", part=PART, title="processor time of its processes until READY", unit="s")
_RATIO = Ratio("boot with a real node ÷ with fake nodes only", "start.real.boot", "start.fake.boot")


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Start and stop both kinds in turn; the critical path of the start in the middle of each."""
    fake = ground.fake()
    routes: dict[str, list[list[Leg]]] = {"fake nodes only": [], LAB: []}
    report.ratios.append(_RATIO)
    try:
        for number in range(1, runs + 1):
            ground.say(f"start {number}/{runs}: fake nodes only")
            began = time.perf_counter()
            local.start(fake, lambda _event: None)
            report.add(_FAKE, time.perf_counter() - began)
            _look(report, _FAKE_BOOT, _FAKE_WORK, "fake", fake.home)
            routes["fake nodes only"].append([*boot(fake.home).path])
            began = time.perf_counter()
            local.stop(fake.home)
            report.add(_FAKE_STOP, time.perf_counter() - began)
            if os.geteuid() != 0:
                continue
            ground.say(f"start {number}/{runs}: {LAB}")
            report.add(_REAL, ground.grader("start", LAB).seconds)
            _look(report, _REAL_BOOT, _REAL_WORK, "real", ground.home)
            routes[LAB].append([*boot(ground.home).path])
            ground.play(1)
            report.add(_REAL_STOP, ground.grader("stop", LAB).seconds)
    finally:
        for kind, found in routes.items():
            if found:
                title = f"where the start's time goes, {kind} (critical path of the run in the middle)"
                report.routes.append(Route(title=title, legs=middle(found)))


def _look(report: Report, figure: Figure, work: Figure, kind: str, home: Path) -> None:
    """What a start costs on the clock and, however busy the machine is, in processor time."""
    used = load.processor(home)
    report.add(figure, boot(home).seconds)
    report.add(work, sum(used.values()))
    for name, seconds in used.items():
        report.by_component(name, f"CPU until READY ({kind})", "s", seconds)


def boot(home: Path) -> BootTimings:
    """From the sandbox's first moment to READY, by the machine's own clock: without imports and keys."""
    found = local.timings(home)
    if found is None:
        raise EnvironmentProblem(f"{home} never became ready")
    return found


def middle(routes: list[list[Leg]]) -> list[Leg]:
    """The route whose length is the (lower) median: a mean of different paths would be nobody's."""
    lengths = [sum(leg.seconds for leg in route) for route in routes]
    return routes[lengths.index(statistics.median_low(lengths))]
