"""The text of a step or an article: markdown whose code blocks can be chosen, copied and typed into the shell.

Owns which block is chosen; what is done with it is the screen's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from cluster.i18n import _
from tui import marks
from tui.widgets.jump import Jump, seen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from markdown_it.token import Token
    from textual.events import Click


class Fence(MarkdownFence):
    """A code block. ```` ```bash run ```` has the language `bash` and may be typed into the shell."""

    DEFAULT_CSS = """
    Fence {
        background: $surface; margin: 0 0 1 0; border-left: $rule $border; padding: 0;
        & > Label { padding: 0 1; width: 1fr; height: auto; }
        &.-runs { border-left: $rule $secondary; }
        &.-chosen { border: $frame $primary; border-title-color: $primary; border-subtitle-color: $primary; }
    }
    """

    def __init__(self, markdown: Markdown, token: Token, code: str) -> None:
        super().__init__(markdown, token, code)
        language, *flags = (token.info or "text").split() or ["text"]
        self.lexer = language
        self.runs = "run" in flags
        self._highlighted_code = self.highlight(
            code, language, ansi=self.app.native_ansi_color, dark=self.app.current_theme.dark
        )
        self.set_class(self.runs, "-runs")

    def choose(self, *, chosen: bool) -> None:
        """Show what can be done with it."""
        self.set_class(chosen, "-chosen")
        self.border_title = self.lexer if chosen else None
        actions = [("lab.copy", _("copy"))]
        if self.runs:
            actions += [("lab.type", _("type")), ("lab.run", _("run"))]
        key = getattr(self.app, "key", str)
        keys = "  ".join(f"{key(name)} {label}" for name, label in actions)
        self.border_subtitle = Content(keys) if chosen else None

    def on_click(self, event: Click) -> None:
        """A click chooses."""
        event.stop()
        self.post_message(Prose.Chosen(self))


class Prose(Markdown):
    """Markdown with blocks to choose."""

    DEFAULT_CSS = """
    Prose { padding: 0 1; background: $background; }
    Prose MarkdownH1 { content-align: left middle; text-style: bold; color: $primary; margin: 0 0 1 0; }
    Prose MarkdownH2 { color: $primary; text-style: bold; margin: 1 0 1 0; }
    Prose MarkdownH3 { color: $foreground; text-style: bold underline; margin: 1 0 1 0; }
    Prose MarkdownParagraph { margin: 0 0 1 0; }
    Prose MarkdownBulletList, Prose MarkdownOrderedList { margin: 0; padding: 0; }
    Prose MarkdownTable { margin: 0 0 1 0; }
    Prose MarkdownTableContent { keyline: $key $border; }
    Prose MarkdownBlockQuote { border-left: $rule $border; background: $surface; margin: 0 0 1 0; }
    """
    BLOCKS: dict[str, type[MarkdownBlock]] = {  # noqa: RUF012  # as Textual declares it
        **Markdown.BLOCKS,
        "fence": Fence,
        "code_block": Fence,
    }

    class Chosen(Message):
        """A block was clicked."""

        def __init__(self, fence: Fence) -> None:
            super().__init__()
            self.fence = fence

    def __init__(self, text: str = "", *, id: str | None = None) -> None:  # noqa: A002  # Textual's name
        super().__init__(text, id=id, open_links=False)
        self.BULLETS = ["* ", "- ", "+ "] if marks.is_ascii() else ["• ", "◦ ", "▪ "]
        self.chosen: Fence | None = None

    def show(self, text: str) -> Awaitable[None]:
        """Another text; no block of it is chosen."""
        self.chosen = None
        return self.update(text)

    def fences(self) -> list[Fence]:
        """Its code blocks, in order."""
        return list(self.query(Fence))

    def jumps(self) -> Iterator[Jump]:
        """The code blocks."""
        for fence in self.fences():
            if (region := seen(fence)) is not None:
                yield Jump(region.x, region.y, partial(self.choose, fence))

    def step_through(self, by: int) -> Fence | None:
        """Choose the next (1) or the previous (-1) block, round and round."""
        fences = self.fences()
        if not fences:
            return None
        if self.chosen in fences:
            at = (fences.index(self.chosen) + by) % len(fences)
        else:
            at = 0 if by > 0 else len(fences) - 1
        return self.choose(fences[at])

    def choose(self, fence: Fence, *, scroll: bool = True) -> Fence:
        """Make it the chosen one, and see it."""
        if self.chosen is not None:
            self.chosen.choose(chosen=False)
        self.chosen = fence
        fence.choose(chosen=True)
        if scroll:
            fence.scroll_visible(animate=False)
        return fence
