"""`grader import`: labs from scenarios and challenges of other platforms, and what became of each thing in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, OneOf, json_option
from grader.cli.common import print_document

if TYPE_CHECKING:
    from grader.importing.flow import Import, Imported
    from grader.importing.ledger import Entry
    from grader.lab.problems import LabProblem

_FORMATS = ("killercoda", "katacoda", "iximiuz")
_MARKS = {"converted": "  ", "approximated": "~ ", "unmapped": "- "}


@click.command(
    cls=Command,
    help=N_(
        "Make labs of SOURCE: a Killercoda or Katacoda scenario, an iximiuz-style challenge, or a folder of them. "
        "Each thing of the source is told: converted, approximated (~) or not mapped (-), with the reason. "
        "Exit code: 0 all labs were written, 2 something could not be read or written."
    ),
)
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "wanted",
    type=OneOf(*_FORMATS),
    help=N_("Convert what is of this format only; without it, formats are recognised."),
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help=N_("Where the labs' folders are written (default: $BATCHLAB_LABS, else the current folder)."),
)
@click.option("--force", is_flag=True, help=N_("Write over labs of the same name; their folders are kept aside."))
@click.option("--brief", is_flag=True, help=N_("Leave out what was converted as it is."))
@json_option()
def command(source: Path, wanted: str | None, to: Path | None, *, force: bool, brief: bool, as_json: bool) -> int:
    """Convert, print the report, say by the exit code whether all of it is there."""
    from grader.importing.flow import import_source
    from grader.lab.catalogue import LABS_VARIABLE

    target = to or Path(os.environ.get(LABS_VARIABLE) or ".")
    done = import_source(source, target, wanted=wanted, force=force)
    if as_json:
        from grader.cli.importing_documents import ImportDocument

        print_document(ImportDocument, _document(done))
    else:
        click.echo("\n".join(_report(done, brief=brief)))
    return 0 if done.good else UsageProblem.exit_code


# -- for people -------------------------------------------------------------------------------------------


def _report(done: Import, *, brief: bool) -> list[str]:
    lines: list[str] = []
    for one in done.labs:
        lines += [*_lab_lines(one, brief=brief), ""]
    if done.broken:
        lines += [_("Could not be read:"), *(f"  {one}" for one in done.broken), ""]
    if done.ledger.entries:
        lines.append(_("Beside the labs:"))
        lines += [*_entry_lines(done.ledger.sorted(), brief=brief), ""]
    written = [one for one in done.labs if one.written]
    if written:
        folder = written[0].folder.parent
        lines.append(_("Look at them: BATCHLAB_LABS={folder} grader list").format(folder=folder))
    return lines[:-1] if lines and not lines[-1] else lines


def _lab_lines(one: Imported, *, brief: bool) -> list[str]:
    from grader.importing.ledger import Outcome

    ledger = one.lab.ledger
    counts = _("{converted} converted, {approximated} approximated, {unmapped} not mapped").format(
        **{outcome.value: ledger.count(outcome) for outcome in Outcome}
    )
    lines = [f"{one.lab.id}  {one.lab.title}", f"  {one.lab.place.file} ({one.format}): {counts}"]
    if one.written:
        lines.append("  " + _("written to {folder}").format(folder=one.folder))
    else:
        lines.append("  " + _("not written: {why}").format(why=one.problem))
        lines += [f"    {one.advice}"] if one.advice else []
    if one.kept:
        lines.append("  " + _("what stood there is now {folder}").format(folder=one.kept))
    lines += _entry_lines(ledger.sorted(), brief=brief)
    if one.lint:
        lines.append("  " + _("grader lint finds in it:"))
        lines += [f"    {problem}" for problem in one.lint]
    return lines


def _entry_lines(entries: list[Entry], *, brief: bool) -> list[str]:
    lines = []
    for entry in entries:
        if brief and entry.outcome == "converted":
            continue
        into = f" → {entry.into}" if entry.into else ""
        reason = f": {entry.reason}" if entry.reason else ""
        lines.append(_safe(f"  {_MARKS[entry.outcome]}{entry.place}  {entry.what}{into}{reason}"))
    return lines


def _safe(line: str) -> str:
    """A line of somebody else's words, without what a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in line)


# -- for programs -----------------------------------------------------------------------------------------


def _document(done: Import) -> dict[str, Any]:
    return {
        "source": str(done.source),
        "labs": [
            {
                "lab": one.lab.id,
                "title": one.lab.title,
                "format": one.format,
                "source": one.lab.place.file,
                "folder": str(one.folder),
                "written": one.written,
                "problem": one.problem,
                "kept": str(one.kept or ""),
                "things": list(map(_thing, one.lab.ledger.sorted())),
                "lint": list(map(_mistake, one.lint)),
            }
            for one in done.labs
        ],
        "unreadable": [
            {
                "file": one.place.file,
                "line": max(1, one.place.line),
                "column": one.column,
                "message": one.message,
            }
            for one in done.broken
        ],
        "things": list(map(_thing, done.ledger.sorted())),
    }


def _thing(entry: Entry) -> dict[str, Any]:
    return {
        "file": entry.place.file,
        "line": entry.place.line,
        "what": entry.what,
        "outcome": entry.outcome.value,
        "into": entry.into,
        "reason": entry.reason,
    }


def _mistake(problem: LabProblem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
    }
