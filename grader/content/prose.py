"""The words of one article: links that lead nowhere, what a terminal would lose, tables that are too wide.

Owns the rules of lint about prose; knows no other file but by the names it is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.content.text import WIDEST, Body
from grader.lab.problems import LabProblem, did_you_mean, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from grader.content.article import Reading

_SCHEME = re.compile(r"(?P<scheme>lab|article):(?P<id>.*)\Z")


@dataclass(frozen=True, slots=True)
class Names:
    """What may be named: ids of labs and articles, terms of the glossary."""

    labs: Sequence[str]
    articles: Sequence[str]
    terms: Sequence[str] | None
    """None where the glossary can't be read."""


def check_prose(reading: Reading, body: Body, names: Names) -> Iterator[LabProblem]:
    """What is wrong with the words of one article."""
    problem = reading.source.problem
    for line in reading.outline.unnamed:
        yield problem(line, 1, _("a code block without a language: write ```text for plain text"))
    for token in body.tokens:
        if token.type == "html_block" and token.map:
            yield problem(token.map[0] + 1, 1, _raw_html(token.content.strip().split("\n")[0]))
    for token in body.inlines():
        yield from _inline(reading, body, token)
    yield from _links(reading, body, names)
    yield from _answers(reading, body)
    for table in body.tables():
        if table.width > WIDEST:
            message = _("a table {width} columns wide; at most {widest}").format(width=table.width, widest=WIDEST)
            yield problem(table.line, 1, message)
    yield from _words(reading, body, names)


def _raw_html(text: str) -> str:
    message = _("raw HTML, which a terminal does not show: put {text} in backquotes")
    return message.format(text=text)


def _inline(reading: Reading, body: Body, token: Token) -> Iterator[LabProblem]:
    assert token.map is not None
    problem = reading.source.problem
    for child in token.children or ():
        if child.type == "html_inline":
            yield problem(*body.place(token, child.content), _raw_html(child.content))
        elif child.type == "image":
            yield problem(*body.place(token, "!["), _("a picture: a terminal shows none"))
        elif child.type in ("softbreak", "hardbreak"):
            yield problem(token.map[0] + 2, 1, _("a paragraph goes on here: write each on one line"))
            return


def _links(reading: Reading, body: Body, names: Names) -> Iterator[LabProblem]:
    problem = reading.source.problem
    labs = reading.matter.labs if reading.matter else None
    linked: set[str] = set()
    for token in body.inlines():
        for child in token.children or ():
            if child.type != "link_open":
                continue
            target = str(child.attrs.get("href", ""))
            place = body.place(token, target)
            match = _SCHEME.match(target)
            if match is None:
                if not target.startswith("https://"):
                    message = _("a link to '{target}': write lab:ID, article:ID or https://…")
                    yield problem(*place, message.format(target=target))
            elif match["scheme"] == "article":
                if match["id"] not in names.articles:
                    yield problem(*place, _no_article(match["id"], names))
            elif labs is not None:
                linked.add(match["id"])
                if match["id"] not in labs:
                    message = _("lab '{id}' is not in the front matter").format(id=match["id"])
                    yield problem(*place, message + did_you_mean(match["id"], labs))
    section = reading.section("try")
    for index, lab in enumerate(labs or ()):
        if reading.written is not None and lab not in names.labs:
            message = unknown(_("no lab '{word}'"), lab, names.labs)
            yield reading.written.problem(("labs", index), message)
        if section is not None and lab not in linked:
            message = _("no link to lab '{id}' of the front matter: [text](lab:{id})").format(id=lab)
            yield problem(section.line, 1, message)


def _no_article(name: str, names: Names) -> str:
    return _("no article '{name}'").format(name=name) + did_you_mean(name, names.articles)


def _answers(reading: Reading, body: Body) -> Iterator[LabProblem]:
    """An answer is prose: it is shown apart from the page it stands on."""
    spans = []
    for section in reading.outline.steps:
        spans += [(aside.line, aside.line + aside.text.count("\n") + 2) for aside in section.asides]
    for token in body.tokens:
        if token.type in ("fence", "code_block", "heading_open", "table_open") and token.map:
            line = token.map[0] + 1
            if any(start < line <= end for start, end in spans):
                yield reading.source.problem(line, 1, _("an answer is prose: no headings, tables or code blocks"))


def _words(reading: Reading, body: Body, names: Names) -> Iterator[LabProblem]:
    """The section of words: one table of two columns, whose terms are in the glossary."""
    problem = reading.source.problem
    section = reading.section("words")
    if section is None:
        return
    ends = [other.line for other in reading.outline.steps if other.line > section.line]
    end = min(ends, default=len(body.lines) + 1)
    tables = [table for table in body.tables() if section.line < table.line < end]
    if len(tables) != 1 or len(tables[0].rows[0]) != 2:
        yield problem(section.line, 1, _("this section holds one table of two columns: term, meaning"))
        return
    first: dict[str, int] = {}
    for number, (term, _meaning) in enumerate(tables[0].rows[1:], start=tables[0].line + 2):
        if term in first:
            yield problem(number, 1, _("'{word}' again (first on line {line})").format(word=term, line=first[term]))
        first.setdefault(term, number)
        if names.terms is not None and term not in names.terms:
            message = _("'{term}' is not in the glossary").format(term=term)
            yield problem(number, 1, message + did_you_mean(term, names.terms))
