"""`grader read`: articles, laid out for the terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar

import click

from cluster.errors import Problem, UsageProblem
from cluster.i18n import _, language
from grader.cli.commands import N_, Command, complete, json_option
from grader.cli.common import articles_read, note, print_document, reading_folder

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from grader.content.model import Article


class ArticleName(click.ParamType[str]):
    """An article's id; whether there is such an article is for the command to say."""

    name: ClassVar[str] = "article"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The articles' files, unread."""
        from grader.content.catalogue import ARTICLES, article_names, content_dir

        del ctx, param
        return complete(article_names(content_dir() / ARTICLES), incomplete)


@click.command(
    cls=Command,
    help=N_(
        "The articles, and which of them you have read; with ARTICLE its text. It ends with three questions: "
        "--answers shows what is right."
    ),
)
@click.argument("article", required=False, type=ArticleName())
@click.option("--answers", is_flag=True, help=N_("With the answers to the questions."))
@json_option()
def command(article: str | None, answers: bool, as_json: bool) -> int:
    """List the articles, or lay out one and remember that it was read."""
    if article is None:
        if answers:
            raise UsageProblem(_("--answers goes with an article"), _("`grader read` lists the articles"))
        _list(as_json=as_json)
        return 0
    from grader.content.catalogue import load_article

    found = load_article(article, language())
    if as_json:
        from grader.cli.content_documents import ArticleDocument

        print_document(ArticleDocument, _content(found, answers=answers))
        return 0
    from grader.content.render import render
    from grader.report.layout import colours, width_of

    text = render(found, width=width_of(sys.stdout), colour=colours(sys.stdout), answers=answers)
    click.echo(text, nl=False)
    _remember(found.id)
    return 0


def _remember(article: str) -> None:
    """What was read stays read, and a reader loses nothing where that can't be written down."""
    from grader.progress.reading import record_article

    try:
        warning = record_article(article, time.time(), reading_folder())
    except Problem as problem:
        warning = problem.message
    if warning:
        note(warning)


def _list(*, as_json: bool) -> None:
    from grader.content.catalogue import article_ids, load_article

    articles = []
    for name in article_ids():
        try:
            articles.append(load_article(name, language()))
        except UsageProblem as problem:
            note(_("{name} is left out: {problem}").format(name=name, problem=problem.message))
    read = articles_read()
    if as_json:
        from grader.cli.content_documents import ArticlesDocument

        print_document(ArticlesDocument, {"articles": [_head(one) | {"read": one.id in read} for one in articles]})
    elif articles:
        click.echo(_table(articles, read), nl=False)
    else:
        click.echo(_("there are no articles"))


def _table(articles: list[Article], read: set[str]) -> str:
    from rich.cells import cell_len

    from grader.report.layout import hanging, pad, width_of, wrap

    mark = _("read")
    names = max(len(article.id) for article in articles) + 2
    marks = cell_len(mark) + 2
    column = names + marks + 8
    room = max(20, width_of(sys.stdout) - column)
    lines = []
    for article in articles:
        minutes = _("{minutes} min").format(minutes=article.minutes)
        start = pad(article.id, names) + pad(mark if article.id in read else "", marks) + minutes
        texts = wrap(article.title, room)
        if article.labs:
            texts += wrap(_("before {labs}").format(labs=", ".join(article.labs)), room)
        lines += hanging(start, texts, 0, column)
    return "\n".join(lines) + "\n"


def _head(article: Article) -> dict[str, Any]:
    return {
        "id": article.id,
        "title": article.title,
        "summary": article.summary,
        "minutes": article.minutes,
        "labs": article.labs,
    }


def _content(article: Article, *, answers: bool) -> dict[str, Any]:
    return _head(article) | {
        "language": article.language,
        "sections": [{"id": section.id, "title": section.title, "body": section.body} for section in article.sections],
        "questions": [
            {"text": question.text, "answer": question.answer if answers else None} for question in article.questions
        ],
    }
