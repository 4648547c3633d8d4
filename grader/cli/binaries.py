"""`grader binaries`: the programs that clusters are made of."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, Group, json_option
from grader.cli.common import print_document

BUILD, LIST, BUNDLE = (
    N_("Build them into the cache (or unpack a bundle there); quick when they are there already."),
    N_("Each program with its version, and whether it is there."),
    N_("Write all of them to one file, for machines that can't build."),
)
_PATH = click.Path(path_type=Path)


@click.group(
    cls=Group,
    name="binaries",
    sections=((N_("Commands"), (("build", BUILD), ("list", LIST), ("bundle", BUNDLE))),),
    help=N_("The pinned programs that clusters are made of: built once, shared by all labs."),
)
def command() -> None:
    """The group of these three."""


@command.command("build", cls=Command, help=BUILD)
@click.option("--from-bundle", type=_PATH, metavar="FILE", help=N_("Unpack this bundle instead of building."))
def build(from_bundle: Path | None) -> int:
    """Make sure of them and say where they are."""
    from cluster.binaries.cache import ensure
    from cluster.binaries.progress import PlainProgress

    click.echo(ensure(None, from_bundle, PlainProgress(sys.stderr)))
    return 0


@command.command("list", cls=Command, help=LIST)
@json_option()
def list_programs(as_json: bool) -> int:
    """Print the listing."""
    from cluster.binaries.cache import listing
    from grader.report.layout import pad

    found = listing()
    if as_json:
        from grader.cli.documents import BinariesDocument

        programs = [
            {"name": row.name, "version": row.version, "module": row.module, "size": row.size} for row in found.programs
        ]
        print_document(
            BinariesDocument,
            {
                "lock": found.lock,
                "folder": str(found.folder) if found.folder else None,
                "built": found.built,
                "go": found.go or None,
                "size": found.size,
                "programs": programs,
            },
        )
        return 0
    names = max((len(row.name) for row in found.programs), default=0)
    versions = max((len(row.version) for row in found.programs), default=0)
    for row in found.programs:
        size = _("{size} MB").format(size=round(row.size / 1e6)) if row.size else _("not built")
        click.echo(f"{pad(row.name, names)}  {pad(row.version, versions)}  {size}")
    if found.folder:
        click.echo(_("{size} MB in {folder}").format(size=round(found.size / 1e6), folder=found.folder))
    else:
        click.echo(_("not built yet: grader binaries build"))
    return 0


@command.command("bundle", cls=Command, help=BUNDLE)
@click.argument("file", type=_PATH, required=False)
def bundle(file: Path | None) -> int:
    """Make sure of them, write the archive, say its digest."""
    from cluster.binaries import bundle as archive
    from cluster.binaries.cache import ensure
    from cluster.binaries.lock import read_lock
    from cluster.binaries.progress import PlainProgress

    progress = PlainProgress(sys.stderr)
    target = file or Path(archive.default_name(read_lock()))
    written = archive.bundle(target, ensure(None, None, progress), progress)
    click.echo(f"{written.path}  {round(written.size / 1e6)} MB  sha256:{written.sha256}")
    return 0
