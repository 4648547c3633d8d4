"""`grader report`: progress over all labs."""

from __future__ import annotations

import sys
import time

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option
from grader.cli.common import all_attempts, books


@click.command(
    cls=Command,
    help=N_("Progress over all labs: steps passed, time at work, attempts, hints. --csv and --json export it."),
)
@json_option()
@click.option("--csv", "as_csv", is_flag=True, help=N_("The result as CSV, one line for each lab."))
def command(as_json: bool, as_csv: bool) -> int:
    """Put the sessions' books together and print them in the form asked for."""
    from cluster.errors import UsageProblem
    from grader import report
    from grader.lab.catalogue import every_lab_id

    if as_json and as_csv:
        raise UsageProblem(_("either --json or --csv"))
    rows = report.progress_rows(every_lab_id(), books(), all_attempts())
    if as_json:
        text = report.render_progress_json(rows, at=time.time())
    elif as_csv:
        text = report.render_progress_csv(rows)
    else:
        text = report.render_progress(rows, width=report.width_of(sys.stdout), colour=report.colours(sys.stdout))
    click.echo(text, nl=False)
    return 0
