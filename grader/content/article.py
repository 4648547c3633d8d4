"""From the file of an article to an `Article`: front matter, sections, questions with their answers.

Owns what an article is made of; what else is good form in one is for lint to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.content.matter import ArticleMatter, words_at
from grader.content.model import QUESTIONS, SECTIONS, Article, Question, Section
from grader.lab.frontmatter import read_versioned, repeated
from grader.lab.markdown import Dialect, Outline, read_outline
from grader.lab.problems import LabProblem, Source, did_you_mean, read_source
from grader.lab.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.lab import markdown
    from grader.lab.located import Located
    from grader.lab.model import Hint

DIALECT = Dialect(flags={"fragment": "yaml", "not-installed": "yaml"}, aside="answer")
_QUESTION = re.compile(r"###\s+(?P<text>.*?)\s*#*\s*\Z")


@dataclass(frozen=True, slots=True)
class Reading:
    """An article's file as far as it could be read; what is wrong with it has been told."""

    outline: Outline
    matter: ArticleMatter | None
    """None where anything in it is wrong."""
    written: Located | None
    """The front matter as it was written: a mapping, or None."""
    questions: list[Question]
    language: str

    @property
    def source(self) -> Source:
        """The file."""
        return self.outline.source

    def section(self, section_id: str) -> markdown.Section | None:
        """The section of that id, as it is written."""
        return next((section for section in self.outline.steps if section.id == section_id), None)


def article_file(folder: Path, name: str, lang: str = "en") -> Path:
    """Where the article stands in a folder of articles."""
    return folder / (f"{name}.md" if lang == "en" else f"{name}.{lang}.md")


def parse_article(folder: Path, name: str, lang: str = "en") -> tuple[Article | None, list[LabProblem]]:
    """The article in `lang` where it has that language, else in English.

    None where anything is wrong with it, and then all of that, sorted by place.
    """
    if not article_file(folder, name, lang).exists():
        lang = "en"
    found: list[LabProblem] = []
    reading = read_article(article_file(folder, name, lang), name, lang, found)
    if reading is None or found:
        return None, sorted(set(found))
    return _build(reading), []


def read_article(file: Path, name: str, lang: str, found: list[LabProblem]) -> Reading | None:
    """The article in `file`, which should be called `name`; None where it can't be read at all."""
    source = read_source(file, found)
    if source is None:
        return None
    outline = read_outline(source, found, DIALECT)
    matter, written = None, None
    questions: list[Question] = []
    if outline.matter is not None:
        matter, written = _read_matter(source, outline.matter, name, found)
        if outline.intro.body or outline.intro.blocks:
            message = _("text before the first section: what an article is about says its summary")
            found.append(source.problem(outline.matter.count("\n") + 3, 1, message))
        found += _sections(outline)
        questions = _questions(outline, found)
    return Reading(outline, matter, written, questions, lang)


def _read_matter(
    source: Source, text: str, name: str, found: list[LabProblem]
) -> tuple[ArticleMatter | None, Located | None]:
    written = read_versioned(source, found, text=text, first_line=2)
    if written is None:
        return None, None
    matter = validate(ArticleMatter, written.value, written, found)
    found += repeated(written, words_at(written.value, "labs"))
    if matter is not None and matter.article != name:
        message = _("article '{said}' is not the name of its file, '{name}'").format(said=matter.article, name=name)
        found.append(written.problem(("article",), message))
    return matter, written


def _sections(outline: Outline) -> Iterator[LabProblem]:
    """Each section once, in order, with something in it."""
    problem = outline.source.problem
    first: dict[str, int] = {}
    for section in outline.steps:
        if not section.id:
            continue  # told already
        if section.id not in SECTIONS:
            message = _("no section '{id}'; an article has: {ids}").format(id=section.id, ids=", ".join(SECTIONS))
            yield problem(section.line, 1, message + did_you_mean(section.id, SECTIONS))
        elif section.id in first:
            message = _("section '{id}' again (first on line {line})")
            yield problem(section.line, 1, message.format(id=section.id, line=first[section.id]))
        elif not section.body and section.id != "questions":
            yield problem(section.line, 1, _("section '{id}' is empty").format(id=section.id))
        first.setdefault(section.id, section.line)
    known = [section_id for section_id in first if section_id in SECTIONS]
    for wanted in SECTIONS:
        if wanted not in known:
            yield problem(1, 1, _("section '{id}' is missing").format(id=wanted))
    for section_id, wanted in zip(known, (name for name in SECTIONS if name in known), strict=True):
        if section_id != wanted:
            message = _("section '{id}' out of order: '{wanted}' comes before it")
            yield problem(first[section_id], 1, message.format(id=section_id, wanted=wanted))
            return


def _questions(outline: Outline, found: list[LabProblem]) -> list[Question]:
    problem = outline.source.problem
    for section in outline.steps:
        if section.id != "questions":
            found += [
                problem(aside.line, 1, _("an answer outside the section 'questions'")) for aside in section.asides
            ]
    asked = next((section for section in outline.steps if section.id == "questions"), None)
    if asked is None:
        return []
    questions: list[Question] = []
    answers: list[list[Hint]] = []
    for line, part in _parts(outline, asked):
        if isinstance(part, str):
            match = _QUESTION.match(part)
            if match and match["text"]:
                questions.append(Question(text=match["text"], answer="", line=line))
                answers.append([])
            else:
                message = _("only questions ('### …') and their answers ('::: answer') stand in this section")
                found.append(problem(line, 1, message))
        elif not questions:
            found.append(problem(line, 1, _("an answer before its question")))
        else:
            answers[-1].append(part)
            if len(answers[-1]) > 1:
                message = _("a second answer to the question of line {line}").format(line=questions[-1].line)
                found.append(problem(line, 1, message))
    for question, given in zip(questions, answers, strict=True):
        if not given:
            found.append(problem(question.line, 1, _("a question without an answer")))
    if len(questions) != QUESTIONS:
        message = _("{count} questions; an article asks {wanted}").format(count=len(questions), wanted=QUESTIONS)
        found.append(problem(asked.line, 1, message))
    return [
        Question(text=question.text, answer=given[0].text if given else "", line=question.line)
        for question, given in zip(questions, answers, strict=True)
    ]


def _parts(outline: Outline, section: markdown.Section) -> Iterator[tuple[int, str | Hint]]:
    """(line, text or answer) of the section, blank lines left out; of text in a row the first line is enough."""
    lines = outline.source.text.split("\n")
    end = next((other.line for other in outline.steps if other.line > section.line), len(lines) + 1)
    asides = {aside.line: aside for aside in section.asides}
    inside, told = False, False
    for number in range(section.line + 1, end):
        text = lines[number - 1]
        is_mark = text.startswith(":::") and number not in outline.code_lines
        if is_mark:
            inside = number in asides
            if inside:
                yield number, asides[number]
                told = False
        elif text.strip() and not inside:
            is_question = number not in outline.code_lines and text.startswith("###")
            if is_question or not told:
                yield number, text if number not in outline.code_lines else ""
            told = not is_question


def _build(reading: Reading) -> Article:
    """The article of a reading in which nothing is wrong."""
    matter = reading.matter
    assert matter is not None
    return Article(
        id=matter.article,
        title=matter.title,
        summary=matter.summary,
        minutes=matter.minutes,
        labs=matter.labs,
        sections=tuple(
            Section(id=section.id, title=section.title, body=section.body, line=section.line)
            for section in reading.outline.steps
        ),
        questions=tuple(reading.questions),
        blocks=tuple(block for section in reading.outline.steps for block in section.blocks),
        file=reading.source.path,
        language=reading.language,
    )
