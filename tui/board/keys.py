"""The keys of the board, as rows of the table of keys.

Owns these rows; `tui.keys` has the whole table and says what a row consists of.
"""

from __future__ import annotations

from typing import Any

from grader.cli.commands import N_

BOARD_KEYS: tuple[dict[str, Any], ...] = (
    {
        "id": "board.describe",
        "keys": "enter",
        "action": "describe",
        "label": N_("describe"),
        "help": N_("all that is known of the object: its events, then itself"),
    },
    {
        "id": "board.why",
        "keys": "w",
        "action": "why",
        "label": N_("why"),
        "help": N_("why the object waits, or is not what you think"),
    },
    {
        "id": "board.filter",
        "keys": "slash",
        "action": "search",
        "label": N_("filter"),
        "help": N_("show only lines that have these words; Escape shows all again"),
    },
    {
        "id": "board.faults",
        "keys": "f",
        "action": "faults",
        "label": N_("faults"),
        "help": N_("show only what waits or is broken, or all again"),
    },
    {
        "id": "board.next",
        "keys": "tab",
        "action": "next_pane",
        "label": N_("next table"),
        "help": N_("go to the next table"),
        "priority": True,
    },
    {
        "id": "board.timeline",
        "keys": "t",
        "action": "timeline",
        "label": N_("timeline"),
        "help": N_("what happened until now"),
    },
    {
        "id": "board.previous",
        "keys": "shift+tab",
        "action": "previous_pane",
        "label": N_("table before"),
        "help": N_("go to the table before"),
        "shown": False,
        "priority": True,
    },
    *(
        {
            "id": f"board.pane{number}",
            "keys": str(number),
            "action": f"pane({number})",
            "label": title,
            "help": title,
            "shown": False,
        }
        for number, title in enumerate((N_("Nodes"), N_("Groups"), N_("Queues"), N_("Pods"), N_("Events")), 1)
    ),
    {
        "id": "board.single",
        "keys": "z",
        "action": "single",
        "label": N_("one table"),
        "help": N_("this table on the whole screen, or all again"),
        "shown": False,
    },
    {
        "id": "board.down",
        "keys": "j",
        "action": "down",
        "label": N_("down"),
        "help": N_("one line down, as the arrow key"),
        "shown": False,
    },
    {
        "id": "board.up",
        "keys": "k",
        "action": "up",
        "label": N_("up"),
        "help": N_("one line up, as the arrow key"),
        "shown": False,
    },
    {
        "id": "board.back",
        "keys": "escape",
        "action": "back",
        "label": N_("back"),
        "help": N_("out of the filter, then back to where you came from"),
    },
)
