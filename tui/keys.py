"""Every key of the application, in one table.

Owns which key does what where, and in what words; knows nothing of what an action does.
Labels are marked with `N_` and looked up when they are shown, because the language changes while the program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.keys import _character_to_key

from grader.cli.commands import N_
from tui.board.keys import BOARD_KEYS
from tui.marks import is_ascii
from tui.preview.keys import PREVIEW_KEYS
from tui.timeline.keys import TIMELINE_KEYS

if TYPE_CHECKING:
    from textual.binding import BindingType


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One thing a person can do: `keys` as Textual names them, comma-separated; `label` for the footer, `help` for
    the page of `?`. A key that is not `shown` is on that page only."""

    id: str
    keys: str
    action: str
    label: str
    help: str
    shown: bool = True
    priority: bool = False


def _key(id: str, keys: str, action: str, label: str, help: str, *, shown: bool = True) -> Key:  # noqa: A002  # its fields
    return Key(id=id, keys=keys, action=action, label=label, help=help, shown=shown)


EVERYWHERE = "everywhere"
PLACES: dict[str, str] = {
    EVERYWHERE: N_("Everywhere"),
    "catalogue": N_("Catalogue"),
    "lab": N_("Lab"),
    "article": N_("Article"),
    "report": N_("Progress"),
    "board": N_("Board"),
    "timeline": N_("Timeline"),
    "preview": N_("Preview"),
}
"""Where keys work → what the place is called."""

