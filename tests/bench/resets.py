"""How long `grader reset` takes."""

from __future__ import annotations

import os

from cluster.errors import EnvironmentProblem
from tests.bench.figures import Figure, Report
from tests.bench.ground import LAB, Ground
from tests.bench.starts import boot
from tests.messes import MESSES

PART = "reset"
_RESET = Figure(id="reset", part=PART, title=f"grader reset {LAB}, four pods running", unit="s", target=5.0)
_BOOT = Figure(id="reset.boot", part=PART, title="of it, the boot: sandbox to READY", unit="s")


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Each time with the first step solved: there are containers to end and files to keep. Then after each mess."""
    if os.geteuid() != 0:
        raise EnvironmentProblem(f"{LAB} has a real node, and that needs root")
    ground.say(f"reset: starting {LAB}")
    ground.grader("start", LAB)
    for number in range(1, runs + 1):
        ground.play(1)
        ground.say(f"reset {number}/{runs}")
        report.add(_RESET, ground.grader("reset", LAB).seconds)
        report.add(_BOOT, boot(ground.home).seconds)
    for number in range(1, runs + 1):
        for mess, script in MESSES.items():
            ground.say(f"reset {number}/{runs}: {mess}")
            ground.grader("shell", LAB, "--", "bash", "-c", script)
            figure = Figure(id=f"reset.{mess}", part=PART, title=f"after {mess}", unit="s", target=5.0)
            report.add(figure, ground.grader("reset", LAB).seconds)
    ground.grader("stop", LAB)
