"""`grader report`: progress over all labs, with a record that shows whoever changes it; and whether it was changed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, Group, json_option
from grader.cli.common import all_attempts, books
from grader.session.here import examination
from grader.session.places import session_home

if TYPE_CHECKING:
    from grader.record.seal import Examined

VERIFY = N_("Whether reports are as they were written: 0 all are, 1 one was changed, 2 one is no report.")


@click.group(
    cls=Group,
    name="report",
    invoke_without_command=True,
    sections=((N_("Commands"), (("verify", VERIFY),)),),
    help=N_(
        "Progress over all labs: steps passed, time at work, attempts, hints. "
        "--export writes a report to hand in: it holds the record of what was checked, signed entry by entry."
    ),
)
@json_option()
@click.option("--csv", "as_csv", is_flag=True, help=N_("The result as CSV, one line for each lab."))
@click.option(
    "--export", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write the report, as --json, to FILE.")
)
@click.option("--name", metavar="NAME", help=N_("The name in the report, from now on (default: your account's)."))
@click.pass_context
def command(ctx: click.Context, as_json: bool, as_csv: bool, export: Path | None, name: str | None) -> int:
    """Put the sessions' books together and print them in the form asked for."""
    if ctx.invoked_subcommand is not None:
        if as_json or as_csv or export or name:
            raise UsageProblem(_("options of the report stand before no other command"))
        return 0
    from grader import report
    from grader.lab.catalogue import every_lab_id

    if as_json and as_csv:
        raise UsageProblem(_("either --json or --csv"))
    if examination() is not None and (export or name):
        raise UsageProblem(
            _("a report can't be signed inside a lab"), _("leave the lab's shell first (exit), and do it there")
        )
    if name is not None:
        from grader.record.learner import keep_name

        keep_name(name)
    rows = report.progress_rows(every_lab_id(), books(), all_attempts())
    if as_json or export:
        text = report.render_progress_json(rows, at=time.time(), sign=None if examination() else _signed)
        if export:
            _write(export, text)
        if as_json:
            click.echo(text, nl=False)
        elif export:
            click.echo(_("the report is in {file}").format(file=export))
        return 0
    if as_csv:
        click.echo(report.render_progress_csv(rows), nl=False)
    else:
        table = report.render_progress(rows, width=report.width_of(sys.stdout), colour=report.colours(sys.stdout))
        click.echo(table, nl=False)
    return 0


@command.command("verify", cls=Command, help=VERIFY)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@json_option()
def verify(files: tuple[Path, ...], as_json: bool) -> int:
    """Examine each file and say what was found."""
    from grader.record.files import read_report
    from grader.record.seal import NoReport, examine_report
    from grader.report.record_text import ReportVerified, content_of, render_examined, render_refused

    if examination() is not None:
        raise UsageProblem(_("this does not run inside a lab"), _("leave the lab's shell first (exit)"))
    code, contents = 0, []
    for file in files:
        try:
            found: Examined | None = examine_report(read_report(file))
            why = ""
        except NoReport as refused:
            found, why = None, str(refused)
        if found is None:
            code = 2
        elif found.faults or not found.recorded:
            code = max(code, 1)
        if as_json:
            contents.append(content_of(file, found, why))
        else:
            text = render_examined(file, found) if found else render_refused(file, why)
            click.echo(text, nl=False)
    if as_json:
        from grader.cli.common import print_document

        print_document(ReportVerified, {"exit_code": code, "reports": contents})
    return code


def _signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each session's record, signed by the session's key and by the learner's."""
    from grader.record.keys import learner_key
    from grader.record.learner import learner_name
    from grader.record.seal import sealed, with_record

    key = learner_key()
    learner = {"name": learner_name(), "key": key.public}
    labs = [with_record(part, session_home(part["lab"]), learner) for part in document["labs"]]
    return sealed({**document, "learner": learner, "labs": labs}, key)


def _write(path: Path, text: str) -> None:
    from grader.progress.files import write_whole

    try:
        write_whole(path.resolve(), text)
        path.chmod(0o644)  # it is made to be given away
    except EnvironmentProblem as problem:
        raise EnvironmentProblem(problem.message) from problem  # without the advice, which is about progress
