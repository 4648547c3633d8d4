"""What a person sees while labs are proved: one alone, or several side by side.

Owns the lines and where they go: parts to stdout as they end, what is being done to stderr. Knows nothing of
processes.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click
from rich.cells import cell_len

from cluster.machine import BootEvent
from grader.cli.boot_display import BootDisplay
from grader.report import colours, width_of
from grader.report.layout import pad
from grader.session.lifecycle import SESSION_TASK
from grader.verify.documents import render_verify_json
from grader.verify.text import kept_lines, part_title, render_head, render_part, render_summary, render_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.verify import Part, VerifyEvent, VerifyReport


class VerifyDisplay:
    """Receives what happens and what came of it, for `labs`, `jobs` of them at a time."""

    def __init__(self, labs: Sequence[str], jobs: int, *, as_json: bool) -> None:
        self._labs, self._jobs, self._as_json = labs, jobs, as_json
        self._boot = BootDisplay(sys.stderr)
        self._stage: dict[str, str] = {}
        """Lab → what it is at, of those that run."""
        self._began = time.monotonic()
        self._reports: dict[str, VerifyReport] = {}
        self._shown = 0
        self._open = ""
        """The lab below whose name parts are told now, where several come one after the other."""

    def told(self, lab: str, what: BootEvent | VerifyEvent) -> None:
        """Show one thing that happened."""
        if isinstance(what, BootEvent):
            if self._jobs == 1:
                self._boot(what)
            elif what.state in ("note", "failed"):
                self._boot(BootEvent(task=lab, state="note", seconds=what.seconds, detail=_sentence(what)))
        elif what.part is None:
            self._stage[lab] = f"[{what.number}/{what.total}] {lab}: {part_title(what.phase, what.name)} …"
            self._boot.live(" ".join(self._stage.values()) if self._boot.rewrites else self._stage[lab])
        elif not self._as_json:
            self._part(lab, what.part)

    def ended(self, lab: str, report: VerifyReport) -> None:
        """Keep a lab's report, and show those whose turn it is: in the order of the labs, whichever ends first."""
        self._stage.pop(lab, None)
        self._reports[lab] = report
        if self._as_json or self._jobs == 1:
            self._show_reports()

    def close(self) -> None:
        """All reports that are left, and the time of each lab."""
        self._boot.end()
        self._show_reports()
        if len(self._labs) > 1 and not self._as_json:
            reports = [self._reports[lab] for lab in self._labs]
            seconds = time.monotonic() - self._began
            click.echo("\n" + render_table(reports, seconds, self._jobs, width=width_of(sys.stdout)), nl=False)

    def end(self) -> None:
        """Take the live line away."""
        self._boot.end()

    def _part(self, lab: str, part: Part) -> None:
        self._boot.end()
        if self._jobs == 1 and len(self._labs) > 1 and lab != self._open:
            click.echo(("\n" if self._open else "") + lab)
            self._open = lab
        margin = "" if self._jobs == 1 else pad(lab, max(map(cell_len, self._labs))) + " "
        text = render_part(part, width=width_of(sys.stdout) - cell_len(margin), colour=colours(sys.stdout))
        click.echo("".join(margin + line for line in text.splitlines(keepends=True)), nl=False)

    def _show_reports(self) -> None:
        while self._shown < len(self._labs) and (report := self._reports.get(self._labs[self._shown])) is not None:
            self._shown += 1
            self._boot.end()
            if self._as_json:
                click.echo(render_verify_json(report), nl=False)
                if report.kept:
                    click.echo("\n".join(kept_lines(report)), err=True)
                continue
            width = width_of(sys.stdout)
            head = "" if self._jobs == 1 else render_head(report, width=width, colour=colours(sys.stdout))
            click.echo(f"\n{head}{render_summary(report, width=width)}", nl=False)


def _sentence(event: BootEvent) -> str:
    return event.detail if event.task == SESSION_TASK else f"{event.task}: {event.detail}"
