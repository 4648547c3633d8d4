"""The step that runs the lab's own set-up scripts, in a cell, before the learner arrives."""

from __future__ import annotations

import sys
from pathlib import Path

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.machine import Layout
from cluster.scripts import Ending, why_ended
from cluster.steps.model import Step, StepContext

_SPARE_SECONDS = 20.0
_LINES = 8


def run_setup(needs: tuple[str, ...]) -> Step:
    """Each script of the lab's `start/`, in order, until one fails: then the start does, with what it said."""

    def work(context: StepContext) -> None:
        config = context.config
        home, packages = str(config.home), str(Path(__file__).resolve().parents[2])
        cell = (sys.executable, "-P", "-m", "cluster.sandbox.script_cell", home, "setup")
        seconds = sum(script.seconds for script in config.setup) + _SPARE_SECONDS
        context.run(("env", f"PYTHONPATH={packages}", *cell), seconds)
        ending = Ending.from_json(Layout(config.home).setup.read_text())
        if not ending.good:
            raise EnvironmentProblem(_failure(ending), "\n".join(ending.output.rstrip().splitlines()[-_LINES:]))

    return Step(
        name="setup",
        needs=needs,
        work=work,
        typed=("for script in start/*.sh; do bash $script || exit; done  # as nobody, in a cell",),
    )


def _failure(ending: Ending) -> str:
    if ending.exit is not None:
        return _("the lab's {script} ended with exit code {code}").format(script=ending.script, code=ending.exit)
    return why_ended(ending)
