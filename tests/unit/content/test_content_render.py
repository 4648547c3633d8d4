"""On a terminal: every article in both languages fits, and no word of it is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from grader.content.article import parse_article
from grader.content.catalogue import ARTICLES, article_names, content_dir
from grader.content.model import Article
from grader.content.render import render

SHIPPED = content_dir() / ARTICLES
ARTICLES_AND_LANGUAGES = [(name, lang) for name in article_names(SHIPPED) for lang in ("en", "ko")]
ANSI = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = {"lab:": "grader show ", "article:": "grader read "}


def shipped(name: str, lang: str) -> Article:
    article, problems = parse_article(SHIPPED, name, lang)
    assert article is not None, "\n".join(map(str, problems))
    assert article.language == lang
    return article


def example(content: Path) -> Article:
    article, _problems = parse_article(content / "articles", "pods")
    assert article is not None
    return article


def pieces(article: Article) -> Iterator[str]:
    """Everything of the file that a reader must see, straight from its text."""
    text = article.file.read_text(encoding="utf-8").split("\n---\n", 1)[1]
    text = re.sub(r"^:::.*$", "", re.sub(r" \{#[a-z]+\}$", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "fence":
            yield token.content
        elif token.type == "inline":
            yield "".join(seen(token.children or []))


def seen(children: list) -> Iterator[str]:  # type: ignore[type-arg]  # markdown-it's tokens
    href = ""
    for child in children:
        if child.type == "link_open":
            href = str(child.attrs["href"])
            for scheme, command in COMMANDS.items():
                href = href.replace(scheme, command)
        yield f" ({href})" if child.type == "link_close" else child.content


def gapless(text: str) -> str:
    return "".join(text.replace("▌", "").replace("•", "").split())


@pytest.mark.parametrize(("name", "lang"), ARTICLES_AND_LANGUAGES)
def test_no_line_is_wider_than_a_terminal_and_no_word_is_lost(name: str, lang: str) -> None:
    article = shipped(name, lang)
    text = render(article, width=80, colour=False, answers=True)
    assert [line for line in text.splitlines() if cell_len(line) > 80] == []
    whole = gapless(text)
    assert [piece for piece in pieces(article) if gapless(piece) not in whole] == []
    for piece in (article.title, article.summary, article.id):
        assert gapless(piece) in whole


@pytest.mark.parametrize(("name", "lang"), ARTICLES_AND_LANGUAGES)
def test_with_colour_no_line_is_wider_either(name: str, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = render(shipped(name, lang), width=80, colour=True, answers=True)
    assert "\x1b[" in text
    assert [line for line in ANSI.sub("", text).splitlines() if cell_len(line) > 80] == []


@pytest.mark.parametrize(("name", "lang"), ARTICLES_AND_LANGUAGES)
def test_no_word_is_broken(name: str, lang: str) -> None:
    """Whatever stands between blanks on the terminal stands so in the text."""
    article = shipped(name, lang)
    text = " ".join([*pieces(article), article.title, article.summary, article.id, *article.labs])
    drawn = {word for word in render(article, width=80, colour=False, answers=True).split() if word.strip("─═▌•·")}
    minutes = {str(article.minutes), "min", *(f"{number}." for number in range(1, 10)), *map(str, range(1, 10))}
    assert drawn - set(text.split()) - minutes == set()


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize(("name", "lang"), ARTICLES_AND_LANGUAGES)
def test_other_widths(name: str, lang: str, width: int) -> None:
    text = render(shipped(name, lang), width=width, colour=False)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


def test_colour_changes_no_word(content: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    article = example(content)
    coloured = render(article, width=80, colour=True)
    assert ANSI.search(coloured)
    plain = "\n".join(line.rstrip() for line in ANSI.sub("", coloured).split("\n"))
    assert plain == render(article, width=80, colour=False)


def test_answers_are_shown_when_asked_for(content: Path) -> None:
    article = example(content)
    hidden, shown = (render(article, width=80, colour=False, answers=answers) for answers in (False, True))
    assert "Nothing more." not in hidden
    assert "Answers: grader read pods --answers\n" in hidden
    assert "1. What is a pod?\n\n▌ Containers in one place.\n\n▌ Nothing more.\n" in shown
    assert "--answers" not in shown


def test_links_are_commands_or_addresses(content: Path) -> None:
    text = render(example(content), width=80, colour=False)
    assert "More pods (grader read more-pods)" in " ".join(text.split())
    assert "lab-toy (grader show lab-toy) makes one." in text
    assert "the site (https://kubernetes.io/docs/)." in text


def test_code_and_tables_stand_as_they_were_written(content: Path) -> None:
    text = render(example(content), width=80, colour=False)
    assert "\n\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: hello\n" in text
    assert "\n\nterm  meaning\n" in text
    assert "\npod   containers that share one place\nnode  where pods run\n\n" in text
