"""How checks say things: values shortened, control characters made visible, times of day, near names.

Owns the look of what is quoted in a finding; knows nothing of what is being checked.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime

from cluster.i18n import _

_LIMIT = 60


def shown(value: object, limit: int = _LIMIT) -> str:
    """`value` on one line of at most `limit` characters: safe to print, whatever a learner wrote.

    Strings are quoted, maps and lists are abridged. It never walks more than it shows: YAML aliases can make
    a small file a huge (or endless) value.
    """
    return shorten(_render(value, limit), limit)


def shorten(text: str, limit: int = _LIMIT) -> str:
    """`text` on one line: control, format and bidirectional characters escaped, cut at `limit`."""
    cut = text[: limit + 1]
    safe = "".join(_visible(character) for character in cut)
    return safe if len(text) <= limit and len(safe) <= 2 * limit else safe[: limit - 1].rstrip() + "…"


def clock(at: float) -> str:
    """Unix time as local time of day, 12:03:11."""
    return datetime.fromtimestamp(at).astimezone().strftime("%H:%M:%S")


def period(start: float, end: float) -> str:
    """`12:03:11 to 12:03:40` in local time."""
    return _("{start} to {end}").format(start=clock(start), end=clock(end))


def near(word: str, known: Iterable[str]) -> str:
    """The known word that `word` was probably meant to be, or an empty string."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def listed(words: Iterable[str], limit: int = 4) -> str:
    """`a, b, c` with an ellipsis after `limit`."""
    every = list(words)
    return ", ".join(every[:limit]) + (", …" if len(every) > limit else "")


def _visible(character: str) -> str:
    if character == " " or unicodedata.category(character)[0] not in "CZ":
        return character
    return " " if character == "\u00a0" else character.encode("unicode_escape").decode("ascii")


def _render(value: object, budget: int) -> str:
    if isinstance(value, str):
        return f'"{value[: budget + 1]}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if budget <= 0 and isinstance(value, (Mapping, list, tuple)):
        return "…"
    if isinstance(value, Mapping):
        return "{" + _items(((f"{key}: ", item) for key, item in value.items()), budget - 2) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + _items((("", item) for item in value), budget - 2) + "]"
    return str(value)[: budget + 1]


def _items(pairs: Iterable[tuple[str, object]], budget: int) -> str:
    parts: list[str] = []
    for label, item in pairs:
        if budget <= 0:
            parts.append("…")
            break
        part = label + _render(item, budget - len(label))
        parts.append(part)
        budget -= len(part) + 2
    return ", ".join(parts)
