"""`grader class`: the reports of a class, put side by side."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option

if TYPE_CHECKING:
    from grader.classroom.figures import Plan


@click.command(
    cls=Command,
    name="class",
    help=N_(
        "Who is where, and which steps stop most people: from the reports of learners (`grader report --export`) "
        "in FOLDER, at any depth. Reports that were changed or handed in twice are named and left out."
    ),
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="FOLDER")
@json_option()
@click.option("--csv", "as_csv", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write a table to FILE."))
@click.option(
    "--html", "page", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write a page to print to FILE.")
)
def command(folder: Path, as_json: bool, as_csv: Path | None, page: Path | None) -> int:
    """Read the folder, put it in figures, and write the forms asked for."""
    from grader.classroom import forms
    from grader.classroom.figures import figures, other_texts
    from grader.classroom.page import render_page
    from grader.classroom.reading import read_class
    from grader.cli.common import print_document
    from grader.report.layout import WIDEST, colours, width_of

    now = time.time()
    found = read_class(folder, _tick)
    if not found.reports and not found.left_out:
        raise UsageProblem(
            _("no report in {folder}").format(folder=folder),
            _("learners write one with: {command}").format(command="grader report --export FILE.json"),
        )
    plans = _plans()
    labs = figures(found, plans)
    odd = other_texts(labs, plans)
    if as_csv:
        _write(as_csv, forms.render_class_csv(labs))
    if page:
        _write(page, render_page(found, labs, odd, now))
    if as_json:
        print_document(forms.ClassDocument, forms.class_content(found, labs, odd, now))
        return 0
    width = width_of(sys.stdout, WIDEST)
    click.echo(forms.render_class(found, labs, odd, width=width, colour=colours(sys.stdout)), nl=False)
    return 0


def _tick(done: int, total: int) -> None:
    """How far the reading is, on a terminal, where it takes seconds."""
    if sys.stderr.isatty() and total > 100:
        text = "" if done == total else _("{done} of {total} reports read").format(done=done, total=total)
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _plans() -> dict[str, Plan]:
    """What is known here of the labs, in the order to do them; one whose files are wrong is not known."""
    from cluster.i18n import language
    from grader.classroom.figures import Plan
    from grader.lab.catalogue import lab_ids, load_lab
    from grader.record.telling import content_of

    plans = {}
    for lab_id in lab_ids():
        try:
            lab = load_lab(lab_id, language())
        except UsageProblem:
            continue
        steps = {step.id: step.title for step in lab.steps}
        plans[lab_id] = Plan(title=lab.title, steps=steps, content=content_of(lab.folder))
    return plans


def _write(path: Path, text: str) -> None:
    from cluster.errors import EnvironmentProblem
    from grader.progress.files import write_whole

    try:
        write_whole(path.resolve(), text)
        path.chmod(0o644)  # it is made to be read by others
    except EnvironmentProblem as problem:
        raise EnvironmentProblem(problem.message) from problem  # without the advice, which is about progress
