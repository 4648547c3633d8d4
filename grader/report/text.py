"""The verdict a learner reads: words first, then colour.

Owns its wording and layout; knows nothing of how a check works. One line for each step; what is missing is
told in full for the first step that failed and for steps already begun, so that a learner on the first run
reads one thing to do, not a wall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from cluster.i18n import _
from grader.report.layout import (
    BOLD,
    DIM,
    GREEN,
    MAGENTA,
    RED,
    WIDTH,
    YELLOW,
    cut,
    hanging,
    is_command,
    one_line,
    pad,
    paint,
    spread,
    wrap,
    wrap_command,
    wrap_items,
)
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.report.model import CheckReport, RunReport, StepReport

_STYLES: Final = {
    State.PASSED: GREEN,
    State.FAILED: RED,
    State.WAITING: YELLOW,
    State.SKIPPED: DIM,
    State.ERROR: MAGENTA,
}
_LONGEST_ID: Final = 24
"""Cells of a step id beyond which it no longer pushes the other columns to the right."""
_LEAST_WAIT: Final = 1.0
"""Seconds of waiting worth telling."""


def state_word(state: State) -> str:
    """The word a state is shown by, in the language in force."""
    return {
        State.PASSED: _("PASS"),
        State.FAILED: _("FAIL"),
        State.WAITING: _("WAIT"),
        State.SKIPPED: _("SKIP"),
        State.ERROR: _("ERR"),
    }[state]


def paint_state(line: str, word: str, state: State, *, on: bool) -> str:
    """`line` with the word of its state in that state's colour."""
    return line.replace(word, paint(word, _STYLES[state], on=on), 1)


def render_text(report: RunReport, *, full: bool = False, width: int = WIDTH, colour: bool = False) -> str:
    """The verdict in lines of at most `width` cells, ended by a new line.

    `full`: every check of every step that didn't pass is told, not only what comes first.
    """
    return "\n".join(_Page(report, full=full, width=width, colour=colour).lines()) + "\n"


def step_line(step: StepReport) -> str:
    """One sentence on a step, as it stands beside its id: also for a board of steps."""
    state, result = step.state, _first(step).result
    if state is State.PASSED:
        return step.title
    if state is State.SKIPPED:
        return _after(step, _first(step))
    if state is State.ERROR:
        return _error(_first(step))
    return result.says


class _Page:
    """One report being laid out: the columns depend on all of its ids and words."""

    def __init__(self, report: RunReport, *, full: bool, width: int, colour: bool) -> None:
        self.report, self.full, self.width, self.colour = report, full, width, colour
        self.detailed = {step.id for step in report.steps if full or _worth_telling(step, report)}
        digits = len(str(report.steps_in_lab))
        ids = max((min(cell_len(step.id), _LONGEST_ID) for step in report.steps), default=0)
        labels = (_("wanted"), _("saw"), _("why"), _("where"), _("look at"), _("also"))
        words = max(cell_len(state_word(state)) for state in State)
        self.digits = digits
        self.name_at = 1 + words + 2
        beside = max(digits + 1 + ids, *map(cell_len, labels), words + 1)
        self.says_at = self.name_at + beside + 2

    def lines(self) -> Iterator[str]:
        yield self._header()
        yield ""
        for step in self.report.steps:
            yield from self._step(step)
        footer = list(_footer(self.report, self.detailed))
        if footer:
            yield ""
            for line in footer:
                yield from hanging("", wrap(line, self.width - 1), 1, 1)

    def _header(self) -> str:
        report = self.report
        count = (
            _("{passed} of {total} steps").format(passed=report.steps_passed, total=report.steps_in_lab)
            if report.whole_lab
            else _("{passed} of {total} steps asked for").format(passed=report.steps_passed, total=len(report.steps))
        )
        line = spread(f"{report.lab}  {one_line(report.title)}", count, self.width)
        return paint(line, BOLD, on=self.colour)

    def _step(self, step: StepReport) -> Iterator[str]:
        name = f"{step.number:>{self.digits}} {step.id}"
        if self.full and len(step.checks) > 1:
            yield from self._line(step.state, name, step.title, whole=True)
            for check in step.checks:
                yield from self._check(step, check)
            return
        told = step.id in self.detailed or step.state is State.ERROR
        # A sentence that is cut says less than a title.
        says = step.title if step.state is State.FAILED and not told else step_line(step)
        yield from self._line(step.state, name, says, whole=told)
        if step.state is State.ERROR:
            yield from self._finding(_first(step), with_saw=False)
        elif step.id in self.detailed and step.state in (State.FAILED, State.WAITING):
            first = _first(step)
            yield from self._finding(first)
            for other in step.checks:
                if other is not first and other.result.state in (State.FAILED, State.WAITING):
                    yield from self._row(_("also"), wrap(_briefly(other), self._room))

    def _check(self, step: StepReport, check: CheckReport) -> Iterator[str]:
        """One check below its step, when the report is full: its word stands where labels do."""
        state = check.result.state
        says = check.result.says
        if state is State.ERROR:
            says = _error(check)
        elif state is State.SKIPPED:
            says = f"{says} ({_after(step, check)})"
        word = state_word(state)
        first, *more = self._row(word, wrap(says, self._room))
        yield paint_state(first, word, state, on=self.colour)
        yield from more
        if state in (State.FAILED, State.WAITING, State.ERROR):
            yield from self._finding(check, with_saw=state is not State.ERROR)

    def _line(self, state: State, name: str, says: str, *, whole: bool) -> Iterator[str]:
        word = state_word(state)
        lines = wrap(says, self._room) if whole else [cut(one_line(says), self._room)]
        first, *more = hanging(pad(word, self.name_at - 1) + name, lines, 1, self.says_at)
        yield paint_state(first, word, state, on=self.colour)
        yield from more

    def _finding(self, check: CheckReport, *, with_saw: bool = True) -> Iterator[str]:
        finding = check.result.finding
        yield from self._row(_("wanted"), wrap(finding.wanted, self._room))
        if with_saw:
            yield from self._row(_("saw"), wrap(_saw(check), self._room))
        yield from self._row(_("why"), wrap(finding.why, self._room))
        yield from self._row(_("where"), wrap_items(finding.where, self._room))
        if not with_saw and finding.look_at in finding.saw:
            return  # the sentence on the step's own line has ended with it
        broken: Callable[[str, int], list[str]] = wrap_command if is_command(finding.look_at) else wrap
        yield from self._row(_("look at"), broken(finding.look_at, self._room))

    def _row(self, label: str, lines: list[str]) -> Iterator[str]:
        if any(lines):
            yield from hanging(label, lines, self.name_at, self.says_at)

    @property
    def _room(self) -> int:
        return max(20, self.width - self.says_at)


