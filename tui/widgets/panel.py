"""Below or beside a lab's text: how its machine is, the checks of the step, and a line about both.

Owns their drawing and which checks are open; asks nobody anything but the session it is shown.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from cluster.i18n import _
from grader.report.layout import is_command
from grader.results import State
from tui.widgets import boot as words
from tui.widgets.checks import check_row
from tui.widgets.laid import Laid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult

    from grader.lab.model import Step
    from grader.report.model import CheckReport
    from tui.session import LabSession


class LabPanel(Vertical):
    """`show` draws what has changed since the last time."""

    DEFAULT_CSS = """
    LabPanel {
        height: auto; max-height: 55%; border-top: $rule $border; padding: 0 1;
        #machine { height: auto; max-height: 14; scrollbar-size-vertical: 1; }
        #checks { height: auto; max-height: 95%; border: none; padding: 0; background: $background;
                  scrollbar-size-vertical: 1; }
        #checks > .option-list--option-highlighted { background: $background; color: $foreground; text-style: none; }
        #checks:focus > .option-list--option-highlighted { background: $panel; color: $foreground; text-style: none; }
        #room { display: none; height: 1; }
        #status { height: 1; color: $muted; background: $background; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._opened: set[str] = set()
        self._drawn: tuple[list[CheckReport], frozenset[str]] | None = None
        self._checks: list[CheckReport] = []

    def compose(self) -> ComposeResult:
        """Machine, checks, status."""
        with VerticalScroll(id="machine", can_focus=False):
            yield Static(id="words")
        yield OptionList(id="checks")
        yield Static(id="room")  # what is docked has no height in an automatic one: this has it
        yield Static(id="status")

    def show(self, session: LabSession, step: Step | None, obstacles: Sequence[str], keys: Mapping[str, str]) -> None:
        """The lab as it is; `keys` are those of start, next, back and stop, as a person
        reads them."""
        report = session.step_report(step) if step else None
        self._checks = list(report.checks) if report else []
        running = session.machine == "running" and session.boot is None
        silent = session.problem is not None or session.broken is not None
        self.query_one("#machine").display = not running or silent
        self.query_one("#checks").display = running and bool(self._checks)
        if not running or silent:
            self.query_one("#words", Static).update(_machine(session, obstacles, keys["start"]))
        self.query_one("#status", Static).update(Content("  ".join(_status(session, step, keys))))
        if running:
            self._draw_checks()

    def open_first(self) -> None:
        """Open the first check that does not hold, unless one is open."""
        wrong = [check for check in self._checks if check.result.state in (State.FAILED, State.ERROR)]
        if wrong and not self._opened & {check.result.check for check in self._checks}:
            self._opened.add(wrong[0].result.check)
            self._draw_checks()

    def toggle(self) -> None:
        """Open or close the check under the cursor."""
        self.query_one(OptionList).action_select()

    def look_at(self) -> str:
        """The command that the check under the cursor names, or else the first that does not hold; "" for none."""
        rows = self.query_one(OptionList)
        at = rows.highlighted
        ordered = [self._checks[at]] if at is not None and at < len(self._checks) else []
        ordered += [check for check in self._checks if check.result.state is not State.PASSED]
        commands = [check.result.finding.look_at for check in ordered]
        return next((command for command in commands if command and is_command(command)), "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click opens a check, and closes it."""
        event.stop()
        if event.option_id:
            self._opened ^= {event.option_id}
            self._draw_checks()

    def _draw_checks(self) -> None:
        now = (self._checks, frozenset(self._opened))
        if now == self._drawn:
            return
        self._drawn = now
        rows = self.query_one(OptionList)
        at = rows.highlighted
        rows.set_options(
            Option(Laid(partial(check_row, check, opened=check.result.check in self._opened)), id=check.result.check)
            for check in self._checks
        )
        if self._checks:
            rows.highlighted = min(at or 0, len(self._checks) - 1)


def _machine(session: LabSession, obstacles: Sequence[str], start: str) -> Content:
    if session.boot is not None:
        return words.booting(session.lab_id, session.boot)
    if session.failure is not None:
        return words.failed(session.failure, start)
    if session.broken is not None:
        return words.broken(session.broken, start)
    if session.problem is not None:
        return words.unjudged(session.problem)
    minutes = session.lab.minutes if session.lab else 0
    return words.idle(session.lab_id, session.machine, obstacles, minutes, start)


def _status(session: LabSession, step: Step | None, keys: Mapping[str, str]) -> list[str]:
    parts = [_("the disk is full")] if session.disk_full else []
    if session.checking:
        parts.append(_("checking now"))
    elif session.looked is not None and session.machine == "running":
        parts.append(_("checked {time}").format(time=time.strftime("%H:%M:%S", time.localtime(session.looked))))
    if step is not None and session.lab is not None:
        if session.passed == len(session.lab.steps):
            parts.append(_("the lab is done: {back} goes back, {stop} stops it").format(**keys))
        elif session.state(step) is State.PASSED and step.number < len(session.lab.steps):
            parts.append(_("passed: {key} goes on").format(key=keys["next"]))
        if step.hints:
            shown = min(session.hints_shown(step), len(step.hints))
            parts.append(_("hints {shown} of {total}").format(shown=shown, total=len(step.hints)))
    return parts
