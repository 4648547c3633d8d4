"""A lab on its way from another format to ours: what the readers fill and the writer renders.

Owns the parts of a draft and the names in it; knows neither format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cluster.spec import NodeSpec
from grader.importing.ledger import Ledger, Place

_NO_SLUG = re.compile(r"[^a-z0-9]+")
WORKDIR = "work"
"""The work folder of a converted lab, below the learner's home."""
NAMESPACE = "default"
"""What scripts written for other platforms take for granted."""


@dataclass(slots=True)
class CheckDraft:
    """A check: `kind` is the one key beside the envelope, as the check block will have it."""

    id: str
    says: str
    kind: dict[str, Any]
    after: list[str] = field(default_factory=list)
    within: int = 0


@dataclass(slots=True)
class StepDraft:
    """A step; `body` is markdown in our dialect, `solution` a script."""

    id: str
    title: str
    place: Place
    body: str = ""
    checks: list[CheckDraft] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    """Hints that give the answer: they come last."""
    stage: str = ""
    """Commands that come before the solution, because the text tells the learner to run them first."""
    solution: str = ""


@dataclass(slots=True)
class File:
    """A file to copy."""

    data: bytes
    executable: bool = False


@dataclass(slots=True)
class LabDraft:
    """The lab. `place` is what it came from; `about` are facts of the source that a lab has no place for but its
    README. Files are named by their path in the lab's folder."""

    id: str
    title: str
    place: Place
    ledger: Ledger
    source: str
    minutes: int = 0
    nodes: list[NodeSpec] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    addons: list[str] = field(default_factory=list)
    intro: str = ""
    steps: list[StepDraft] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    about: list[tuple[str, str]] = field(default_factory=list)
    verified: list[tuple[str, Place]] = field(default_factory=list)
    """The texts of scripts that check, as the source has them, and where they stand."""
    spared: set[str] = field(default_factory=set)
    """Paths outside the work folder that checks find all the same."""

    def add_text(self, path: str, text: str) -> None:
        """A script or another text of the lab."""
        self.files[path] = File((text.rstrip("\n") + "\n").encode())

    def free(self, path: str) -> str:
        """`path`, or with a number before its ending where the lab has another file of that name."""
        stem, dot, ending = path.rpartition(".")
        stem, ending = (stem, dot + ending) if dot else (path, "")
        candidate, number = path, 1
        while candidate in self.files:
            number += 1
            candidate = f"{stem}-{number}{ending}"
        return candidate


def slug(text: str, fallback: str = "step") -> str:
    """`text` as an id: lower-case letters, digits and single hyphens, at most 50."""
    plain = text.lower().translate(_FOLDED)
    return _NO_SLUG.sub("-", plain).strip("-")[:50].strip("-") or fallback


_FOLDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "é": "e", "è": "e", "ñ": "n", "ç": "c", "&": "-"})


def unique(word: str, taken: set[str]) -> str:
    """`word`, with a number where it is taken already; taken from now on."""
    candidate, number = word, 1
    while candidate in taken:
        number += 1
        candidate = f"{word}-{number}"
    taken.add(candidate)
    return candidate


def one_line(text: object, fallback: str = "") -> str:
    """Text for a title or a sentence: one line, without what a terminal would obey."""
    words = "".join(c if c.isprintable() or c in " \t\n" else " " for c in str(text)).split()
    return " ".join(words)[:1000] or fallback
