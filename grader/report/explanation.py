"""How each verdict of a run came about, as text: what was read, what decided, how long it took.

Owns the layout; the sentences come with the results (`grader.checks.explanation`, `grader.checks.trace`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from cluster.i18n import _
from grader.checks.trace import some_of
from grader.report.layout import BOLD, WIDTH, clean, hanging, pad, paint, wrap
from grader.report.text import paint_state, state_word
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.report.model import RunReport
    from grader.results import Result

_SHORT = 0.1
"""Seconds below which nobody wants to know how long it took."""


def render_explanation(report: RunReport, *, width: int = WIDTH, colour: bool = False) -> str:
    """A part for each check, below the verdict; ended by a new line."""
    lines = ["", paint(_("how each verdict came about"), BOLD, on=colour)]
    for result in report.results:
        lines += ["", *_check(result, width, colour=colour)]
    return "\n".join(lines) + "\n"


def _check(result: Result, width: int, *, colour: bool) -> Iterator[str]:
    words = max(cell_len(state_word(state)) for state in State)
    labels = (_("read"), _("decided"), _("details"), _("took"))
    at = 1 + max(words, *map(cell_len, labels)) + 2
    word = state_word(result.state)
    yield paint_state(f" {pad(word, at - 1)}{result.check}", word, result.state, on=colour)
    rows: list[tuple[str, tuple[str, ...]]] = [(labels[0], result.read), (labels[1], result.decided)]
    told = (*result.decided, *result.read)
    details = [line for line in result.evidence if not any(one.startswith(line) for one in told)]
    rows.append((labels[2], tuple(details) if result.our_bug else some_of(details)))
    if result.seconds >= _SHORT:
        rows.append((labels[3], (_("{seconds} s").format(seconds=f"{result.seconds:.1f}"),)))
    for label, texts in rows:
        for number, text in enumerate(texts):
            yield from hanging(f" {label}" if number == 0 else "", wrap(clean(text), width - at), 0, at)
