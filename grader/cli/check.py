"""`grader check`: the verdict on what the learner did.

On the host this only finds the session and has its examiner run the same command; there (`examination()`), the
verdict is made by `grader.check_session` and written here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option, lab_argument
from grader.cli.common import ask_examiner, note, read_lab, step_of, which_lab
from grader.session.here import Examination, examination

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.check_session import Checked
    from grader.lab.model import Lab
    from grader.report import RunReport
    from grader.results import Result

SECONDS_APART = 1.0
"""The least between two looks of `--watch --json`: whoever draws them draws at most once a second."""


@click.command(
    cls=Command,
    help=N_(
        "Look at what you did in LAB (or the one that runs), step by step. "
        "Exit code: 0 all passed, 1 not yet, 3 the cluster failed, 4 the grader failed."
    ),
)
@lab_argument()
@click.option("--step", metavar="N|ID", help=N_("Only this step."))
@click.option("--watch", is_flag=True, help=N_("Look again whenever something changes, until all passes."))
@click.option("--explain", "--all", is_flag=True, help=N_("Tell every check, what was read for it, and what decided."))
@json_option()
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write JUnit XML to FILE, too."))
def command(lab: str | None, step: str | None, watch: bool, explain: bool, as_json: bool, junit: Path | None) -> int:
    """Ask the examiner, or, inside it, make the verdict and print it."""
    if watch and junit:
        raise UsageProblem(_("--watch never ends with a file: leave out --junit"))
    here = examination()
    if here is None:
        return ask_examiner(which_lab(lab))
    chosen = read_lab(which_lab(lab))
    from grader.session.values import refuse_examples

    refuse_examples(chosen)
    steps = [step_of(chosen, step).id] if step else None
    if watch:
        return (
            _watch_as_json(here, chosen, steps, explain=explain)
            if as_json
            else _watch(here, chosen, steps, explain=explain)
        )
    from grader.check_session import check_session

    ticker = _Ticker(sum(len(one.checks) for one in chosen.steps if steps is None or one.id in steps))
    try:
        checked = check_session(here.home, chosen, steps=steps, anew=explain, on_result=ticker)
    finally:
        ticker.end()
    _print(checked, explain=explain, as_json=as_json)
    if junit:
        _write_junit(here, checked.report)
    return checked.report.exit_code


class _Ticker:
    """How far a run is, on a terminal: some checks wait for a minute, and silence looks like a hang."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._live = sys.stderr.isatty()
        self._show()

    def __call__(self, _result: Result) -> None:
        self._done += 1
        self._show()

    def end(self) -> None:
        """Leave a clean line."""
        self._write("")

    def _show(self) -> None:
        self._write(_("{done} of {total} checks looked at").format(done=self._done, total=self._total))

    def _write(self, text: str) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()


def _watch(here: Examination, lab: Lab, steps: list[str] | None, *, explain: bool) -> int:
    """Redraw the verdict whenever something changed; ends when all has passed, or by Ctrl-C."""
    shown = ""
    for checked in _looks(here, lab, steps, anew=explain):
        text = _text(checked.report, explain=explain)
        if text != shown:
            clear = "\x1b[H\x1b[2J" if sys.stdout.isatty() else "\n" if shown else ""
            sys.stdout.write(clear + text)
            sys.stdout.flush()
            shown = text
    return 0


def _watch_as_json(here: Examination, lab: Lab, steps: list[str] | None, *, explain: bool) -> int:
    """One document a line for each look, for programs that follow; ends as `_watch` does."""
    from grader.report.json import document

    said: tuple[str, ...] = ()
    for checked in _looks(here, lab, steps, apart=SECONDS_APART, anew=explain):
        sys.stdout.write(document(checked.report).model_dump_json(by_alias=True) + "\n")
        sys.stdout.flush()
        if checked.notes != said:
            said = checked.notes
            for sentence in said:
                note(sentence)
    return 0


def _looks(
    here: Examination, lab: Lab, steps: list[str] | None, *, anew: bool, apart: float = 0.0
) -> Iterator[Checked]:
    """A look now and whenever something changed, until one in which all has passed."""
    from grader.check_session import check_session
    from grader.session.changes import Changes

    with Changes(here.home) as changes:
        while True:
            changes.looking()
            checked = check_session(here.home, lab, steps=steps, patience=False, counted=False, anew=anew)
            yield checked
            if checked.report.exit_code == 0:
                return
            changes.wait(untraced=checked.untraced, apart=apart)


def _print(checked: Checked, *, explain: bool, as_json: bool) -> None:
    from grader.report import render_json

    sys.stdout.write(render_json(checked.report) if as_json else _text(checked.report, explain=explain))
    sys.stdout.flush()
    for sentence in checked.notes:
        note(sentence)


def _text(report: RunReport, *, explain: bool) -> str:
    from grader.report import colours, render_text, width_of
    from grader.report.explanation import render_explanation

    width, colour = width_of(sys.stdout), colours(sys.stdout)
    text = render_text(report, full=explain, width=width, colour=colour)
    return text + render_explanation(report, width=width, colour=colour) if explain else text


def _write_junit(here: Examination, report: RunReport) -> None:
    import os

    from grader.report import render_junit

    # The asking side opened the file and gave us the descriptor: a path would mean another file here.
    with os.fdopen(here.files["--junit"], "w", encoding="utf-8") as file:
        file.write(render_junit(report))
