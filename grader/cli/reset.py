"""`grader reset`: begin a lab again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, lab_argument
from grader.cli.common import read_lab, which_lab
from grader.cli.start import in_turn, program_options, say_next, say_timings, timings_option

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    cls=Command,
    help=N_(
        "Begin LAB (or the one that runs) again: a new cluster, an empty work folder, nothing passed yet. "
        "Your files are moved aside, the last three sets are kept."
    ),
)
@lab_argument()
@click.option("--new-values", is_flag=True, help=N_("Draw the lab's values anew, where it has any."))
@timings_option()
@program_options
def command(
    lab: str | None, new_values: bool, timings: bool, bin_dir: Path | None, from_bundle: Path | None, cold: bool
) -> int:
    """Reset the session and say where the files went."""
    from cluster import local
    from cluster.binaries.progress import PlainProgress
    from cluster.timings import HostClock, turned_to
    from grader.cli.boot_display import BootDisplay
    from grader.cli.timings import LAB, PYTHON
    from grader.session import lifecycle
    from grader.session.places import session_home

    clock = HostClock(PYTHON)
    clock(turned_to(LAB))
    chosen = read_lab(which_lab(lab, lambda name: local.status(session_home(name)).state != "stopped"))
    if new_values and not chosen.declared:
        raise UsageProblem(_("{lab} has no values to be drawn").format(lab=chosen.id))
    display = BootDisplay(sys.stderr)
    programs = lifecycle.Programs(bin_dir=bin_dir, bundle=from_bundle, on_progress=PlainProgress(sys.stderr), cold=cold)
    try:
        started = lifecycle.reset_session(
            chosen, on_event=in_turn(clock, display), programs=programs, new_values=new_values
        )
    finally:
        display.end()
    click.echo(_("{lab} begins again, ready after {seconds:.1f} s").format(lab=chosen.id, seconds=display.seconds))
    if started.kept_work:
        click.echo(_("  earlier work {folder}").format(folder=started.kept_work))
    say_next(started)
    if timings:
        say_timings(clock, started.home)
    return 0
