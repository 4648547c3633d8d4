"""A verification as text for a lab's author: one line for each part, what is wrong below it.

Owns the wording and layout; knows nothing of how a lab is proved.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len

from cluster.i18n import _
from grader.report.layout import (
    BOLD,
    DIM,
    GREEN,
    MAGENTA,
    RED,
    WIDTH,
    cut,
    hanging,
    one_line,
    pad,
    paint,
    spread,
    wrap,
)
from grader.verify.model import PartOutcome, Phase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.verify.model import Part, VerifyReport

_STYLES = {
    PartOutcome.OK: GREEN,
    PartOutcome.DEFECT: RED,
    PartOutcome.ERROR: MAGENTA,
    PartOutcome.NOT_RUN: DIM,
}


def outcome_word(outcome: PartOutcome) -> str:
    """The word an outcome is shown by, in the language in force."""
    return {
        PartOutcome.OK: _("OK"),
        PartOutcome.DEFECT: _("BAD"),
        PartOutcome.ERROR: _("ERR"),
        PartOutcome.NOT_RUN: _("LEFT"),
    }[outcome]


def part_title(phase: Phase, name: str) -> str:
    """What a part is about, short: also for progress while it runs."""
    match phase:
        case Phase.TEXT:
            return _("text: says what is needed")
        case Phase.ANSWERS:
            return _("text: tells no answer")
        case Phase.START:
            return _("untouched: nothing passes")
        case Phase.SOLUTION:
            return _("solution {step}").format(step=name)
        case Phase.MEMORY:
            return _("solved: everything passes")
        case Phase.WRONG:
            return _("wrong {case}").format(case=name)
        case Phase.RESET:
            return _("reset: nothing passes")
        case Phase.VALUES:
            return _("with {values}").format(values=name)


def render_part(part: Part, *, width: int = WIDTH, colour: bool = False) -> str:
    """One part in lines of at most `width` cells, ended by a new line."""
    return "\n".join(_lines(part, width, colour=colour)) + "\n"


def render_verify(report: VerifyReport, *, width: int = WIDTH, colour: bool = False) -> str:
    """The whole verification, ended by a new line."""
    lines = [_header(report, width, colour=colour), ""]
    for part in report.parts:
        lines += _lines(part, width, colour=colour)
    lines += ["", *_summary(report, width)]
    return "\n".join(lines) + "\n"


def render_summary(report: VerifyReport, *, width: int = WIDTH) -> str:
    """What stands below the parts, for a caller that has shown them while they ran."""
    return "\n".join(_summary(report, width)) + "\n"


def render_head(report: VerifyReport, *, width: int = WIDTH, colour: bool = False) -> str:
    """The line above the parts."""
    return _header(report, width, colour=colour) + "\n"


def render_table(reports: Sequence[VerifyReport], seconds: float, jobs: int, *, width: int = WIDTH) -> str:
    """A line for each lab with its time, and one for all: `seconds` by the clock, `jobs` at a time."""
    names = max(cell_len(report.lab) for report in reports)
    lines = []
    for report in reports:
        proved = _("{proved} of {total} proved").format(proved=report.count(PartOutcome.OK), total=len(report.parts))
        took = _("{seconds} s").format(seconds=round(report.seconds))
        lines.append(spread(f"{pad(report.lab, names)}  {proved}", took, width))
    every = _("{count} labs, {jobs} at a time").format(count=len(reports), jobs=jobs)
    lines.append(spread(every, _("{seconds} s").format(seconds=round(seconds)), width))
    return "\n".join(lines) + "\n"


def _header(report: VerifyReport, width: int, *, colour: bool) -> str:
    count = _("{proved} of {total} proved").format(proved=report.count(PartOutcome.OK), total=len(report.parts))
    return paint(spread(f"{report.lab}  {one_line(report.title)}", count, width), BOLD, on=colour)


def _lines(part: Part, width: int, *, colour: bool) -> Iterator[str]:
    words = max(cell_len(outcome_word(outcome)) for outcome in PartOutcome)
    indent = 1 + words + 2
    word = outcome_word(part.outcome)
    title = part_title(part.phase, part.name)
    if part.check:
        title += f" → {part.check}"
    seconds = "" if part.outcome is PartOutcome.NOT_RUN else _("{seconds} s").format(seconds=f"{part.seconds:.1f}")
    room = width - indent - 9
    line = f" {pad(word, words)}  {pad(cut(title, room), room)}{' ' * (9 - cell_len(seconds))}{seconds}".rstrip()
    yield line.replace(word, paint(word, _STYLES[part.outcome], on=colour), 1)
    if part.outcome in (PartOutcome.DEFECT, PartOutcome.ERROR):
        if part.says:
            yield from hanging("", wrap(part.says, width - indent), indent, indent)
        for problem in part.problems:
            for paragraph in problem.split("\n"):
                # Output of a script keeps its own indentation below the sentence about it.
                own = indent + 2 * paragraph.startswith("  ")
                yield from hanging("", wrap(paragraph, width - own), own, own)
    for note in part.notes:
        yield from hanging("", wrap(_("note: {note}").format(note=note), width - indent), indent, indent)


def _summary(report: VerifyReport, width: int) -> Iterator[str]:
    if report.unproven:
        unproven = _("note: unproven, because no wrong answer makes them fail: {checks}")
        yield from wrap(unproven.format(checks=", ".join(report.unproven)), width)
    wrong = [part for part in report.parts if part.phase is Phase.WRONG and part.seconds]
    times = _("{seconds} s in all").format(seconds=round(report.seconds))
    if pieces := [*_spent(report)]:
        times = f"{times}: {', '.join(pieces)}"
    if wrong:
        mean = sum(part.seconds for part in wrong) / len(wrong)
        times += _("; a wrong answer {mean} s on average").format(mean=f"{mean:.1f}")
    yield from wrap(times, width)
    if report.kept:
        yield from kept_lines(report)
    if report.trouble:
        yield from (line for paragraph in report.trouble.split("\n") for line in wrap(paragraph, width))
    yield from wrap(_conclusion(report), width)


def kept_lines(report: VerifyReport) -> Iterator[str]:
    """How to enter a session that was left running, look at it as the grader does, and be rid of it. Not wrapped:
    these are commands to copy."""
    within = f"BATCHLAB_SESSIONS={shlex.quote(str(Path(report.kept).parent))}"
    yield _("{lab} was left running as that part left it:").format(lab=report.lab)
    for what, command in (
        (_("enter it:"), f"{within} grader shell {report.lab}"),
        (_("judge it:"), f"{within} grader check {report.lab} --explain"),
        (_("remove it:"), f"{within} grader stop {report.lab} && rm -r {shlex.quote(report.kept)}"),
    ):
        yield f"  {pad(what, max(map(cell_len, (_('enter it:'), _('judge it:'), _('remove it:')))))} {command}"


def _spent(report: VerifyReport) -> Iterator[str]:
    """What took half a second or more."""
    spent = report.spent
    for what, seconds in (
        (_("start {seconds} s"), spent.start),
        (_("resets {seconds} s ({count})"), spent.resets),
        (_("scripts {seconds} s"), spent.scripts),
        (_("checks {seconds} s"), spent.checks),
        (_("pauses before another look {seconds} s"), spent.pauses),
        (_("stop {seconds} s"), spent.stop),
    ):
        if seconds >= 0.5:
            yield what.format(seconds=round(seconds), count=report.resets)


def _conclusion(report: VerifyReport) -> str:
    defects, failed = report.count(PartOutcome.DEFECT), report.count(PartOutcome.ERROR)
    if failed or report.trouble:
        return _("{lab} could not be judged; parts that failed for no fault of the lab: {errors}").format(
            lab=report.lab, errors=failed + bool(report.trouble)
        )
    if defects:
        return _("{lab} is not proved; parts that show a defect: {defects}").format(lab=report.lab, defects=defects)
    if not report.whole:
        return _("{lab}: the wrong answers asked for are caught").format(lab=report.lab)
    return _("{lab} is proved").format(lab=report.lab)
