"""`grader start`: bring a lab up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, lab_argument
from grader.cli.common import read_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from grader.session.lifecycle import Started


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where the cluster's programs come from: the options that `start`, `reset` and `verify` share."""
    path = click.Path(path_type=Path)
    for name, text in (
        ("--from-bundle", N_("Take the programs from this bundle instead of building them.")),
        ("--bin-dir", N_("Take the programs from this folder.")),
    ):
        command = click.option(name, type=path, metavar="PATH", help=text)(command)
    return command


@click.command(
    cls=Command,
    help=N_(
        "Start LAB: a Kubernetes cluster of its own, with what the lab needs. "
        "A lab that runs is left as it is; one whose processes died is started again."
    ),
)
@lab_argument(required=True)
@click.option("--dry-run", is_flag=True, help=N_("Print what would run, and start nothing."))
@click.option("--timings", is_flag=True, help=N_("Print how long each part took."))
@program_options
def command(lab: str, dry_run: bool, timings: bool, bin_dir: Path | None, from_bundle: Path | None) -> int:
    """Load the lab, start its session, say what to do next."""
    from cluster.binaries.progress import PlainProgress
    from grader.cli.boot_display import BootDisplay
    from grader.session import lifecycle

    chosen = read_lab(lab)
    if dry_run:
        click.echo(lifecycle.dry_run(chosen, bin_dir=bin_dir), nl=False)
        return 0
    display = BootDisplay(sys.stderr)
    programs = lifecycle.Programs(bin_dir=bin_dir, bundle=from_bundle, on_progress=PlainProgress(sys.stderr))
    try:
        started = lifecycle.start_session(chosen, on_event=display, programs=programs)
    finally:
        display.end()
    if started.already:
        click.echo(_("{lab} is already running").format(lab=chosen.id))
    else:
        click.echo(_("{lab} is ready after {seconds:.1f} s").format(lab=chosen.id, seconds=display.seconds))
    say_next(started)
    if timings:
        say_timings(display.took)
    return 0


def say_next(started: Started) -> None:
    """What a learner does now."""
    click.echo(_("  your files   {folder}").format(folder=started.work))
    click.echo(_("  go there     grader shell {lab}").format(lab=started.lab))
    click.echo(_("  what to do   grader show {lab}").format(lab=started.lab))


def say_timings(took: Mapping[str, float]) -> None:
    """Each task's seconds, the longest first."""
    for task, seconds in sorted(took.items(), key=lambda item: -item[1]):
        click.echo(_("{seconds:7.2f} s  {task}").format(seconds=seconds, task=task))
