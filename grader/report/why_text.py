"""A diagnosis for people: the chain of objects, then the cause.

Owns its layout; knows nothing of how a cause is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from cluster.i18n import _
from grader.diagnosis.model import Fault
from grader.report.layout import BOLD, MAGENTA, RED, WIDTH, YELLOW, hanging, one_line, paint, wrap, wrap_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.diagnosis.model import Diagnosis

_STYLES = {Fault.LEARNER: RED, Fault.ENVIRONMENT: MAGENTA, Fault.NOBODY: YELLOW}
_INDENT = 4


def render_why(found: Diagnosis, *, width: int = WIDTH, colour: bool = False) -> str:
    """The diagnosis in lines of at most `width` cells, ended by a new line."""
    return "\n".join(_lines(found, width, colour=colour)) + "\n"


def _lines(found: Diagnosis, width: int, *, colour: bool) -> Iterator[str]:
    for link in found.chain:
        yield " " + paint(one_line(link.object), BOLD, on=colour)
        yield from hanging("", wrap(link.says, width - _INDENT), _INDENT, _INDENT)
    yield ""
    cause = found.cause
    if cause is None:
        nothing = _("nothing is wrong: {state}") if found.healthy else _("no well-known cause: {state}")
        yield from hanging("", wrap(nothing.format(state=found.state), width - 1), 1, 1)
        return
    says = cause.says
    if cause.fault is Fault.ENVIRONMENT:
        says = _("our fault, not yours: {message}").format(message=says)
    why, look_at = _("why"), _("look at")
    column = max(cell_len(why), cell_len(look_at)) + 3
    first, *more = hanging(why, wrap(says, width - column), 1, column)
    yield first.replace(why, paint(why, _STYLES[cause.fault], on=colour), 1)
    yield from more
    if cause.look_at:
        yield from hanging(look_at, wrap_command(cause.look_at, width - column), 1, column)
