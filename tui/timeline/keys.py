"""The keys of the timeline, as rows of the table of keys.

Owns these rows; `tui.keys` has the whole table and says what a row consists of.
"""

from __future__ import annotations

from typing import Any

from grader.cli.commands import N_

TIMELINE_KEYS: tuple[dict[str, Any], ...] = (
    {
        "id": "timeline.earlier",
        "keys": "left,h",
        "action": "move(-1)",
        "label": N_("earlier"),
        "help": N_("the cursor one column to the left"),
        "shown": False,
    },
    {
        "id": "timeline.later",
        "keys": "right,l",
        "action": "move(1)",
        "label": N_("later"),
        "help": N_("the cursor one column to the right"),
        "shown": False,
    },
    {
        "id": "timeline.next",
        "keys": "n",
        "action": "next_change",
        "label": N_("next change"),
        "help": N_("to the next thing that happened in this row"),
    },
    {
        "id": "timeline.previous",
        "keys": "p,N",
        "action": "previous_change",
        "label": N_("change before"),
        "help": N_("to what happened before in this row"),
    },
    {
        "id": "timeline.closer",
        "keys": "plus,equals_sign",
        "action": "closer",
        "label": N_("closer"),
        "help": N_("half the time in the same width"),
    },
    {
        "id": "timeline.farther",
        "keys": "minus",
        "action": "farther",
        "label": N_("farther"),
        "help": N_("twice the time in the same width"),
    },
    {
        "id": "timeline.all",
        "keys": "0",
        "action": "everything",
        "label": N_("all"),
        "help": N_("from the first moment until now"),
    },
    {
        "id": "timeline.now",
        "keys": "f,end",
        "action": "follow",
        "label": N_("follow"),
        "help": N_("to the end, and along with it"),
    },
    {
        "id": "timeline.export",
        "keys": "e",
        "action": "export",
        "label": N_("export"),
        "help": N_("write what is shown to your work folder, as a picture (SVG) and as text"),
    },
    {
        "id": "timeline.start",
        "keys": "home",
        "action": "start",
        "label": N_("start"),
        "help": N_("the cursor to the first moment"),
        "shown": False,
    },
    {
        "id": "timeline.down",
        "keys": "down,j",
        "action": "row(1)",
        "label": N_("down"),
        "help": N_("one row down"),
        "shown": False,
    },
    {
        "id": "timeline.up",
        "keys": "up,k",
        "action": "row(-1)",
        "label": N_("up"),
        "help": N_("one row up"),
        "shown": False,
    },
    {
        "id": "timeline.back",
        "keys": "escape",
        "action": "back",
        "label": N_("back"),
        "help": N_("back to where you came from"),
    },
    {
        "id": "timeline.board",
        "keys": "v",
        "action": "board",
        "label": N_("board"),
        "help": N_("the cluster as it is now"),
        "shown": False,
    },
)