def _worth_telling(step: StepReport, report: RunReport) -> bool:
    """Whether a failed step is told in full although nobody asked: the first, those begun, a lone one."""
    if step.state is not State.FAILED:
        return step.state is State.WAITING
    first = next(one for one in report.steps if one.state is State.FAILED)
    return step is first or step.begun


def _first(step: StepReport) -> CheckReport:
    """The check that stands for its step: the first in the step's own state."""
    return next(
        (check for check in step.checks if check.result.state is step.state),
        step.checks[0],
    )


def _saw(check: CheckReport) -> str:
    """What was there, and how long it was waited for."""
    result = check.result
    if result.state is not State.WAITING or result.seconds < _LEAST_WAIT:
        return result.finding.saw
    if not result.finding.saw:
        return _("waited {seconds} s").format(seconds=round(result.seconds))
    return _("{what}, waited {seconds} s").format(what=result.finding.saw, seconds=round(result.seconds))


def _briefly(check: CheckReport) -> str:
    if check.result.state is State.WAITING:
        return _("{says} (waiting)").format(says=check.result.says)
    return check.result.says


def _after(step: StepReport, check: CheckReport) -> str:
    """What a skipped check waits for."""
    if check.blocked_by_step and check.blocked_by_step != step.number:
        return _("after step {number}").format(number=check.blocked_by_step)
    if check.blocked_by:
        return _("after {check}").format(check=check.blocked_by)
    return check.result.finding.saw or check.result.says


def _error(check: CheckReport) -> str:
    finding = check.result.finding
    told = _("our fault, not yours: {message}")
    # The engine says of a bug whose fault it is, because its message is read in other places too.
    message = (finding.saw or finding.wanted or check.result.says).removeprefix(told.format(message=""))
    if check.result.lab_fault:
        return message  # whose it is, the engine has said
    if check.result.our_bug:
        return _("our bug, not your fault: {message}").format(message=message)
    return told.format(message=message)


def _footer(report: RunReport, detailed: set[str]) -> Iterator[str]:
    """What to do next, in a line or two."""
    states = [step.state for step in report.steps]
    if states and all(state is State.PASSED for state in states):
        if report.whole_lab:
            yield _("Every step of {lab} passed.").format(lab=report.lab)
        return
    if State.ERROR in states:
        yield _("Steps marked {word} could not be judged: that is not a failure of yours.").format(
            word=state_word(State.ERROR)
        )
    hidden = [step for step in report.steps if step.state is State.FAILED and step.id not in detailed]
    if hidden:
        yield _("more on a step: {one}, on all of them: {all}").format(
            one=f"grader check {report.lab} --step {hidden[0].number}", all="--all"
        )
    stuck = next((step for step in report.steps if step.state is State.FAILED), None)
    if stuck and stuck.hints:
        yield _("a hint: {command}").format(command=f"grader hint {report.lab} {stuck.id}")
