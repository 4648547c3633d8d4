"""An article as a terminal shows it.

Owns the order of the page and what answers become there; knows nothing of how far a reader is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.report.page import draw

if TYPE_CHECKING:
    from grader.content.model import Article


def render(article: Article, *, width: int, colour: bool, answers: bool = False) -> str:
    """The article in lines of at most `width` cells, ended by a new line; without `answers` only questions."""
    return draw(page(article, answers=answers), width=width, colour=colour)


def page(article: Article, *, answers: bool = False) -> str:
    """The article as one markdown text, as it is laid out on a terminal."""
    facts = [article.id, _("{minutes} min").format(minutes=article.minutes), *article.labs]
    parts = [f"# {article.title}", " · ".join(facts), article.summary]
    for section in article.sections:
        body = section.body if section.id != "questions" else _questions(article, answers=answers)
        parts += [f"## {section.title}", body]
    return "\n\n".join(parts) + "\n"


def _questions(article: Article, *, answers: bool) -> str:
    parts = []
    for number, question in enumerate(article.questions, start=1):
        parts.append(f"### {number}. {question.text}")
        if answers:
            # Each paragraph is a quote of its own: within one, rich leaves no blank line between two.
            parts.append("\n".join(f"> {line}" if line.strip() else "" for line in question.answer.split("\n")))
    if not answers:
        parts.append(_("Answers: `grader read {article} --answers`").format(article=article.id))
    return "\n\n".join(parts)
