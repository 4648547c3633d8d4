"""`grader tui`: hands the command line to the application, which is another package.

Nothing of `grader` may import Textual, so the application names itself in its installation's metadata (the entry
point group `batchlab.commands`) and is loaded from there: the same process and the same interpreter, whatever PATH
says, and no import anywhere in our code.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

import click

from cluster.errors import EnvironmentProblem
from cluster.i18n import _, from_environment, language
from grader.cli.commands import N_, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GROUP = "batchlab.commands"
NAME = "tui"


class _Plugin(Command):
    """Every word is the application's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Taken as they are, `--help` too."""
        ctx.params["words"] = tuple(args)
        return []


@click.command(cls=_Plugin, add_help_option=False, help=N_("Labs, articles and progress in one application."))
def command(words: Sequence[str]) -> int:
    """Load the application and have it run the rest of the command line."""
    return application(words)


def application(words: Sequence[str]) -> int:
    """Have the application run a command line of its own; its exit code. EnvironmentProblem: there is none."""
    found = [point for point in entry_points(group=GROUP) if point.name == NAME]
    if not found:
        raise EnvironmentProblem(
            _("this installation of Batchlab has no application"),
            _("install it again: the package brings the command `batchlab`"),
        )
    run = cast("Callable[[Sequence[str], str], int]", found[0].load())
    # Only a language that was asked for: the application remembers one itself.
    asked = ["--lang", language()] if language() != from_environment() else []
    return run([*asked, *words], "grader tui")
