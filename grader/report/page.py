"""Markdown as a terminal shows it: rich's, with headings that are seen without colour and code that can be copied.

Owns the look of headings, code, tables and links; knows nothing of labs and articles.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderResult

_COMMANDS = {"lab": "grader show", "article": "grader read"}
"""What a link of our own schemes is in a terminal: a command to type."""
_MARGIN = "  "
"""How far code is set in."""


def draw(markdown: str, *, width: int, colour: bool, whole_code: bool = False) -> str:
    """`markdown` in lines of at most `width` cells, ended by a new line.

    `whole_code`: lines of code stay as long as they are. A terminal wraps them so that they can still be copied; a
    command that we broke would be another command.
    """
    target = io.StringIO()
    console = Console(
        file=target,
        width=width,
        force_terminal=colour,
        color_system="auto" if colour else None,
        highlight=False,
    )
    console.print((_TaskPage if whole_code else _Page)(markdown), crop=False)
    # Rich fills lines up with blanks, which nobody needs.
    return target.getvalue() if colour else "\n".join(line.rstrip() for line in target.getvalue().split("\n"))


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
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, len(_MARGIN)))


class _WholeCodeBlock(CodeBlock):
    """Set in by two cells, each line whole."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        code = Syntax("", self.lexer_name, theme=self.theme).highlight(str(self.text).rstrip())
        for line in code.split("\n"):
            yield Text(_MARGIN, no_wrap=True, overflow="ignore").append_text(line)


class _WholeListItem(ListItem):
    """rich crops what stands in a list; ours leaves it as long as it is."""

    def render_bullet(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """After a dot."""
        return self._render_after(Segment(" • ", console.get_style("markdown.item.bullet")), console, options)

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        """After its number, to the right of a column as wide as the last one needs."""
        numeral = f"{number}".rjust(len(str(last_number)) + 1) + " "
        return self._render_after(Segment(numeral, console.get_style("markdown.item.number")), console, options)

    def _render_after(self, label: Segment, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=options.max_width - label.cell_length)
        for number, line in enumerate(Segment.split_lines(console.render(self.elements, inner))):
            yield label if number == 0 else Segment(" " * label.cell_length)
            yield from line
            yield Segment.line()


class _Table(TableElement):
    """Without blank lines around it, for every block has one; and nothing in it is left out."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                part.show_edge = False
                for column in part.columns:
                    # Where a line of a cell just fits, rich's own choice puts an ellipsis in place of its last letter.
                    column.overflow = "fold"
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


class _TaskPage(_Page):
    """What a reader copies from."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **_Page.elements,
        "fence": _WholeCodeBlock,
        "list_item_open": _WholeListItem,
    }
