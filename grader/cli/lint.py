"""`grader lint`: mistakes in the files of labs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, LabName, json_option, no_lab
from grader.cli.common import print_document

if TYPE_CHECKING:
    from grader.lab.problems import LabProblem


@click.command(
    cls=Command,
    help=N_(
        "Find mistakes in the files of LABS (ids or folders; all labs if none is named), with file, line "
        "and column. Exit code: 0 none, 2 some."
    ),
)
@click.argument("labs", nargs=-1, type=LabName(), metavar="[LAB...]")
@json_option()
def command(labs: tuple[str, ...], as_json: bool) -> int:
    """Lint each folder and print what was found."""
    from grader.lab.catalogue import lab_ids
    from grader.lab.lint import lint_lab

    folders = [_folder(lab) for lab in labs or lab_ids()]
    found = [(folder, lint_lab(folder)) for folder in folders]
    problems = [problem for _folder_, each in found for problem in each]
    if as_json:
        from grader.cli.documents import LintDocument

        print_document(LintDocument, {"labs": [_content(folder, each) for folder, each in found]})
    elif problems:
        click.echo("\n".join(map(str, problems)))
    else:
        click.echo(_("no mistakes in {labs}").format(labs=", ".join(folder.resolve().name for folder in folders)))
    return UsageProblem.exit_code if problems else 0


def _folder(word: str) -> Path:
    """A folder that was named, or the folder of a lab's id."""
    from grader.lab.catalogue import lab_ids, labs_dir

    if "/" in word or (Path(word) / "lab.md").is_file():
        folder = Path(word)
        if not folder.is_dir():
            raise UsageProblem(_("{folder} is not a folder").format(folder=folder))
        return folder
    if word not in lab_ids():
        raise no_lab(word)
    return labs_dir() / word


def _content(folder: Path, problems: list[LabProblem]) -> dict[str, Any]:
    return {
        "lab": folder.resolve().name,
        "folder": str(folder),
        "problems": [
            {"file": one.file, "line": one.line, "column": one.column, "message": one.message} for one in problems
        ],
    }
