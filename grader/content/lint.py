"""Everything that can be said of articles, courses and the glossary without a cluster or a reader.

Owns the list of rules and those between files; a rule about one file lives with that file's reader.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import LANGUAGES, _
from grader.content import course as courses
from grader.content.article import Reading, article_file, read_article
from grader.content.catalogue import ARTICLES, COURSES, GLOSSARY, article_names, course_names
from grader.content.code import check_code, compare_code
from grader.content.glossary import read_glossary
from grader.content.matter import words_at
from grader.content.prose import Names, check_prose
from grader.content.text import read_body
from grader.lab.catalogue import lab_ids, load_lab
from grader.lab.problems import LabProblem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from grader.content.matter import ArticleMatter
    from grader.lab.model import Lab


def lint_content(folder: Path) -> list[LabProblem]:
    """All that is wrong in the content folder, in every language, by file and line."""
    found: list[LabProblem] = []
    found += _files(folder)
    terms = read_glossary(folder / GLOSSARY, found)
    names = Names(
        labs=lab_ids(),
        articles=article_names(folder / ARTICLES),
        terms=None if terms is None else [term.term for term in terms],
    )
    matters: dict[str, ArticleMatter | None] = {}
    for name in names.articles:
        matters[name] = _article(folder / ARTICLES, name, names, found)
    for name in course_names(folder / COURSES):
        reading = courses.read_course(folder / COURSES / f"{name}.yaml", found)
        if reading is not None:
            found += _course(reading, matters, names)
    return sorted(replace(one, rule="article") for one in set(found))


def _files(folder: Path) -> Iterator[LabProblem]:
    """Files that nothing reads: mostly a name that is misspelt."""
    known = {folder: (ARTICLES, COURSES, GLOSSARY), folder / ARTICLES: ("*.md",), folder / COURSES: ("*.yaml",)}
    for parent, patterns in known.items():
        if not parent.is_dir():
            yield LabProblem(str(parent), 1, 1, _("is missing"))
            continue
        for path in sorted(parent.iterdir()):
            if not path.name.startswith(".") and not any(path.match(pattern) for pattern in patterns):
                message = _("nothing reads '{name}' here; known: {known}")
                message = message.format(name=path.name, known=", ".join(patterns))
                yield LabProblem(str(path), 1, 1, message + did_you_mean(path.name, patterns))


# -- articles -------------------------------------------------------------------------------------------


def _article(folder: Path, name: str, names: Names, found: list[LabProblem]) -> ArticleMatter | None:
    """Lint one article in every language; its English front matter where that is right."""
    readings = {}
    for lang in LANGUAGES:
        reading = read_article(article_file(folder, name, lang), name, lang, found)
        if reading is None:
            continue
        readings[lang] = reading
        found += check_prose(reading, read_body(reading.outline), names)
        found += check_code(reading)
    english = readings.pop("en", None)
    if english is None:
        return None
    for reading in readings.values():
        found += _compare_matter(english, reading)
        found += compare_code(english, reading)
    return english.matter


def _compare_matter(reading: Reading, other: Reading) -> Iterator[LabProblem]:
    """What a translation must say as the English article does; its sections are compared with the fixed ones."""
    if reading.matter is None or other.matter is None or other.written is None:
        return
    for key in ("minutes", "labs"):
        wanted, said = getattr(reading.matter, key), getattr(other.matter, key)
        if said != wanted:
            message = _("{key}: not what the English article says").format(key=key)
            yield other.written.problem((key,), message)


# -- courses --------------------------------------------------------------------------------------------


def _course(
    reading: courses.Reading, matters: Mapping[str, ArticleMatter | None], names: Names
) -> Iterator[LabProblem]:
    """Every stop exists, takes the time it says, and stands behind the labs it comes after."""
    if reading.matter is None:
        return
    written = reading.written
    before: list[str] = []
    for (path, _entry), item in zip(words_at(written.value, "path"), reading.matter.path, strict=True):
        known = names.labs if item.lab else names.articles
        kind = "lab" if item.lab else "article"
        if item.id not in known:
            message = _("no lab '{name}'") if item.lab else _("no article '{name}'")
            message = message.format(name=item.id) + did_you_mean(item.id, known)
            yield written.problem((*path, kind), message)
            continue
        lab = _lab(item.id) if item.lab else None
        about = lab if item.lab else matters[item.id]
        if about is not None and about.minutes != item.minutes:
            message = _("{id} takes {minutes} minutes").format(id=item.id, minutes=about.minutes)
            yield written.problem((*path, "minutes"), message)
        for needed in lab.after if lab else ():
            if needed not in before:
                message = _("{lab} comes after {other}, which does not stand before it on this path")
                yield written.problem((*path, kind), message.format(lab=item.id, other=needed))
        before.append(item.id)


def _lab(name: str) -> Lab | None:
    try:
        return load_lab(name)
    except UsageProblem:
        return None  # lint of that lab tells what is wrong with it