KEYS: dict[str, tuple[Key, ...]] = {
    EVERYWHERE: (
        Key(id="help", keys="question_mark,f1", action="help", label=N_("help"), help=N_("the keys of this screen")),
        Key(
            id="palette",
            keys="ctrl+p,colon",
            action="command_palette",
            label=N_("commands"),
            help=N_("every command, by name"),
        ),
        Key(
            id="jump",
            keys="ctrl+o",
            action="jump",
            label=N_("jump"),
            help=N_("a letter beside everything one can go to; press it"),
            shown=False,
        ),
        Key(
            id="language",
            keys="L",
            action="language",
            label=N_("language"),
            help=N_("English or Korean"),
            shown=False,
        ),
        Key(
            id="theme",
            keys="T",
            action="next_theme",
            label=N_("colours"),
            help=N_("the next set of colours"),
            shown=False,
        ),
        Key(id="quit", keys="q,ctrl+q", action="quit", label=N_("quit"), help=N_("leave; a lab that runs goes on")),
    ),
    "catalogue": (
        Key(id="catalogue.open", keys="enter", action="open", label=N_("open"), help=N_("go to this lab or article")),
        Key(
            id="catalogue.search",
            keys="slash",
            action="search",
            label=N_("search"),
            help=N_("show only what has these letters; Escape shows all again"),
            priority=True,  # the letters that follow at once are for the search, not for the list
        ),
        Key(
            id="catalogue.next",
            keys="n",
            action="next",
            label=N_("next"),
            help=N_("go to what comes next in the course"),
        ),
        _key("catalogue.report", "p", "report", N_("progress"), N_("steps, time and attempts over all labs")),
        Key(
            id="catalogue.stop",
            keys="s",
            action="stop",
            label=N_("stop lab"),
            help=N_("stop the lab that runs; files and progress stay"),
        ),
        _key("catalogue.board", "v", "board", N_("board"), N_("the cluster of the lab as it is now"), shown=False),
        _key("catalogue.timeline", "t", "timeline", N_("timeline"), N_("what happened in the lab"), shown=False),
        Key(
            id="catalogue.down",
            keys="j",
            action="cursor_down",
            label=N_("down"),
            help=N_("one line down, as the arrow key"),
            shown=False,
        ),
        Key(
            id="catalogue.up",
            keys="k",
            action="cursor_up",
            label=N_("up"),
            help=N_("one line up, as the arrow key"),
            shown=False,
        ),
        Key(
            id="catalogue.back",
            keys="escape",
            action="back",
            label=N_("back"),
            help=N_("end the search"),
            shown=False,
        ),
    ),
    "lab": (
        _key("lab.start", "g", "start", N_("start"), N_("start the lab: a cluster of its own")),
        _key("lab.give_up", "z", "give_up", N_("give up"), N_("end a start that is under way")),
        _key("lab.shell", "s", "shell", N_("shell"), N_("go to the lab's shell; F2 comes back")),
        _key("lab.check", "c", "check", N_("check"), N_("check now, and wait for what still moves; it counts")),
        _key("lab.next", "n,right", "next", N_("next"), N_("the next step")),
        _key("lab.previous", "p,left", "previous", N_("previous"), N_("the step before"), shown=False),
        _key("lab.hint", "h", "hint", N_("hint"), N_("one more hint")),
        _key("lab.block", "right_square_bracket", "next_block", N_("block"), N_("choose the next code block")),
        _key(
            "lab.block_before",
            "left_square_bracket",
            "previous_block",
            N_("block before"),
            N_("choose the code block before"),
            shown=False,
        ),
        _key("lab.run", "R", "run_block", N_("run"), N_("type the chosen block into the shell and run it")),
        _key(
            "lab.type",
            "r",
            "type_block",
            N_("type"),
            N_("type the chosen block into the shell; you press Enter"),
            shown=False,
        ),
        _key("lab.copy", "y", "copy", N_("copy"), N_("copy the chosen block"), shown=False),
        _key("lab.board", "v", "board", N_("board"), N_("the cluster as it is now")),
        _key("lab.timeline", "t", "timeline", N_("timeline"), N_("what happened until now")),
        _key("lab.look", "l", "look", N_("look"), N_("run in the shell what the check says to look at")),
        _key(
            "lab.open",
            "enter",
            "open_check",
            N_("details"),
            N_("open or close the check under the cursor"),
            shown=False,
        ),
        _key("lab.pane", "tab", "app.focus_next", N_("pane"), N_("from the text to the checks, and back"), shown=False),
        _key("lab.down", "j", "scroll_down", N_("down"), N_("one line down, as the arrow key"), shown=False),
        _key("lab.up", "k", "scroll_up", N_("up"), N_("one line up, as the arrow key"), shown=False),
        _key("lab.stop", "Z", "stop", N_("stop"), N_("stop the lab; files and progress stay"), shown=False),
        _key("lab.reset", "X", "reset", N_("begin again"), N_("a new cluster, and nothing passed yet"), shown=False),
        _key("lab.back", "escape", "back", N_("back"), N_("to the catalogue; the lab goes on"), shown=False),
    ),
    "article": (
        _key("article.answer", "a", "answer", N_("answer"), N_("show the answer to the next question")),
        _key("article.answers", "A", "answers", N_("all answers"), N_("show every answer"), shown=False),
        _key("article.lab", "enter", "lab", N_("to the lab"), N_("go to the lab that it prepares for")),
        _key("article.block", "right_square_bracket", "next_block", N_("block"), N_("choose the next code block")),
        _key(
            "article.block_before",
            "left_square_bracket",
            "previous_block",
            N_("block before"),
            N_("choose the code block before"),
            shown=False,
        ),
        _key("article.copy", "y", "copy", N_("copy"), N_("copy the chosen block"), shown=False),
        _key("article.down", "j", "scroll_down", N_("down"), N_("one line down, as the arrow key"), shown=False),
        _key("article.up", "k", "scroll_up", N_("up"), N_("one line up, as the arrow key"), shown=False),
        _key("article.back", "escape", "back", N_("back"), N_("to where you came from")),
    ),
    "report": (
        _key("report.open", "enter", "open", N_("open"), N_("go to this lab")),
        _key("report.down", "j", "cursor_down", N_("down"), N_("one line down, as the arrow key"), shown=False),
        _key("report.up", "k", "cursor_up", N_("up"), N_("one line up, as the arrow key"), shown=False),
        _key("report.back", "escape", "back", N_("back"), N_("to where you came from")),
    ),
    "board": tuple(Key(**each) for each in BOARD_KEYS),
    "timeline": tuple(Key(**each) for each in TIMELINE_KEYS),
    "preview": tuple(Key(**each) for each in PREVIEW_KEYS),
}


def bindings(place: str) -> list[BindingType]:
    """The keys of a place as Textual wants them. Their words are English here; the footer and the page of keys
    look them up."""
    return [
        Binding(key.keys, key.action, key.label, show=key.shown, id=key.id, tooltip=key.help, priority=key.priority)
        for key in KEYS[place]
    ]


def displayed(keys: str) -> str:
    """The keys as a person reads them: `ctrl+p` is `^p`, `question_mark` is `?`."""
    return " ".join(_display(key) for key in _split(keys))


def _split(keys: object) -> list[str]:
    return [key.strip() for key in str(keys).split(",")]


def _display(key: str) -> str:
    shown = {value: char for char, value in ((char, _character_to_key(char)) for char in "?/:[]-+=.,;'\"")}
    words = {"escape": "esc"} if is_ascii() else {"escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→"}
    *modifiers, last = key.split("+")
    last = shown.get(last) or words.get(last) or last
    return "".join("^" if part == "ctrl" else f"{part}+" for part in modifiers) + last
