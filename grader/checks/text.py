"""Finding words and messages in text people pasted: whole words, any white space, any case.

Owns the rules of "mentions" and "quotes"; knows nothing of files. The only regular expressions here are ours:
what a lab or a learner writes is always taken literally.
"""

from __future__ import annotations

import re
from functools import lru_cache


def mentions(text: str, words: str) -> bool:
    """Whether `words` stand in `text` as whole words: `10.88.0.1` is not in `10.88.0.12`.

    A full stop may end a sentence, or a DNS name: `llm-1.llm.infer.` mentions `llm-1.llm.infer`.
    """
    return _whole_words(" ".join(words.split())).search(text) is not None


@lru_cache(maxsize=256)
def _whole_words(words: str) -> re.Pattern[str]:
    escaped = r"\s+".join(re.escape(word) for word in words.split(" "))
    before = r"(?<![\w.-])" if words[:1].isalnum() else ""
    after = r"(?![\w-])(?!\.\w)" if words[-1:].isalnum() else ""
    return re.compile(before + escaped + after, re.IGNORECASE)


def quotes(text: str, message: str) -> bool:
    """Whether the whole of `message` is in `text`, white space and case aside (terminals wrap anywhere)."""
    wanted = _bare(message)
    return bool(wanted) and wanted in _bare(text)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


def gapless(line: str) -> str:
    """A line with every run of white space as one space, none at its ends."""
    return " ".join(line.split())


def record_key(line: str) -> str:
    """What makes two record lines the same: the order of `key=value` words does not matter."""
    words = line.split()
    return " ".join(sorted(words)) if words and all("=" in word for word in words) else " ".join(words)
