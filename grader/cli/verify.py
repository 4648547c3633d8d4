"""`grader verify`: prove labs on a real cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, LabName, json_option
from grader.cli.common import read_lab
from grader.cli.start import program_options

if TYPE_CHECKING:
    from grader.session.lifecycle import Programs
    from grader.verify import VerifyEvent, VerifyReport


@click.command(
    cls=Command,
    help=N_(
        "Prove LABS (all if none is named) on a cluster of their own: untouched nothing passes, the solution "
        "passes, each wrong answer fails its check, reset begins again. Exit code: 0 proved, 1 a defect."
    ),
)
@click.argument("labs", nargs=-1, type=LabName(), metavar="[LAB...]")
@click.option("--all", "every", is_flag=True, help=N_("Every lab; the same as naming none."))
@click.option("--case", "cases", multiple=True, metavar="NAME", help=N_("Only this wrong answer; repeatable."))
@json_option()
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write JUnit XML to FILE."))
@program_options
def command(
    labs: tuple[str, ...],
    every: bool,
    cases: tuple[str, ...],
    as_json: bool,
    junit: Path | None,
    bin_dir: Path | None,
    from_bundle: Path | None,
    cold: bool,
) -> int:
    """Verify one lab after the other; the worst exit code counts."""
    from cluster.binaries.progress import PlainProgress
    from grader.lab.catalogue import lab_ids
    from grader.session.lifecycle import Programs
    from grader.verify.documents import render_verify_junit

    if every and labs:
        raise UsageProblem(_("--all or names of labs, not both"))
    chosen = list(labs) or lab_ids()
    if cases and len(chosen) != 1:
        raise UsageProblem(_("--case goes with one lab"))
    programs = Programs(bin_dir=bin_dir, bundle=from_bundle, on_progress=PlainProgress(sys.stderr), cold=cold)
    reports = [_verify(lab, cases, programs, as_json=as_json) for lab in chosen]
    if junit:
        _write(junit, render_verify_junit(*reports))
    return max((report.exit_code for report in reports), default=0)


def _verify(lab_id: str, cases: tuple[str, ...], programs: Programs, *, as_json: bool) -> VerifyReport:
    from grader.cli.boot_display import BootDisplay
    from grader.report import colours, width_of
    from grader.verify import verify_lab
    from grader.verify.documents import render_verify_json
    from grader.verify.driver import SessionDriver
    from grader.verify.text import part_title, render_part, render_summary

    lab = read_lab(lab_id)
    display = BootDisplay(sys.stderr)

    def show(event: VerifyEvent) -> None:
        display.end()
        if event.part is not None and not as_json:
            colour = colours(sys.stdout)
            click.echo(render_part(event.part, width=width_of(sys.stdout), colour=colour), nl=False)
        elif event.part is None:
            title = part_title(event.phase, event.name)
            display.live(f"[{event.number}/{event.total}] {lab.id}: {title} …")

    try:
        with SessionDriver(lab, display, programs) as driver:
            report = verify_lab(lab_id, driver, show, cases or None)
    finally:
        display.end()
    summary = render_summary(report, width=width_of(sys.stdout))
    click.echo(render_verify_json(report) if as_json else f"\n{summary}", nl=False)
    return report


def _write(path: Path, text: str) -> None:
    """By temp file and rename: a CI system must not read half a file."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageProblem(_("can't write {path}: {why}").format(path=path, why=error.strerror)) from error
