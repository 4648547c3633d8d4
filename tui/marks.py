"""The single characters that stand beside words: states, bullets, bars; and their twins for `--ascii`.

Owns the two sets. A mark never says what the word beside it doesn't, and takes one cell in any terminal.
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, chop_cells

from grader.results import State

FANCY: Final = {
    "passed": "✓",
    "failed": "✗",
    "waiting": "…",
    "skipped": "-",
    "error": "!",
    "open": "·",
    "begun": "▸",
    "later": "·",
    "runs": "●",
    "full": "━",
    "empty": "─",
    "cursor": "▌",
    "dot": "·",
    "down": "▼",
    "right": "▶",
    "more": "…",
}
ASCII: Final = {
    "passed": "+",
    "failed": "x",
    "waiting": "~",
    "skipped": "-",
    "error": "!",
    "open": ".",
    "begun": ">",
    "later": ".",
    "runs": "*",
    "full": "#",
    "empty": ".",
    "cursor": "|",
    "dot": "-",
    "down": "v",
    "right": ">",
    "more": "~",
}
_marks = FANCY


def use_ascii(*, on: bool) -> None:
    """Choose the set for this process."""
    global _marks  # noqa: PLW0603  # one process draws on one terminal
    _marks = ASCII if on else FANCY


def is_ascii() -> bool:
    """Whether only ASCII may be drawn."""
    return _marks is ASCII


def mark(name: str | State) -> str:
    """The character of that name."""
    return _marks[str(name)]


def bar(done: int, total: int, width: int) -> str:
    """How much of `total` is done, in `width` cells."""
    full = round(width * done / total) if total else 0
    # What has begun is seen, and what is not finished never looks so.
    full = max(full, 1) if done else full
    full = min(full, width - 1) if done < total else full
    return _marks["full"] * full + _marks["empty"] * (width - full)


def cut(text: str, width: int) -> str:
    """`text` on one line in at most `width` cells, with a mark where something is missing."""
    if cell_len(text) <= width:
        return text
    return (chop_cells(text, max(1, width - 1))[0].rstrip() + _marks["more"]) if width > 0 else ""


def pad(text: str, width: int) -> str:
    """`text` filled with spaces to `width` cells; never cut."""
    return text + " " * max(0, width - cell_len(text))


def plain(text: str) -> str:
    """`text` with the marks that reports put between and behind words in the set in force."""
    return text.replace("·", _marks["dot"]).replace("…", _marks["more"])
