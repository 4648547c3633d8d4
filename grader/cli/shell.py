"""`grader shell`: a shell, or one command, at the learner's place in a running lab."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, lab_argument
from grader.cli.common import which_lab, why_silent

if TYPE_CHECKING:
    from collections.abc import Sequence

RC_FILE = Path(__file__).resolve().parents[1] / "session" / "desk.bashrc"


class _Shell(Command):
    """Everything after `--` is the command to run; click alone would take its first word for the lab."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """With what may follow."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split first."""
        at = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:at])
        ctx.params["words"] = tuple(args[at + 1 :])
        return rest


@click.command(
    cls=_Shell,
    help=N_(
        "Open a shell in LAB (or the one that runs), with kubectl, in the lab's work folder. "
        "After `--`: run that command there instead; its exit code is passed on."
    ),
)
@lab_argument()
def command(lab: str | None, words: Sequence[str]) -> int:
    """Become the command that enters the lab."""
    from cluster import local
    from cluster.errors import EnvironmentProblem
    from grader.session.places import session_home

    chosen = which_lab(lab, lambda name: local.status(session_home(name)).state == "running")
    home = session_home(chosen)
    if local.status(home).state != "running":
        raise why_silent(chosen, home, EnvironmentProblem(_("{lab} is not running").format(lab=chosen)))
    argv = list(words) or ["bash", "--rcfile", str(RC_FILE), "-i"]
    line = local.desk_command(home, argv, desk_environment(chosen))
    os.execvp(line[0], line)  # noqa: S606  # the learner's terminal belongs to the shell from here on


def desk_environment(lab: str) -> dict[str, str]:
    """What the shell inherits of the learner's own terminal, and what tells our commands where they are."""
    from grader.session.here import INSIDE
    from grader.session.places import session_home
    from grader.session.values import shell_environment

    kept = ("TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "NO_COLOR", "EDITOR", "VISUAL")
    chosen = {name: value for name, value in os.environ.items() if name in kept or name.startswith("LC_")}
    return {**chosen, **shell_environment(session_home(lab)), INSIDE: lab}
