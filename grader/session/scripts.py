"""Scripts of a lab that look at what a learner did: each run in a cell of its own.

Owns how a cell is asked from inside the sandbox, and that the asking ends; knows nothing of what a script's end means.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.scripts import Ending, Order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SPARE_SECONDS = 30.0
"""For making and clearing a cell on a machine that is busy."""


class SessionScripts:
    """`grader.checks.world.Scripts` for the session in `home`."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def run(self, order: Order) -> Ending:
        """Carry out `order`. EnvironmentProblem where no cell can be had."""
        seconds = sum(script.seconds for script in order.scripts) + _SPARE_SECONDS
        return ask_cell([sys.executable, "-P", "-m", "cluster.sandbox.script_cell", str(self._home)], order, seconds)


def ask_cell(command: Sequence[str], order: Order, seconds: float) -> Ending:
    """Give `order` to `command` and take its answer."""
    try:
        done = subprocess.run(
            command,
            input=order.to_json(),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentProblem(_("the place of the lab's scripts does not answer")) from error
    except OSError as error:
        raise EnvironmentProblem(
            _("can't run {program}: {why}").format(program=command[0], why=error.strerror)
        ) from error
    try:
        return Ending.from_json(done.stdout)
    except (ValueError, KeyError, TypeError) as error:
        said = done.stderr.strip().splitlines()[-1:] or [_("exit code {code}").format(code=done.returncode)]
        raise EnvironmentProblem(
            _("the place of the lab's scripts could not be made: {why}").format(why=said[0]),
            _("`grader doctor` looks at the machine"),
        ) from error
