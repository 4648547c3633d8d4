"""Progress over all labs, and the attempts that are kept.

Owns the table and what stands below it; the figures are those of `grader report`.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from cluster.errors import Problem
from cluster.i18n import _
from grader.cli.commands import N_
from grader.report.layout import pad
from grader.report.progress_report import duration
from grader.report.text import state_word
from grader.results import State
from tui.marks import bar, cut, mark
from tui.screens.base import LearnerScreen
from tui.widgets.checks import COLOURS
from tui.widgets.laid import Laid

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from grader.progress import Attempt
    from grader.report.progress_report import Row

MOST_ATTEMPTS = 50
COLUMNS = (N_("lab"), N_("steps"), N_("at work"), N_("checks"), N_("hints"), N_("last"), N_("finished"))


class ReportScreen(LearnerScreen):
    """How far one is everywhere."""

    PLACE = "report"
    ABOUT = N_("Steps passed, time at work, checks and hints of each lab. `grader report --csv` writes them down.")
    DEFAULT_CSS = """
    ReportScreen {
        #head { height: 1; color: $primary; text-style: bold; }
        #rows { height: auto; max-height: 50%; border: none; background: $background; padding: 0; }
        #rows > .option-list--option-highlighted { background: $primary 30%; color: $foreground; }
        #attempts { height: 1fr; border-top: $rule $border; padding: 0 1; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []

    def body(self) -> ComposeResult:
        """A head, the labs, and what was tried in the one under the cursor."""
        yield Static(id="head")
        yield OptionList(id="rows")
        with VerticalScroll(id="attempts"):
            yield Static(id="tried")

    def on_mount(self) -> None:
        """Ask for the figures."""
        self.run_worker(self._read(), group="read")

    def on_screen_resume(self) -> None:
        """Something may have been done meanwhile."""
        self.run_worker(self._read(), group="read", exclusive=True)

    async def speak(self) -> None:
        """The same figures in other words."""
        await self.recompose()
        await self._read()

    def action_back(self) -> None:
        """To where one came from."""
        self.dismiss()

    def action_cursor_down(self) -> None:
        """As the arrow."""
        self.query_one(OptionList).action_cursor_down()

    def action_cursor_up(self) -> None:
        """As the arrow."""
        self.query_one(OptionList).action_cursor_up()

    def action_open(self) -> None:
        """To the lab under the cursor."""
        at = self.query_one(OptionList).highlighted
        if at is not None and self.rows:
            self.learner.open_lab(self.rows[at].record.lab)

    def on_option_list_option_highlighted(self) -> None:
        """The attempts of the lab under the cursor."""
        self._describe()

    def on_option_list_option_selected(self) -> None:
        """Enter or a click."""
        self.action_open()

    # -- beneath --------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            self.rows = await self.learner.backend.report()
        except Problem as problem:
            self.learner.say(problem)
            return
        if not self.is_mounted:
            return
        done = sum(row.state == "finished" for row in self.rows)
        count = _("{done} of {total} labs finished").format(done=done, total=len(self.rows))
        self.entitle(_("Progress"), f"{bar(done, len(self.rows), 10)} {count}")
        cells = [_cells(row) for row in self.rows]
        titles = [_(title) for title in COLUMNS]
        widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
        self.query_one("#head", Static).update(Laid(partial(_line, titles, widths, "")))
        rows = self.query_one(OptionList)
        # First where one was last at work; later where the cursor is.
        latest = max(range(len(self.rows)), key=lambda at: self.rows[at].record.last or 0.0, default=0)
        at = latest if rows.highlighted is None else rows.highlighted
        rows.set_options(
            Option(Laid(partial(_line, line, widths, "$success" if row.state == "finished" else "")))
            for row, line in zip(self.rows, cells, strict=True)
        )
        if self.rows:
            rows.highlighted = min(at, len(self.rows) - 1)
            rows.focus()
        self._describe()

    def _describe(self) -> None:
        at = self.query_one(OptionList).highlighted
        tried = self.query_one("#tried", Static)
        if at is None or at >= len(self.rows):
            tried.update(_("No lab has been started yet."))
            return
        row = self.rows[at]
        attempts = list(reversed(row.attempts))[:MOST_ATTEMPTS]
        lines = [Content.styled(_("Checks of {lab}, the newest first").format(lab=row.record.lab), "bold")]
        if not attempts:
            lines.append(Content(_("none yet")))
        lines += [_attempt(attempt) for attempt in attempts]
        tried.update(Content("\n").join(lines))


def _cells(row: Row) -> list[str]:
    record = row.record
    steps = _("{passed} of {total}").format(passed=row.steps_passed, total=record.total) if record.total else "-"
    work = duration(record.seconds_at_work) if record.last is not None else "-"
    return [
        record.lab,
        steps,
        work,
        str(record.attempts),
        str(record.hints),
        _day(record.last),
        _day(record.finished),
    ]


def _line(cells: list[str], widths: list[int], style: str, width: int) -> Content:
    """Only the lab's name gives way; what does not fit then is left out from the right."""
    room = [max(8, min(widths[0], width - 2 - sum(widths[1:]) - 2 * (len(widths) - 1))), *widths[1:]]
    text = "  ".join(pad(cut(cell, size), size) for cell, size in zip(cells, room, strict=True))
    return Content.styled(cut(f" {text}", width), style)


def _day(at: float | None) -> str:
    return "-" if at is None else time.strftime("%Y-%m-%d", time.localtime(at))


def _attempt(attempt: Attempt) -> Content:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(attempt.at))
    count = _("{passed} of {total}").format(passed=attempt.passed, total=len(attempt.steps))
    parts: list[tuple[str, str] | str] = [(f"{when}  ", "$muted"), f"{count}  "]
    states = [state for state in State if state in attempt.steps.values()]
    for state in states:
        names = " ".join(step for step, found in attempt.steps.items() if found is state)
        parts.append((f"{mark(state)} {state_word(state)} ", COLOURS[state]))
        parts.append(f"{names}  ")
    return Content.assemble(*parts)
