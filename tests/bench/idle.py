"""What a machine costs that nobody uses: memory after a while, processor time over a while."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from cluster import local
from tests.bench import load
from tests.bench.figures import Figure, Report
from tests.bench.ground import LAB, Ground

if TYPE_CHECKING:
    from pathlib import Path

PART = "idle"
_KINDS = {"fake": ("fake nodes only", 700.0), "real": ("with a real node", 900.0)}


def measure(ground: Ground, report: Report, runs: int, seconds: float) -> None:
    """Start each kind, leave it alone for `seconds`, weigh it, and count its processor time for as long again."""
    config = ground.fake()
    ground.say("idle: a start of each kind, so that those that follow are warm")
    local.start(config, lambda _event: None, ground.snapshots)
    local.stop(config.home)
    if os.geteuid() == 0:
        ground.grader("start", LAB)
        ground.grader("stop", LAB)
    for number in range(1, runs + 1):
        ground.say(f"idle {number}/{runs}: fake nodes only, 2 × {seconds:g} s")
        local.start(config, lambda _event: None, ground.snapshots)
        _watch(config.home, report, "fake", seconds)
        local.stop(config.home)
        if os.geteuid() != 0:
            continue
        ground.say(f"idle {number}/{runs}: {LAB}, 2 × {seconds:g} s")
        ground.grader("start", LAB)
        _watch(ground.home, report, "real", seconds)
        ground.grader("stop", LAB)


def rest(seconds: float) -> None:
    """Let a machine be; the time itself is what is measured, there is no condition to wait for."""
    threading.Event().wait(seconds)


def _watch(home: Path, report: Report, kind: str, seconds: float) -> None:
    said, target = _KINDS[kind]
    rest(seconds)
    weighed = load.memory(home)
    title = f"memory (PSS) of a session, {said}, {seconds:g} s after READY"
    figure = Figure(id=f"memory.{kind}", part=PART, title=title, unit="MB", target=target)
    report.add(figure, sum(one.pss for one in weighed.values()))
    title = "of it, without what other processes could share"
    report.add(Figure(id=f"own.{kind}", part=PART, title=title, unit="MB"), sum(one.own for one in weighed.values()))
    if (held := load.tmpfs(home)) is not None:
        report.add(Figure(id=f"tmpfs.{kind}", part=PART, title="beside it, files in its tmpfs", unit="MB"), held)
    before, began = sum(load.processor(home).values()), time.monotonic()
    rest(seconds)
    used = (sum(load.processor(home).values()) - before) / (time.monotonic() - began)
    title = f"processor when idle, {said}, over {seconds:g} s"
    report.add(Figure(id=f"cpu.{kind}", part=PART, title=title, unit="% core", target=5.0), used * 100)
    for name, one in weighed.items():
        report.by_component(name, f"RSS ({kind})", "MB", one.rss)
