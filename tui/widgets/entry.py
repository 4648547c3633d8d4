"""One entry of the catalogue, as a row of the list and as what stands beside it.

Owns their layout by cells; knows nothing of keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from cluster.i18n import _
from tui.marks import bar, cut, mark, pad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.backend.model import Entry, Shelf

STATE_CELLS = 9
TIME_CELLS = 8


def shelf_row(shelf: Shelf, width: int) -> Content:
    """The heading of a course."""
    done = sum(entry.done for entry in shelf.entries)
    title = shelf.title or _("Beside the courses")
    count = _("{done} of {total} done").format(done=done, total=len(shelf.entries))
    room = width - cell_len(count) - 2
    return Content(pad(cut(title, room), room) + "  " + count)


def state_of(entry: Entry) -> tuple[str, str, str]:
    """How far an entry is: the name of its mark, the word, the colour."""
    if entry.machine == "dead":
        return "failed", _("died"), "$error"
    if entry.machine in ("running", "starting"):
        return "runs", _("runs"), "$primary"
    if entry.done:
        return "passed", _("done"), "$success"
    if entry.passed:
        return "begun", _("{passed} of {total}").format(passed=entry.passed, total=entry.total), "$warning"
    if entry.waits_for:
        return "later", _("later"), "$muted"
    return "open", _("to do"), "$foreground"


def row(entry: Entry, width: int, *, is_next: bool) -> Content:
    """State in words, kind, title, time: each in its column, the title as wide as there is room."""
    name, word, colour = state_of(entry)
    kind = pad(_("lab") if entry.kind == "lab" else _("article"), max(cell_len(_("lab")), cell_len(_("article"))) + 2)
    minutes = _("{minutes} min").format(minutes=entry.minutes)
    after = ""
    if entry.machine == "running" and entry.total:
        after = _("{passed} of {total}").format(passed=entry.passed, total=entry.total)
    elif is_next:
        after = _("next")
    room = width - STATE_CELLS - 4 - cell_len(kind) - TIME_CELLS - (cell_len(after) + 1 if after else 0)
    title = cut(entry.title, max(8, room))
    return Content.assemble(
        (f" {mark(name)} {pad(cut(word, STATE_CELLS), STATE_CELLS)} ", colour),
        (kind, "$muted"),
        (pad(title, max(8, room)), "bold" if is_next else ""),
        (f" {after}" if after else "", "$primary"),
        (" " * (TIME_CELLS - cell_len(minutes)) + minutes, "$muted"),
    )


def details(entry: Entry, obstacles: Sequence[str]) -> Content:
    """What one should know before opening it."""
    name, word, colour = state_of(entry)
    lines = [
        Content.styled(entry.title, "bold"),
        Content.assemble(
            (f"{mark(name)} {word}", colour),
            f"  {entry.id}  {_('{minutes} min').format(minutes=entry.minutes)}",
            (f"  {bar(entry.passed, entry.total, 10)} {entry.passed}/{entry.total}" if entry.steps else "", "$muted"),
        ),
    ]
    if entry.kind == "lab":
        root = _("needs root: it has a node that runs containers") if entry.needs_root else _("needs no root")
        lines.append(Content.styled(root, "$muted"))
    if entry.waits_for:
        lines.append(Content.styled(_("better first: {names}").format(names=", ".join(entry.waits_for)), "$warning"))
    elif entry.after:
        lines.append(Content.styled(_("builds on: {names} (done)").format(names=", ".join(entry.after)), "$muted"))
    lines += [Content.styled(line, "$error") for line in obstacles]
    lines += [Content(""), Content(_plain(entry.summary))]
    if entry.steps:
        lines.append(Content(""))
        for number, (title, passed) in enumerate(entry.steps, start=1):
            state = "passed" if passed else "open"
            style = "$success" if passed else "$muted"
            lines.append(Content.assemble((f"{mark(state)} ", style), f"{number} {title}"))
    return Content("\n").join(lines)


def _plain(text: str) -> str:
    """Markdown's marks taken away: the summary is a sentence or two."""
    return text.replace("**", "").replace("`", "").replace("*", "").replace("\n", " ")
