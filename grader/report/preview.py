"""A lab's preview as plain text, printed once: for pipes, and for terminals in which nothing else will do.

Owns the layout; what is shown comes from `grader.author.preview`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.author.preview import check_rows, step_text
from grader.report.layout import BOLD, DIM, clean, hanging, paint, wrap
from grader.report.page import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.author.preview import AuthorsView, Preview

_LABEL_CELLS = 11


def render_preview(preview: Preview, view: AuthorsView, *, width: int, colour: bool) -> str:
    """Introduction and steps with all hints, each step's checks below it, and what lint finds at the end."""
    parts: list[str] = []
    if preview.lab is not None:
        lab = preview.lab
        parts.append(draw(f"# {lab.title}\n\n{lab.intro}", width=width, colour=colour, whole_code=True))
        for step in lab.steps:
            parts.append(draw(step_text(step, hints=True), width=width, colour=colour, whole_code=True))
            lines: list[str] = []
            for check in step.checks:
                lines += _check(check.id, check.says, width, colour=colour)
                for label, text in check_rows(check, view):
                    lines += hanging(f"  {label}", wrap(clean(text), max(20, width - _LABEL_CELLS)), 0, _LABEL_CELLS)
                lines.append("")
            parts.append("\n".join(lines))
        if not view.session:
            nothing = _("no session of {lab}: what comes from a cluster is shown as the lab says it")
            parts.append(nothing.format(lab=lab.id) + "\n")
    if preview.problems:
        parts.append("\n".join(map(str, preview.problems)) + "\n")
    return "\n".join(parts)


def _check(check_id: str, says: str, width: int, *, colour: bool) -> Iterator[str]:
    yield paint(f"[{check_id}]", BOLD, on=colour)
    for line in wrap(says, width - 2):
        yield paint(f"  {line}", DIM, on=colour)
