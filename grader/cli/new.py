"""`grader new`: a lab to begin with."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command


@click.command(
    cls=Command,
    help=N_(
        "Make the folder of a new lab, in English and Korean, with a solution and a wrong answer for each check: "
        "`grader lint` finds nothing in it, and `grader verify` proves it. Change it step by step."
    ),
)
@click.argument("lab", metavar="LAB")
@click.option("--title", metavar="TEXT", default="", help=N_("Its title, else made of its name."))
@click.option(
    "--addon",
    "addons",
    multiple=True,
    metavar="NAMES",
    help=N_(
        "Controllers its cluster has, a list or repeated: jobset, lws, kueue, each with a step; trainer, mpi-operator, "
        "training-operator."
    ),
)
@click.option(
    "--nodes", metavar="N|LIST", default="2", help=N_("Its nodes: a number, or names with GPUs: gpu-a:4,gpu-b:8.")
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=N_("Where its folder goes; without it into BATCHLAB_LABS, else here."),
)
def command(lab: str, title: str, addons: tuple[str, ...], nodes: str, to: Path | None) -> int:
    """Make it, and say what to do with it."""
    from grader.author.new import default_parent, make_lab, parse_addons, parse_nodes
    from grader.lab.catalogue import LABS_VARIABLE

    parent = default_parent() if to is None else to
    folder = make_lab(lab, parent, title=title, addons=parse_addons(addons), nodes=parse_nodes(nodes))
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        click.echo(str(path))
    own = os.environ.get(LABS_VARIABLE)
    known = own is not None and Path(own).resolve() == folder.resolve().parent
    word = lab if known or folder.resolve().parent == Path.cwd() else str(folder)
    for what, verb in (
        (_("mistakes in its files"), "lint"),
        (_("as a learner will see it"), "preview"),
        (_("proof on a real cluster"), "verify"),
    ):
        click.echo(f"grader {verb} {word}    # {what}", err=True)
    if not known:
        every = _("with BATCHLAB_LABS={folder}, every command knows it by its name")
        click.echo(every.format(folder=folder.resolve().parent), err=True)
    return 0
