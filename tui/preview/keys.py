"""The keys of the preview, for the table of all keys.

Owns which key does what there, in what words.
"""

from __future__ import annotations

from typing import Any

from grader.cli.commands import N_


def _key(id: str, keys: str, action: str, label: str, help: str, *, shown: bool = True) -> dict[str, Any]:  # noqa: A002  # its fields
    return {"id": id, "keys": keys, "action": action, "label": label, "help": help, "shown": shown}


PREVIEW_KEYS = (
    _key("preview.next", "n,right", "next", N_("next"), N_("the next step")),
    _key("preview.previous", "p,left", "previous", N_("previous"), N_("the step before")),
    _key("preview.hints", "h", "hints", N_("hints"), N_("with all hints, or with none")),
    _key("preview.author", "a", "author", N_("checks"), N_("the author's view of the checks, or the text alone")),
    _key("preview.reload", "r", "reload", N_("reload"), N_("read everything again now"), shown=False),
    _key("preview.pane", "tab", "app.focus_next", N_("pane"), N_("from the text to the checks, and back"), shown=False),
    _key("preview.down", "j", "scroll_down", N_("down"), N_("one line down, as the arrow key"), shown=False),
    _key("preview.up", "k", "scroll_up", N_("up"), N_("one line up, as the arrow key"), shown=False),
)
