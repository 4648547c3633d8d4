"""Finding words and messages in text people pasted: whole words, any white space, any case.

Owns the rules of "mentions" and "quotes"; knows nothing of files. The only regular expressions here are ours:
what a lab or a learner writes is always taken literally.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left


def mentions(text: str, words: str) -> bool:
    """Whether `words` stand in `text` as whole words: `10.88.0.1` is not in `10.88.0.12`.

    A full stop may end a sentence, or a DNS name: `llm-1.llm.infer.` mentions `llm-1.llm.infer`.
    """
    text, words = gapless(text).casefold(), gapless(words).casefold()
    if len(words) > _LONG_WORDS:
        return words in text
    # `find` and not a pattern: texts and words that nearly repeat themselves would have it try each place in full.
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (
            (words[:1].isalnum() and _GOES_ON_BEFORE.match(text[at - 1 : at]))
            or (words[-1:].isalnum() and _GOES_ON_AFTER.match(text[end : end + 2]))
        ):
            return True
        at = text.find(words, at + 1)
    return False


_LONG_WORDS = 200
"""Characters beyond which nobody means a part of a word."""
_GOES_ON_BEFORE = re.compile(r"[\w.-]")
_GOES_ON_AFTER = re.compile(r"[\w-]|\.\w")


def quotes(text: str, message: str) -> bool:
    """Whether the whole of `message` is in `text`, white space and case aside (terminals wrap anywhere).

    What `kubectl -o jsonpath` prints of more than one value is JSON, where some characters are escaped.
    """
    wanted = _bare(message)
    return bool(wanted) and (wanted in _bare(text) or wanted in _bare(_unescaped(text)))


def departure(text: str, message: str) -> tuple[str, str] | None:
    """Where a text leaves the message it quotes: the last words that agree, and those that then follow.

    None where not enough agrees to call it a quotation; no words follow where the text ends.
    """
    places = [(folded, place) for place, raw in enumerate(text) if not raw.isspace() for folded in raw.casefold()]
    bare, wanted = "".join(folded for folded, _place in places), _bare(message)
    agreed = bisect_left(range(1, len(wanted) + 1), 1, key=lambda length: wanted[:length] not in bare)
    if not wanted or agreed < min(_ENOUGH, len(wanted)):
        return None
    start = bare.index(wanted[:agreed])
    first, parted = places[start][1], places[start + agreed - 1][1] + 1
    if text[parted : parted + 1].strip():  # in the middle of a word: then from its beginning
        parted -= len(text[first:parted].rsplit(maxsplit=1)[-1])
    agreeing, then = gapless(text[first:parted]), gapless(text[parted : parted + 2 * _NEARBY])
    return (
        agreeing if len(agreeing) <= _NEARBY else f"…{agreeing[-_NEARBY:]}",
        then if len(then) <= _NEARBY else f"{then[:_NEARBY]}…",
    )


_ENOUGH = 12
"""Characters that agree by more than chance."""

_NEARBY = 40
"""Characters shown before and after the place where they part."""

_ESCAPES = re.compile(r'\\(?:u[0-9a-f]{4}|["\\/bfnrt])', re.IGNORECASE)


def _unescaped(text: str) -> str:
    """The text with what JSON escapes as it was before; halves of a pair stay halves."""
    return _ESCAPES.sub(lambda found: str(json.loads(f'"{found.group()}"')), text)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


def gapless(line: str) -> str:
    """A line with every run of white space as one space, none at its ends."""
    return " ".join(line.split())


def record_key(line: str) -> str:
    """What makes two record lines the same: the order of `key=value` words does not matter."""
    words = line.split()
    return " ".join(sorted(words)) if words and all("=" in word for word in words) else " ".join(words)
