"""`grader lint`: mistakes in the files of labs, and in articles, courses and the glossary."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, LabName, OneOf, json_option, no_lab
from grader.cli.common import print_document
from grader.cli.folders import folder_of

if TYPE_CHECKING:
    from grader.lab.problems import LabProblem

CONTENT = "content"
"""The word for all articles, courses and the glossary: they name one another, so they are looked at together."""


@click.command(
    cls=Command,
    help=N_(
        "Find mistakes in the files of LABS (ids or folders) and, by the word content, in articles, courses and "
        "the glossary; in all of them if none is named. Each is told with file, line and column. "
        "Exit code: 0 none, 2 some."
    ),
)
@click.argument("labs", nargs=-1, type=LabName(), metavar="[LAB...]")
@click.option(
    "--format",
    "form",
    type=OneOf("text", "json", "sarif"),
    help=N_("How mistakes are written; sarif is for code hosts and editors. Without it: text."),
)
@json_option()
def command(labs: tuple[str, ...], form: str | None, as_json: bool) -> int:
    """Lint each folder and print what was found."""
    if as_json and form not in (None, "json"):
        raise UsageProblem(_("--json or --format {form}, not both").format(form=form))
    form = "json" if as_json else form or "text"
    from grader.content.catalogue import content_dir
    from grader.content.lint import lint_content
    from grader.lab.catalogue import LABS_VARIABLE, lab_ids
    from grader.lab.lint import lint_lab

    with_content = CONTENT in labs
    folders = [_folder(lab) for lab in labs if lab != CONTENT]
    if not labs:
        folders = [_folder(lab) for lab in lab_ids()]
        # An author's own labs come without the articles of ours.
        with_content = not os.environ.get(LABS_VARIABLE)
    found = [(folder, lint_lab(folder)) for folder in folders]
    of_content = lint_content(content_dir()) if with_content else []
    problems = [problem for each in (*(each for _folder_, each in found), of_content) for problem in each]
    if form == "sarif":
        from grader.cli.bug import version
        from grader.report.sarif import render_sarif

        click.echo(render_sarif(problems, version=version(), here=Path.cwd()), nl=False)
    elif form == "json":
        from grader.cli.documents import LintDocument

        content = {"folder": str(content_dir()), "problems": _mistakes(of_content)} if with_content else None
        print_document(LintDocument, {"labs": [_lab(folder, each) for folder, each in found], CONTENT: content})
    elif problems:
        click.echo("\n".join(map(str, problems)))
    else:
        names = [*(folder.resolve().name for folder in folders), *([CONTENT] if with_content else [])]
        click.echo(_("no mistakes in {labs}").format(labs=", ".join(names)))
    return UsageProblem.exit_code if problems else 0


def _folder(word: str) -> Path:
    """A folder that was named, or the folder of a lab's id."""
    from grader.lab.catalogue import lab_folder, lab_ids, labs_dir

    if "/" in word and not Path(word).is_dir() and (kept := lab_folder(word)) is not None:
        return kept  # of a collection
    if (folder := folder_of(word)) is not None:
        return folder
    if word not in lab_ids():
        raise no_lab(word)
    return labs_dir() / word


def _lab(folder: Path, problems: list[LabProblem]) -> dict[str, Any]:
    return {"lab": folder.resolve().name, "folder": str(folder), "problems": _mistakes(problems)}


def _mistakes(problems: list[LabProblem]) -> list[dict[str, Any]]:
    return [{"file": one.file, "line": one.line, "column": one.column, "message": one.message} for one in problems]
