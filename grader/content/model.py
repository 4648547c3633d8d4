"""Articles, courses and glossary as everything else sees them: plain, frozen data.

Owns these and their parts; knows nothing of the files they were read from but their names and line numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grader.lab.model import CodeBlock

SECTIONS = ("why", "how", "field", "words", "questions", "try")
"""The ids of an article's sections: exactly these, in this order."""
QUESTIONS = 3
"""How many questions an article asks its reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What stands below one `##` heading: `body` is its markdown without answers; `line` is the heading's."""

    id: str
    title: str
    body: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question for self-check, in markdown. `line` is that of the question."""

    text: str
    answer: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One article in one language. `minutes` is what it takes to read; `labs` are the labs it prepares for."""

    id: str
    title: str
    summary: str
    minutes: int
    labs: tuple[str, ...]
    sections: tuple[Section, ...]
    questions: tuple[Question, ...]
    blocks: tuple[CodeBlock, ...]
    """Its code blocks, in order."""
    file: Path
    language: str
    """English where the article has no file in the language asked for."""

    def section(self, section_id: str) -> Section:
        """The section of that id; KeyError where there is none."""
        for section in self.sections:
            if section.id == section_id:
                return section
        raise KeyError(section_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One stop on a course's path; `after` names stops before it that should be done first."""

    kind: Literal["article", "lab"]
    id: str
    minutes: int
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """An ordered path of articles and labs; `title` and `summary` by language."""

    id: str
    title: Mapping[str, str]
    summary: Mapping[str, str]
    path: tuple[Item, ...]

    @property
    def minutes(self) -> int:
        """What the whole path takes."""
        return sum(item.minutes for item in self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One entry of the glossary: the English term, and what it means in each language."""

    term: str
    en: str
    ko: str
