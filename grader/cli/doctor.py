"""`grader doctor`: what this machine can do, what it lacks, and the command that installs it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option
from grader.cli.common import print_document

if TYPE_CHECKING:
    from cluster.doctor import Diagnosis, Verdict


@click.command(
    cls=Command,
    help=N_(
        "Look at this machine: what labs need and what building needs, and the one command that installs "
        "what is missing. Exit code: 0 labs can run, 3 they can't."
    ),
)
@json_option()
def command(as_json: bool) -> int:
    """Diagnose and print."""
    from cluster.doctor import diagnose

    diagnosis = diagnose()
    if as_json:
        from grader.cli.documents import DoctorDocument

        print_document(DoctorDocument, _content(diagnosis))
    else:
        click.echo(_page(diagnosis), nl=False)
    labs = [diagnosis.verdict("fake-nodes"), diagnosis.verdict("real-node")]
    return EnvironmentProblem.exit_code if any(verdict.state == "not-ready" for verdict in labs) else 0


def _page(diagnosis: Diagnosis) -> str:
    from rich.cells import cell_len

    from grader.report.layout import hanging, pad, width_of, wrap

    width = width_of(sys.stdout)
    names = 2 + max(4, *(cell_len(finding.name) for finding in diagnosis.findings))
    lines = []
    for finding in diagnosis.findings:
        word = _("OK") if finding.ok else _("LACKS")
        column = 9 + names
        texts = wrap(finding.detail, width - column)
        if not finding.ok and finding.remedy:
            texts += wrap(f"→ {finding.remedy}", width - column)
        lines += hanging(pad(word, 7) + finding.name, texts, 1, column)
    lines += ["", *(line for verdict in diagnosis.verdicts for line in wrap(_sentence(verdict), width))]
    if diagnosis.install:
        lines += ["", _("what is missing is installed by:"), f"  {diagnosis.install}"]
    return "\n".join(lines) + "\n"


def _sentence(verdict: Verdict) -> str:
    what = {
        "fake-nodes": _("labs on fake nodes"),
        "real-node": _("labs with a real node"),
        "build": _("building the programs"),
    }[verdict.purpose]
    state = {
        "ready": _("can be done"),
        "needs-root": _("need root"),
        "not-ready": _("can't be done"),
    }[verdict.state]
    blocked = f" ({', '.join(verdict.blocked_by)})" if verdict.blocked_by else ""
    return f"{what}: {state}{blocked}"


def _content(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "verdicts": [
            {"purpose": one.purpose, "state": one.state, "blocked_by": one.blocked_by} for one in diagnosis.verdicts
        ],
        "findings": [
            {
                "name": one.name,
                "ok": one.ok,
                "detail": one.detail,
                "remedy": one.remedy,
                "needed_for": sorted(one.needed_for),
            }
            for one in diagnosis.findings
        ],
        "install": diagnosis.install,
    }
