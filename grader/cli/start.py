"""`grader start`: bring a lab up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option, lab_argument
from grader.cli.common import print_document, read_lab

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cluster.machine import BootEvent
    from cluster.timings import HostClock
    from grader.session.lifecycle import OnEvent, Started


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where the cluster's programs come from: the options that `start`, `reset` and `verify` share."""
    path = click.Path(path_type=Path)
    for name, text in (
        ("--from-bundle", N_("Take the programs from this bundle instead of building them.")),
        ("--bin-dir", N_("Take the programs from this folder.")),
    ):
        command = click.option(name, type=path, metavar="PATH", help=text)(command)
    cold = N_("Fill the cluster from nothing: neither use nor keep a snapshot of an earlier start.")
    return click.option("--cold", is_flag=True, help=cold)(command)


def timings_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--timings`, of `start` and `reset`."""
    return click.option("--timings", is_flag=True, help=N_("Print where the time went."))


@click.command(
    cls=Command,
    help=N_(
        "Start LAB: a Kubernetes cluster of its own, with what the lab needs. "
        "A lab that runs is left as it is; one whose processes died is started again."
    ),
)
@lab_argument(required=True)
@click.option("--dry-run", is_flag=True, help=N_("Print what would run, and start nothing."))
@timings_option()
@json_option()
@program_options
def command(
    lab: str, dry_run: bool, timings: bool, as_json: bool, bin_dir: Path | None, from_bundle: Path | None, cold: bool
) -> int:
    """Load the lab, start its session, say what to do next."""
    from cluster import local
    from cluster.binaries.progress import PlainProgress
    from cluster.timings import HostClock, turned_to
    from grader.cli.boot_display import BootDisplay
    from grader.cli.timings import LAB, PYTHON, timings_content
    from grader.session import lifecycle

    clock = HostClock(PYTHON)
    clock(turned_to(LAB))
    chosen = read_lab(lab)
    if dry_run:
        click.echo(lifecycle.dry_run(chosen, bin_dir=bin_dir, cold=cold), nl=False)
        return 0
    display = BootDisplay(sys.stderr)
    programs = lifecycle.Programs(bin_dir=bin_dir, bundle=from_bundle, on_progress=PlainProgress(sys.stderr), cold=cold)
    try:
        started = lifecycle.start_session(chosen, on_event=in_turn(clock, display), programs=programs)
    finally:
        display.end()
    if as_json:
        from grader.cli.documents import StartDocument

        took = timings_content(clock.parts(), local.timings(started.home))
        places = {"folder": str(started.home), "work": str(started.work)}
        content = {"lab": started.lab, "already": started.already, **places, "timings": took}
        print_document(StartDocument, content)
        return 0
    if started.already:
        click.echo(_("{lab} is already running").format(lab=chosen.id))
    else:
        click.echo(_("{lab} is ready after {seconds:.1f} s").format(lab=chosen.id, seconds=display.seconds))
    say_next(started)
    if timings:
        say_timings(clock, started.home)
    return 0


def in_turn(*receivers: OnEvent) -> OnEvent:
    """One receiver of boot events that passes each of them on to all of `receivers`."""

    def receive(event: BootEvent) -> None:
        for receiver in receivers:
            receiver(event)

    return receive


def say_next(started: Started) -> None:
    """What a learner does now."""
    click.echo(_("  your files   {folder}").format(folder=started.work))
    click.echo(_("  go there     grader shell {lab}").format(lab=started.lab))
    click.echo(_("  what to do   grader show {lab}").format(lab=started.lab))


def say_timings(clock: HostClock, home: Path) -> None:
    """Where the time went: of this command, and of the boot that brought the lab up."""
    from cluster import local
    from grader.cli.timings import render_timings
    from grader.report.layout import width_of

    click.echo()
    click.echo(render_timings(clock.parts(), local.timings(home), width=width_of(sys.stdout)), nl=False)
