"""`batchlab`, which is also `grader tui`: from a command line to the application and its exit code.

Owns the options. Exit codes and how failures are said are those of `grader`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from cluster import i18n
from cluster.errors import Problem, UsageProblem
from cluster.i18n import _
from grader.cli import INTERRUPTED, say, take_language
from grader.cli.commands import N_, Command, OneOf, translated
from grader.session.here import shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

THEMES = ("dark", "light", "high-contrast", "colour-blind")


@click.command(
    cls=Command,
    name="batchlab",
    help=N_("Courses, articles and labs in one application, and how far you are."),
)
@click.option("--ascii", "ascii_only", is_flag=True, help=N_("Draw with ASCII characters only."))
@click.option("--theme", type=OneOf(*THEMES), help=N_("The colours, for this time."))
@click.option("--lang", metavar="en|ko", help=N_("Language of every message (default: your locale)."))
def command(ascii_only: bool, theme: str | None, lang: str | None) -> int:
    """Run the application. `--lang` is taken out of the command line before; here it is only documented."""

    from tui.app import LearnerApp
    from tui.backend.real import RealBackend

    del lang
    app = LearnerApp(RealBackend(), ascii_only=ascii_only)
    if theme:
        app.theme = theme
    app.run()
    return app.return_code or 0


def run(argv: Sequence[str]) -> int:
    """One command line in this process; its exit code."""
    try:
        i18n.set_language(i18n.from_environment())
        language, rest = take_language(argv)
        i18n.set_language(language)
        _refuse_where_nobody_looks()
        with command.make_context("batchlab", list(rest)) as context:
            return int(command.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        problem = translated(error)
        say(problem)
        return problem.exit_code
    except Problem as problem:
        say(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def main() -> NoReturn:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))


def _refuse_where_nobody_looks() -> None:
    if shell_of():
        raise UsageProblem(
            _("`{command}` does not run inside a lab").format(command="batchlab"),
            _("leave the lab's shell first (exit), then: {command}").format(command="batchlab"),
        )
