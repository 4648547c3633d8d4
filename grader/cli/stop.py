"""`grader stop`: end a lab's cluster."""

from __future__ import annotations

import sys

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, lab_argument, no_lab
from grader.cli.common import which_lab


@click.command(
    cls=Command,
    help=N_(
        "Stop LAB (or the one that runs): its cluster is gone, your files and progress stay. "
        "Stopping what doesn't run is fine."
    ),
)
@lab_argument()
@click.option("--all", "everything", is_flag=True, help=N_("Stop every lab that runs."))
def command(lab: str | None, everything: bool) -> int:
    """Stop the sessions that are meant and say so, one line each."""
    from cluster import local
    from grader.cli.boot_display import BootDisplay
    from grader.session import lifecycle
    from grader.session.places import session_home, session_ids

    def runs(name: str) -> bool:
        return local.status(session_home(name)).state != "stopped"

    if everything and lab:
        raise UsageProblem(_("either a lab or --all"))
    running = [name for name in session_ids() if runs(name)]
    if not lab and not running:
        click.echo(_("no lab runs"))
        return 0
    labs = running if everything else [which_lab(lab, runs)]
    if lab:
        _must_exist(lab)
    for name in labs:
        if lifecycle.stop_session(name, on_event=BootDisplay(sys.stderr)):
            click.echo(_("{lab} stopped").format(lab=name))
        else:
            click.echo(_("{lab} was not running").format(lab=name))
    return 0


def _must_exist(lab: str) -> None:
    """A lab that has a session or is in the catalogue; a session may outlive its lab."""
    from grader.lab.catalogue import every_lab_id
    from grader.session.places import session_home

    if not session_home(lab).is_dir() and lab not in every_lab_id():
        raise no_lab(lab)
