"""An article as a terminal shows it: rich's markdown, with headings that are seen without colour.

Owns the layout of the page and what links and answers become there; knows nothing of how far a reader is.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cluster.i18n import _

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult

    from grader.content.model import Article

_COMMANDS = {"lab": "grader show", "article": "grader read"}
"""What a link of our own schemes is in a terminal: a command to type."""


def render(article: Article, *, width: int, colour: bool, answers: bool = False) -> str:
    """The article in lines of at most `width` cells, ended by a new line; without `answers` only questions."""
    target = io.StringIO()
    console = Console(
        file=target,
        width=width,
        force_terminal=colour,
        color_system="auto" if colour else None,
        highlight=False,
    )
    console.print(_Page(page(article, answers=answers)))
    # Rich fills lines up with blanks: with a background they are seen, without one nobody needs them.
    return target.getvalue() if colour else "\n".join(line.rstrip() for line in target.getvalue().split("\n"))


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


class _Heading(Heading):
    """All at the left; the title and each section underlined."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text
        if self.tag in ("h1", "h2"):
            lines = self.text.wrap(console, options.max_width)
            widest = max((line.cell_len for line in lines), default=0)
            yield Text(("═" if self.tag == "h1" else "─") * widest, style="dim")


class _CodeBlock(CodeBlock):
    """Set in by two cells."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2))


class _Table(TableElement):
    """Without blank lines around it: every block has one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                part.show_edge = False
            yield part


class _Page(Markdown):
    """Links of ours are commands, others are written out: no terminal has to know of links."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text, hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "link_open":
                    scheme, _colon, name = str(child.attrs["href"]).partition(":")
                    if scheme in _COMMANDS:
                        child.attrs["href"] = f"{_COMMANDS[scheme]} {name}"
