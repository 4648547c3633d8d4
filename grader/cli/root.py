"""The commands of `grader`, and which of them may run where.

Owns the table of commands and the rule about places: in a lab's shell, and in the examiner that answers for
it, only what looks at the lab is allowed. Knows nothing of what a command does.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, cast

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Group, translated
from grader.session.here import examination

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS = (
    (
        N_("Learn"),
        (
            ("list", N_("The labs, and how far you are.")),
            ("lab", N_("Labs by others: fetch, accept, update and remove them.")),
            ("course", N_("Paths of articles and labs, and how far you are.")),
            ("read", N_("Articles to read before a lab.")),
            ("show", N_("What a lab, or one of its steps, is about.")),
            ("start", N_("Start a lab: a Kubernetes cluster of its own.")),
            ("shell", N_("Open a shell in a running lab.")),
            ("check", N_("Look at what you did, step by step.")),
            ("why", N_("Why something waits, or is not what you think.")),
            ("board", N_("Nodes, groups, queues, pods and events, as they are now.")),
            ("timeline", N_("What happened, as bars over time.")),
            ("hint", N_("One more hint for a step.")),
            ("fail", N_("Make pods on fake nodes fail.")),
            ("complete", N_("Let pods on fake nodes finish their work.")),
            ("status", N_("What runs, and how it is.")),
            ("reset", N_("Begin a lab again; your files are kept aside.")),
            ("stop", N_("Stop a lab; your files and progress stay.")),
            ("report", N_("Progress over all labs.")),
            ("tui", N_("All of this in one application.")),
        ),
    ),
    (
        N_("Write labs"),
        (
            ("new", N_("Make a lab to begin with.")),
            ("preview", N_("A lab as the learner will see it, and what each check expects.")),
            ("lint", N_("Find mistakes in the files of labs and articles.")),
            ("import", N_("Make labs of scenarios and challenges of other platforms.")),
            ("verify", N_("Prove a lab on a real cluster: start, solution, wrong answers, reset.")),
        ),
    ),
    (
        N_("Run a class"),
        (("class", N_("Who is where, and which steps stop most people, from learners' reports.")),),
    ),
    (
        N_("This machine"),
        (
            ("doctor", N_("What this machine lacks, and the command that installs it.")),
            ("binaries", N_("Build, list and bundle the programs that clusters are made of.")),
            ("completion", N_("Completion of commands for your shell.")),
        ),
    ),
)
FROM_INSIDE = frozenset(
    {
        "check",
        "hint",
        "status",
        "show",
        "list",
        "course",
        "read",
        "report",
        "why",
        "timeline",
        "board",
        "fail",
        "complete",
    }
)
"""What the examiner runs for a lab's shell: it changes nothing but progress, and what a learner could change, too."""
ANYWHERE = frozenset({"completion"})
MODULES = {"list": "labs", "class": "class_", "import": "importer"}
"""Commands whose module has another name: a module `list` would become this package's `list`, in the place of
Python's own, and `class` and `import` are words of Python's."""
COMPLETE = "_GRADER_COMPLETE"
"""Environment variable by which a shell asks for completions."""


class Root(Group):
    """The commands, each from its module in this package."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; its module is imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"grader.cli.{MODULES.get(cmd_name, cmd_name)}")
        return cast("click.Command", module.command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As the others', refused where it may not run."""
        _refuse_from_inside(args)
        return super().resolve_command(ctx, args)


@click.command(
    cls=Root,
    name="grader",
    sections=SECTIONS,
    help=N_("Hands-on labs on a real Kubernetes cluster, graded."),
)
@click.option("--lang", metavar="en|ko", help=N_("Language of every message (default: your locale)."))
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help=N_("The version of grader."),
    callback=lambda ctx, _param, value: _say_version(ctx) if value else None,
)
def grader(lang: str | None) -> None:
    """`--lang` is taken out of the command line before click sees it; here it is only documented."""
    del lang


def invoke(argv: Sequence[str]) -> int:
    """Run the command that `argv` names; its exit code. Usage errors are raised in our words."""
    from click.shell_completion import shell_complete

    wanted = os.environ.get(COMPLETE)
    if wanted:
        return shell_complete(grader, {}, "grader", COMPLETE, wanted)
    try:
        with grader.make_context("grader", list(argv), obj=list(argv)) as context:
            result = grader.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        return error.exit_code
    except click.UsageError as error:
        raise translated(error) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return int(result or 0)


def _refuse_from_inside(args: list[str]) -> None:
    name = args[0]
    known = {command for _title, rows in SECTIONS for command, _does in rows}
    if examination() is None or name in FROM_INSIDE | ANYWHERE or name not in known:
        return
    raise UsageProblem(
        _("`grader {command}` does not run inside a lab").format(command=name),
        _("leave the lab's shell first (exit), then: grader {words}").format(words=" ".join(args)),
    )


def _say_version(ctx: click.Context) -> None:
    from grader.cli.bug import version

    click.echo(f"batchlab {version()}")
    ctx.exit()
