"""The checks of a step as rows: the state in words, a mark, the sentence; opened, what was wanted, seen, and where.

Owns their layout by cells; the words are those of every other report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from cluster.i18n import _
from grader.report.layout import is_command, pad, wrap, wrap_command, wrap_items
from grader.report.text import state_word
from grader.results import State
from tui.marks import mark, plain

if TYPE_CHECKING:
    from grader.report.model import CheckReport

COLOURS = {
    State.PASSED: "$success",
    State.FAILED: "$error",
    State.WAITING: "$warning",
    State.SKIPPED: "$muted",
    State.ERROR: "$accent",
}
"""State → colour. The word beside it says the same."""


def word_cells() -> int:
    """How wide the widest state is in the language in force."""
    return max(cell_len(state_word(state)) for state in State)


def check_row(check: CheckReport, width: int, *, opened: bool) -> Content:
    """One check; its details below it where it is open."""
    result = check.result
    word = pad(state_word(result.state), word_cells())
    start = word_cells() + 4
    says = wrap(_says(check), max(20, width - start))
    lines = [Content.assemble((f"{mark(result.state)} {word}  ", f"bold {COLOURS[result.state]}"), says[0])]
    lines += [Content(" " * start + line) for line in says[1:]]
    if opened:
        lines += _details(check, width, start)
    return Content("\n").join(lines)


def _says(check: CheckReport) -> str:
    result = check.result
    if result.state is State.SKIPPED:
        if check.blocked_by_step and check.blocked_by_step != result.step:
            return f"{result.says} ({_('after step {number}').format(number=check.blocked_by_step)})"
        if check.blocked_by:
            return f"{result.says} ({_('after {check}').format(check=check.blocked_by)})"
    return result.says


def _details(check: CheckReport, width: int, start: int) -> list[Content]:
    finding = check.result.finding
    labels = (_("wanted"), _("saw"), _("why"), _("where"), _("look at"))
    column = start + max(map(cell_len, labels)) + 2
    room = max(20, width - column)
    command = wrap_command if is_command(finding.look_at) else wrap
    texts = (
        wrap(finding.wanted, room) if finding.wanted else [],
        wrap(finding.saw, room) if finding.saw else [],
        wrap(finding.why, room) if finding.why else [],
        wrap_items(finding.where, room),
        command(finding.look_at, room) if finding.look_at else [],
    )
    lines = []
    for label, text in zip(labels, texts, strict=True):
        for number, line in enumerate(text):
            first = pad(" " * start + (label if not number else ""), column)
            lines.append(Content.assemble((first, "$muted"), plain(line)))
    return lines
