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
_RUNS = (
    # kind, how: the id of its figures, and what a person is told
    ("fake", "cold", "start.fake", "start, fake nodes only (cluster.local.start), cold", 8.0),
    ("fake", "warm", "start.fake.warm", "start, fake nodes only, warm", 4.0),
    ("real", "cold", "start.real", f"grader start {LAB} --cold: a real node, DNS", 10.0),
    ("real", "warm", "start.real.warm", f"grader start {LAB}, warm", 6.0),
)
_STOP = {
    "fake": Figure(id="stop.fake", part=PART, title="stop, fake nodes only (cluster.local.stop)", unit="s", target=2.0),
    "real": Figure(id="stop.real", part=PART, title=f"grader stop {LAB}, four pods running", unit="s", target=2.0),
}
_RATIOS = (
    Ratio("boot with a real node ÷ with fake nodes only, cold", "start.real.boot", "start.fake.boot"),
    Ratio("warm ÷ cold, fake nodes only", "start.fake.warm", "start.fake"),
    Ratio(f"warm ÷ cold, {LAB}", "start.real.warm", "start.real"),
)


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Start and stop both kinds in turn, cold and warm; the critical path of the start in the middle of each."""
    routes: dict[str, list[list[Leg]]] = {}
    report.ratios.extend(_RATIOS)
    kinds = ("fake", "real") if os.geteuid() == 0 else ("fake",)
    for kind in kinds:
        ground.say(f"start: a first one that keeps its snapshot, {kind}")
        start(ground, kind, "warm")
        stop(ground, kind)
    try:
        for number in range(1, runs + 1):
            for kind, how, name, title, target in _RUNS:
                if kind not in kinds:
                    continue
                ground.say(f"start {number}/{runs}: {kind}, {how}")
                report.add(Figure(id=name, part=PART, title=title, unit="s", target=target), start(ground, kind, how))
                home = home_of(ground, kind)
                for component, seconds in look(report, PART, name, home).items():
                    report.by_component(component, f"CPU until READY ({kind}, {how})", "s", seconds)
                routes.setdefault(f"{kind}, {how}", []).append([*boot(home).path])
                if kind == "real":
                    ground.play(1)
                report.add(_STOP[kind], stop(ground, kind))
    finally:
        for kind, found in routes.items():
            title = f"where the start's time goes, {kind} (critical path of the run in the middle)"
            report.routes.append(Route(title=title, legs=middle(found)))


def start(ground: Ground, kind: str, how: str) -> float:
    """Seconds of a start of that `kind`, fake or real; `how`: cold or warm."""
    if kind == "real":
        return ground.grader("start", LAB, *(["--cold"] if how == "cold" else [])).seconds
    began = time.perf_counter()
    local.start(ground.fake(), lambda _event: None, None if how == "cold" else ground.snapshots)
    return time.perf_counter() - began


def stop(ground: Ground, kind: str) -> float:
    """Seconds of the stop of what `start` started."""
    if kind == "real":
        return ground.grader("stop", LAB).seconds
    began = time.perf_counter()
    local.stop(home_of(ground, kind))
    return time.perf_counter() - began


def home_of(ground: Ground, kind: str) -> Path:
    """Its session folder."""
    return ground.home if kind == "real" else ground.fake().home


def look(report: Report, part: str, name: str, home: Path) -> dict[str, float]:
    """What a start costs on the clock and, however busy the machine is, in processor time; that by component."""
    used = load.processor(home)
    boot_title, work_title = "of it, the boot: sandbox to READY", "processor time of its processes until READY"
    report.add(Figure(id=f"{name}.boot", part=part, title=boot_title, unit="s"), boot(home).seconds)
    report.add(Figure(id=f"{name}.work", part=part, title=work_title, unit="s"), sum(used.values()))
    return used


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
