"""`grader preview`: a lab as the learner will see it, while it is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from grader.cli.commands import N_, Command, LabName, no_lab
from grader.cli.folders import as_ids

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    cls=Command,
    help=N_(
        "Show LAB (an id or a folder) as the learner will see it, anew whenever a file is saved, with the author's "
        "view beside it: what each check expects, with the values of its session if there is one, and what was last "
        "found. Exit code: 0, or 2 where the lab can't be read."
    ),
)
@click.argument("lab", type=LabName())
@click.option("--plain", is_flag=True, help=N_("Print it once, as text; so it is where there is no terminal."))
def command(lab: str, plain: bool) -> int:
    """In the application where there is a terminal, else once."""
    from grader.lab.catalogue import labs_dir

    [lab_id] = as_ids([lab])
    folder = labs_dir() / lab_id
    if not folder.is_dir():
        raise no_lab(lab)
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _print(folder)
    from grader.cli.tui import application

    return application(["--preview", lab_id])


def _print(folder: Path) -> int:
    from grader.author.preview import AuthorsView, authors_view, last_results, read_preview
    from grader.report import colours, width_of
    from grader.report.preview import render_preview
    from grader.session.places import session_home

    preview = read_preview(folder)
    view = AuthorsView()
    if preview.lab is not None:
        home = session_home(preview.lab.id)
        view = authors_view(preview.lab, home, last_results(home))
    width = width_of(sys.stdout)
    click.echo(render_preview(preview, view, width=width, colour=colours(sys.stdout)), nl=False)
    return 0 if preview.lab is not None else UsageProblem.exit_code
