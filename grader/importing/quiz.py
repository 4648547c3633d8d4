"""Katacoda's questions in markdown: `>>Question<<` and what counts as its answer.

Owns their forms and the check that takes their place: fields `key=value` of a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

FILE = "answers.txt"
_QUESTION = re.compile(r"\s*>>\s*(?P<text>.*?)\s*<<\s*\Z")
_CHOICE = re.compile(r"\s*(?P<open>[(\[])(?P<mark>[* x]?)[)\]]\s*(?P<text>.+?)\s*\Z")
_EXACT = re.compile(r"\s*===\s*(?P<text>.+?)\s*\Z")
_HOLDS = re.compile(r"\s*=~=\s*(?P<text>.+?)\s*\Z")


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `answer`: what is wanted of the field `key`; None where nothing is."""

    key: str
    text: str
    choices: tuple[str, ...]
    answer: str | None
    how: str

    def shown(self) -> str:
        """As the learner reads it."""
        listed = "\n".join(f"- {letter}: {text}" for letter, text in zip(ascii_lowercase, self.choices, strict=False))
        how = f"Answer in `{FILE}`, as `{self.key}={self.how}`."
        return "\n\n".join(part for part in (f"**{self.text}**", listed, how) if part) + "\n"


def begins(row: str) -> bool:
    """Whether a question stands there."""
    return bool(_QUESTION.match(row))


def read(rows: Sequence[str], at: int, number: int) -> tuple[Question | None, int]:
    """The question at that row, and the row after it. None where no form of answer follows."""
    asked = _QUESTION.match(rows[at])
    assert asked is not None
    key, text = f"q{number}", asked["text"]
    at += 1
    while at < len(rows) and not rows[at].strip():
        at += 1
    if at < len(rows) and (exact := _EXACT.match(rows[at])):
        # What looks like one of our templates is no plain text to a check.
        answer = None if re.search("[{][{%#]", exact["text"]) else exact["text"]
        return Question(key, text, (), answer, "what you think"), at + 1
    if at < len(rows) and _HOLDS.match(rows[at]):
        return Question(key, text, (), None, "what you think"), at + 1
    choices: list[str] = []
    right: list[str] = []
    while at < len(rows) and (choice := _CHOICE.match(rows[at])):
        if choice["mark"].strip():
            right.append(ascii_lowercase[len(choices) % 26])
        choices.append(choice["text"])
        at += 1
    if not choices:
        return None, at
    how = "letters, with commas" if len(right) > 1 else "one letter"
    return Question(key, text, tuple(choices), ",".join(right) or None, how), at
