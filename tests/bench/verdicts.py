"""How long `grader check` takes where there is nothing to wait for: on a solved lab."""

from __future__ import annotations

import os
import sys

from cluster.errors import EnvironmentProblem
from grader.lab.catalogue import load_lab
from grader.progress import load_progress, set_achievements
from tests.bench.figures import Figure, Ratio, Report
from tests.bench.ground import LAB, Ground, run

PART = "check"
_PYTHON = Figure(id="python", part=PART, title="python -c pass, to compare with", unit="s")
_ALL = Figure(id="check.all", part=PART, title=f"grader check {LAB}, nothing remembered", unit="s", target=1.0)
_AGAIN = Figure(id="check.again", part=PART, title=f"grader check {LAB}, all remembered", unit="s", target=1.0)
_INSIDE = Figure(
    id="check.inside", part=PART, title="grader check in the lab's shell, all remembered", unit="s", target=1.0
)
_SHELL = Figure(id="shell", part=PART, title=f"grader shell {LAB} -- true", unit="s")
_RATIOS = (
    Ratio("grader check, nothing remembered ÷ python -c pass", _ALL.id, _PYTHON.id),
    Ratio("grader check, all remembered ÷ python -c pass", _AGAIN.id, _PYTHON.id),
    Ratio("grader check in the shell ÷ python -c pass", _INSIDE.id, _PYTHON.id),
)
# What a learner in an open shell waits: the microseconds between the prompt and the next one.
_TIMED = """
for _ in $(seq "$1"); do
  began=${EPOCHREALTIME/[.,]/}
  grader check > /dev/null || exit
  echo $((${EPOCHREALTIME/[.,]/} - began))
done
"""


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Solve the lab once, then look at it in every way in turn.

    What a check once found is remembered and not looked at again, so the figures that matter are those of a lab of
    which nothing (or nothing of the step in question) is remembered.
    """
    if os.geteuid() != 0:
        raise EnvironmentProblem(f"{LAB} has a real node, and that needs root")
    ground.say(f"check: starting and solving {LAB}")
    ground.grader("start", LAB)
    ground.play()
    ground.grader("check", LAB)
    known = dict(load_progress(ground.home).achievements)
    report.ratios += _RATIOS
    failing: set[str] = set()
    for number in range(1, runs + 1):
        ground.say(f"check {number}/{runs}")
        report.add(_PYTHON, run([sys.executable, "-c", "pass"]).seconds)
        set_achievements(ground.home, {})
        checked = ground.grader("check", LAB, codes=(0, 1))
        report.add(_ALL, checked.seconds)
        failing |= {LAB} if checked.code else set()
        for step in load_lab(LAB).steps:
            own = {check.id for check in step.checks}
            set_achievements(ground.home, {check: at for check, at in known.items() if check not in own})
            checked = ground.grader("check", LAB, "--step", step.id, codes=(0, 1))
            title = f"grader check {LAB} --step {step.id}, nothing of it remembered"
            report.add(Figure(id=f"check.step.{step.id}", part=PART, title=title, unit="s"), checked.seconds)
            failing |= {step.id} if checked.code else set()
        set_achievements(ground.home, known)
        report.add(_AGAIN, ground.grader("check", LAB).seconds)
        report.add(_SHELL, ground.grader("shell", LAB, "--", "true").seconds)
    report.notes += [f"check of {what}: the moment of some checks is over, they did not pass again" for what in failing]
    ground.say("check in the shell")
    shell = ground.grader("shell", LAB, "--", "bash", "-c", _TIMED, "bash", str(runs))
    microseconds = [int(line) for line in shell.output.splitlines() if line.isdecimal()]
    if len(microseconds) != runs:
        raise EnvironmentProblem(f"grader check in the shell: {shell.output}")
    for each in microseconds:
        report.add(_INSIDE, each / 1e6)
    ground.grader("stop", LAB)
