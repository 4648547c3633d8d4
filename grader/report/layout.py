"""How text fits a terminal: width in cells, wrapping, padding, escaping, colour.

Owns what every text report shares; knows nothing of labs, steps or results.
"""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, chop_cells

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

WIDTH: Final = 80
NARROWEST: Final = 40
WIDEST: Final = 100
"""Longer lines are harder to read than a wrapped one."""
MOST_LINES: Final = 12
MOST_CHARACTERS: Final = 2000
COMMANDS: Final = ("kubectl", "k", "grader", "cat", "ls", "diff", "nslookup", "getent", "sudo")

_JOINTS: Final = (".", "/", "]", ",", ";", ":", "=", "_")
"""Characters behind which a long word may be broken."""

ASCII_TWINS: Final = str.maketrans("·×…→", "-x~>")
"""What our sentences have beyond ASCII, each for one cell; for `str.translate` where only ASCII may be drawn."""

BOLD, DIM, RED, GREEN, YELLOW, MAGENTA = "1", "2", "31", "32", "33", "35"


def colours(stream: TextIO) -> bool:
    """Whether to colour what is written to `stream`: a terminal that can, and no NO_COLOR set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def width_of(stream: TextIO, widest: int = WIDEST) -> int:
    """The width to lay text out for: the terminal's within reason, WIDTH where there is none."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else WIDTH
    except (OSError, ValueError):
        columns = WIDTH
    return max(NARROWEST, min(columns or WIDTH, widest))


def paint(text: str, style: str, *, on: bool) -> str:
    """`text` in an SGR style when `on`; styles never carry meaning that the words don't."""
    return f"\x1b[{style}m{text}\x1b[0m" if on and text else text


def clean(text: str) -> str:
    """`text` with nothing in it that a terminal would obey or hide: such characters become escapes.

    Files and cluster messages are quoted in reports; an escape sequence or a bidi override in one must not
    rewrite the verdict. New lines stay, tabs become a space, Hangul is composed (macOS writes it apart).
    """
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\t", " "))
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def one_line(text: str) -> str:
    """`clean`, with new lines shown as a space."""
    return " ".join(clean(text).split("\n")).strip()


def pad(text: str, width: int) -> str:
    """`text` filled with spaces to `width` cells; never cut."""
    return text + " " * max(0, width - cell_len(text))


def cut(text: str, width: int) -> str:
    """`text` on one line in at most `width` cells, with an ellipsis where something is missing."""
    if cell_len(text) <= width:
        return text
    return (chop_cells(text, max(1, width - 1))[0].rstrip() + "…") if width > 0 else ""


def spread(left: str, right: str, width: int) -> str:
    """`left` and `right` at the two ends of a line; `left` is cut where they don't fit."""
    left = cut(left, width - cell_len(right) - 1)
    return pad(left, width - cell_len(right)) + right


def wrap(text: str, width: int) -> list[str]:
    """`text`, cleaned, in lines of at most `width` cells; broken at spaces, within a word only if it must.

    At most MOST_LINES lines; the last one then ends with an ellipsis (`--json` has everything).
    """
    text = clean(text).strip("\n")
    shown = text[:MOST_CHARACTERS]
    lines = [line for paragraph in shown.split("\n") for line in _wrap_words(paragraph.split(), width)]
    if len(lines) <= MOST_LINES and len(shown) == len(text):
        return lines or [""]
    lines = lines[:MOST_LINES]
    lines[-1] = cut(lines[-1] + " " * width, width)
    return lines


def wrap_command(command: str, width: int) -> list[str]:
    """A command to copy: broken with a backslash, between words only and never inside quotes.

    A word that is too long stays whole: the terminal's own wrapping copies right, ours would not.
    """
    words = _shell_words(one_line(command))
    lines, line = [], ""
    for word in words:
        joined = f"{line} {word}" if line else word
        # Two cells for " \" at the end of a line that goes on.
        if line and cell_len(joined) > width - 2:
            lines.append(f"{line} \\")
            line = word
        else:
            line = joined
    return [*lines, line]


def wrap_items(items: Iterable[str], width: int) -> list[str]:
    """Items joined by a dot, broken between them where they don't all fit."""
    lines: list[str] = []
    for item in map(one_line, items):
        joined = f"{lines[-1]} · {item}" if lines else item
        if lines and cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.extend(wrap(item, width))
    return lines[:MOST_LINES]


def is_command(text: str) -> bool:
    """Whether what to look at is a command, not a field or a place."""
    return text.split(" ", 1)[0] in COMMANDS


def hanging(label: str, lines: Iterable[str], indent: int, column: int) -> list[str]:
    """`label` at `indent`, `lines` at `column` under one another."""
    first = pad(" " * indent + label, column)
    if cell_len(first) > column:
        first += " "
    return [
        (first if number == 0 else " " * column) + line if line else first.rstrip() if number == 0 else ""
        for number, line in enumerate(lines)
    ]


def _visible(character: str) -> str:
    if character in "\n " or character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _wrap_words(words: list[str], width: int) -> list[str]:
    lines, line = [], ""
    for word in words:
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(word, width)
        lines.extend(whole)
    return [*lines, line]


def _pieces(word: str, width: int) -> list[str]:
    """A word that is too long for a line: broken behind punctuation where there is any, else where a line ends."""
    pieces = []
    while cell_len(word) > width:
        piece = chop_cells(word, width)[0] or word[0]
        end = max((piece.rfind(mark) for mark in _JOINTS), default=-1) + 1
        piece = piece[:end] if cell_len(piece[:end]) > width // 2 else piece
        pieces.append(piece)
        word = word[len(piece) :]
    return [*pieces, word] if word else pieces


def _shell_words(command: str) -> list[str]:
    words, word, quote = [], "", ""
    escaped = False
    for character in command:
        if character == " " and not quote and not escaped:
            if word:
                words.append(word)
            word = ""
            continue
        if escaped:
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = True
        elif character in "'\"" and quote in ("", character):
            quote = "" if quote else character
        word += character
    return [*words, word] if word else words
