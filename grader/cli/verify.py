"""`grader verify`: prove labs on a real cluster."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, LabName, json_option
from grader.cli.folders import as_ids
from grader.cli.start import program_options


@click.command(
    cls=Command,
    help=N_(
        "Prove LABS (ids or folders; all if none is named) on a cluster of their own: untouched nothing passes, the "
        "solution passes, each wrong answer fails its check, reset begins again. Exit code: 0 proved, 1 a defect."
    ),
)
@click.argument("labs", nargs=-1, type=LabName(), metavar="[LAB...]")
@click.option("--all", "every", is_flag=True, help=N_("Every lab; the same as naming none."))
@click.option("--case", "cases", multiple=True, metavar="NAME", help=N_("Only this wrong answer; repeatable."))
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 64),
    metavar="N",
    help=N_("So many labs side by side. Without it: one for each core, as far as there is memory."),
)
@json_option()
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write JUnit XML to FILE."))
@click.option(
    "--keep",
    is_flag=True,
    help=N_("Stop at the first part that fails, leave the lab running, say how to enter it."),
)
@program_options
def command(
    labs: tuple[str, ...],
    every: bool,
    cases: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
    junit: Path | None,
    keep: bool,
    bin_dir: Path | None,
    from_bundle: Path | None,
    cold: bool,
) -> int:
    """Read all labs before the first is proved; the worst exit code counts."""
    from cluster.binaries import cache
    from cluster.binaries.progress import PlainProgress
    from cluster.host import Host
    from grader.cli.bug import report_bug
    from grader.cli.verify_display import VerifyDisplay
    from grader.lab.catalogue import lab_ids
    from grader.session.lifecycle import Programs
    from grader.verify import plan_verification
    from grader.verify.documents import render_verify_junit
    from grader.verify.room import jobs_for
    from grader.verify.together import verify_labs

    if every and labs:
        raise UsageProblem(_("--all or names of labs, not both"))
    chosen = list(dict.fromkeys(as_ids(labs))) or lab_ids()
    if cases and len(chosen) != 1:
        raise UsageProblem(_("--case goes with one lab"))
    plans = {lab: plan_verification(lab, cases or None, keep=keep) for lab in chosen}
    # Found or built once, here, where a person sees how far it is.
    cache.ensure(bin_dir, from_bundle, PlainProgress(sys.stderr))
    programs = Programs(bin_dir=bin_dir, bundle=from_bundle, cold=cold)
    jobs = min(len(plans), jobs or jobs_for([plan.lab for plan in plans.values()], Host()))
    display = VerifyDisplay(chosen, jobs, as_json=as_json)
    argv = click.get_current_context().find_root().obj
    try:
        reports = verify_labs(plans, jobs, programs, display, lambda error: report_bug(error, argv))
        display.close()
    finally:
        display.end()
    if junit:
        _write(junit, render_verify_junit(*reports))
    return max((report.exit_code for report in reports), default=0)


def _write(path: Path, text: str) -> None:
    """By temp file and rename: a CI system must not read half a file."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise UsageProblem(_("can't write {path}: {why}").format(path=path, why=error.strerror)) from error
