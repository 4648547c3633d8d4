"""The articles and courses there are: where they stand, in what order, and how one is loaded.

Owns the folder `content`; knows nothing of what a learner has read.
"""

from __future__ import annotations

from pathlib import Path

from cluster.errors import UsageProblem
from cluster.i18n import LANGUAGES, _
from cluster.paths import data_dir
from grader.content.article import parse_article
from grader.content.course import parse_course
from grader.content.glossary import read_glossary
from grader.content.model import Article, Course, Term
from grader.lab.problems import LabProblem, did_you_mean

ARTICLES, COURSES, GLOSSARY = "articles", "courses", "glossary.yaml"
_PACKAGE = Path(__file__).resolve().parent.parent
_TRANSLATED = tuple(f".{lang}" for lang in LANGUAGES if lang != "en")


def content_dir() -> Path:
    """The folder of articles, courses and glossary that came with this version."""
    return data_dir("content", package=_PACKAGE)


def article_names(folder: Path) -> list[str]:
    """The articles in a folder of articles, by alphabet; one that exists only in translation counts, too."""
    stems = [path.stem for path in folder.glob("*.md") if not path.name.startswith(".")]
    return sorted({stem.rpartition(".")[0] if stem.endswith(_TRANSLATED) else stem for stem in stems})


def course_names(folder: Path) -> list[str]:
    """The courses in a folder of courses, by alphabet."""
    return sorted(path.stem for path in folder.glob("*.yaml") if not path.name.startswith("."))


def article_ids() -> list[str]:
    """The id of every article, in the order in which courses have them, then by alphabet."""
    known = article_names(content_dir() / ARTICLES)
    courses = [course for name in course_ids() if (course := _parsed_course(name)[0]) is not None]
    on_paths = [item.id for course in courses for item in course.path if item.kind == "article"]
    return list(dict.fromkeys([*(name for name in on_paths if name in known), *known]))


def course_ids() -> list[str]:
    """The id of every course, by alphabet."""
    return course_names(content_dir() / COURSES)


def load_article(name: str, lang: str = "en") -> Article:
    """The article of that id, in `lang` where it has that language, else in English.

    UsageProblem: there is no such article (a near name is offered), or its file is wrong: then all that is wrong,
    one line each.
    """
    known = article_names(content_dir() / ARTICLES)
    if name not in known:
        raise _unknown(_("no article {name}"), name, known, _("articles there are: {names}"))
    article, problems = parse_article(content_dir() / ARTICLES, name, lang)
    if article is None:
        raise UsageProblem("\n".join(map(str, problems)))
    return article


def load_course(name: str) -> Course:
    """The course of that id; UsageProblem as for an article."""
    known = course_ids()
    if name not in known:
        raise _unknown(_("no course {name}"), name, known, _("courses there are: {names}"))
    course, problems = _parsed_course(name)
    if course is None:
        raise UsageProblem("\n".join(map(str, problems)))
    return course


def glossary() -> list[Term]:
    """Every term, in alphabetical order; UsageProblem where the file is wrong."""
    found: list[LabProblem] = []
    terms = read_glossary(content_dir() / GLOSSARY, found)
    if terms is None or found:
        raise UsageProblem("\n".join(map(str, sorted(set(found)))))
    return terms


def _parsed_course(name: str) -> tuple[Course | None, list[LabProblem]]:
    return parse_course(content_dir() / COURSES / f"{name}.yaml")


def _unknown(what: str, name: str, known: list[str], there_are: str) -> UsageProblem:
    message = what.format(name=name) + did_you_mean(name, known)
    return UsageProblem(message, there_are.format(names=", ".join(known)) if known else "")
