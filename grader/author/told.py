"""Texts that tell an answer: what a learner has to find out stands in the lab's own words.

Owns what counts as telling. An answer is told where it stands word for word in prose, a hint, the sentence of a
check or what it says to look at, in any language of the lab. It is not told by what everybody is given: numbers,
words of up to three characters, and the vocabulary of the lab, which is what stands in its front matter, in its
start objects, in manifests of its text, and in the names and paths that its text asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import LANGUAGES, _
from grader.lab.exceptions import read_exceptions
from grader.lab.overlay import translation_file
from grader.lab.problems import LabProblem, read_source

if TYPE_CHECKING:
    from pathlib import Path

SHORT = 3
"""An answer of at most so many characters is found everywhere by chance."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([a-zA-Z%]{1,2})?\Z")
_TRIVIAL = frozenset({"true", "false", "null", "none"})
_TOKEN = re.compile(r"[^\s\"',{}\[\]()<>`|=]+")
_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$")
_SEEN_KEY = re.compile(r"[ \t-]*(says|look_at):")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Told:
    """Answers that a text tells, and exceptions that excuse nothing."""

    problems: tuple[LabProblem, ...]
    unneeded: tuple[LabProblem, ...]


def answers_told(folder: Path, answers: Iterable[tuple[str, str]]) -> Told:
    """Where the lab in `folder` tells one of `answers` (check, answer). Exceptions are read from its folder."""
    texts = [_Text.of(path) for path in _files(folder)]
    vocabulary = {word for text in texts for word in text.vocabulary} | _start_words(folder)
    exceptions = read_exceptions(folder, [])
    used: set[int] = set()
    problems: dict[tuple[str, str, str], LabProblem] = {}
    for check, answer in answers:
        meant = " ".join(answer.split())
        if is_common(meant, vocabulary):
            continue
        for text in texts:
            for line, column in text.places(meant):
                excused = {
                    index
                    for index, one in enumerate(exceptions.matter.answers)
                    if one.check == check and " ".join(one.text.split()) == meant
                }
                used |= excused
                if not excused:
                    message = _("tells the answer of {check}: {answer}")
                    shown = meant if len(meant) <= _SHOWN else f"{meant[:_SHOWN]}…"
                    problem = LabProblem(str(text.path), line, column, message.format(check=check, answer=shown))
                    problems.setdefault((str(text.path), check, meant), problem)
    nothing = _("excuses nothing: the text does not tell '{text}'")
    unneeded = tuple(
        exceptions.problem("answers", index, nothing.format(text=one.text))
        for index, one in enumerate(exceptions.matter.answers)
        if index not in used
    )
    return Told(tuple(sorted(problems.values())), unneeded)


def is_common(answer: str, vocabulary: Iterable[str]) -> bool:
    """Whether an answer is such that finding it in a text says nothing."""
    return (
        len(answer) <= SHORT
        or _NUMBER.match(answer) is not None
        or answer.casefold() in _TRIVIAL
        or answer in vocabulary
    )


@dataclass(frozen=True, slots=True)
class _Text:
    """What a learner reads of one file; all else is blank, so that places stay true."""

    path: Path
    text: str
    vocabulary: frozenset[str]

    @classmethod
    def of(cls, path: Path) -> _Text:
        """Read and masked."""
        source = read_source(path, [])
        lines = [] if source is None else source.text.split("\n")
        kept, words = _masked(lines)
        return cls(path, "\n".join(kept), frozenset(words))

    def places(self, answer: str) -> Iterator[tuple[int, int]]:
        """(line, column) where the answer stands as whole words; the width of gaps does not matter, and of more than
        one word neither does case."""
        words = answer.split()
        meant = r"\s+".join(map(re.escape, words))
        pattern = re.compile(rf"(?<![\w/.-]){meant}(?![\w/-]|\.\w)", re.IGNORECASE if len(words) > 1 else 0)
        for match in pattern.finditer(self.text):
            start = match.start()
            yield self.text.count("\n", 0, start) + 1, start - self.text.rfind("\n", 0, start)


def _files(folder: Path) -> list[Path]:
    translations = [translation_file(folder, lang) for lang in LANGUAGES if lang != "en"]
    return [path for path in (folder / "lab.md", *translations) if path.exists()]


def _masked(lines: list[str]) -> tuple[list[str], set[str]]:
    """The lines that a learner reads, and the words that the file gives: front matter and manifests."""
    kept: list[str] = []
    words: set[str] = set()
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0) if lines else 0
    closing, what = "", ""
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if number <= end and lines[0].rstrip() == "---":
            words |= _tokens(line)
            kept.append("")
        elif closing:
            over = line.strip(" \t>").startswith(closing) and not line.strip(" \t>").strip(closing[0])
            if over:
                closing = ""
            elif what == "given":
                words |= _tokens(line)
            kept.append(line if what != "check" or _SEEN_KEY.match(line) else "")
        elif fence:
            closing = fence["mark"]
            language, *flags = fence["info"].split() or [""]
            what = "check" if "check" in flags else "given" if language == "yaml" else "shown"
            kept.append("")
        else:
            kept.append(line)
    return kept, words


def _start_words(folder: Path) -> set[str]:
    words: set[str] = set()
    for path in sorted((folder / "start").glob("*.yaml")):
        source = read_source(path, [])
        words |= _tokens(source.text) if source is not None else set()
    return words


def _tokens(text: str) -> set[str]:
    """The words of YAML; a comment gives nobody anything."""
    return {word.strip(":,;.") for word in _TOKEN.findall(_COMMENT.sub("", text))}
