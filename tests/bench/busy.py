"""How long a start takes on a machine that has other things to do: cold and warm in turn, beside the same work."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from tests.bench.figures import Figure, Ratio, Report
from tests.bench.ground import LAB, Ground
from tests.bench.starts import home_of, look, start, stop

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = "busy"
_KINDS = {"fake": "fake nodes only", "real": f"grader start {LAB}"}
_HOWS = ("cold", "warm")


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Each kind cold and warm, one after the other, while one process for each core does nothing but count."""
    kinds = list(_KINDS)[: 2 if os.geteuid() == 0 else 1]
    for kind in kinds:
        for what, part in (("", ""), (", the boot", ".boot")):
            title = f"warm ÷ cold on a busy machine, {_KINDS[kind]}{what}"
            report.ratios.append(Ratio(title, _name(kind, "warm") + part, _name(kind, "cold") + part))
        ground.say(f"busy: a first start that keeps its snapshot, {kind}")
        start(ground, kind, "warm")
        stop(ground, kind)
    with _work():
        for number in range(1, runs + 1):
            for kind in kinds:
                for how in _HOWS:
                    ground.say(f"busy {number}/{runs}: {kind}, {how}")
                    title = f"{_KINDS[kind]}, {how}, beside one busy process for each core"
                    report.add(Figure(id=_name(kind, how), part=PART, title=title, unit="s"), start(ground, kind, how))
                    look(report, PART, _name(kind, how), home_of(ground, kind))
                    stop(ground, kind)


def _name(kind: str, how: str) -> str:
    return f"busy.{kind}.{how}"


@contextmanager
def _work() -> Iterator[None]:
    """One process for each core that never waits."""
    with ExitStack() as undo:
        for _core in range(os.cpu_count() or 1):
            worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            undo.callback(worker.wait)
            undo.callback(worker.kill)
        yield
