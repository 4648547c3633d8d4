"""An article, and the questions with which a reader finds out whether it was understood.

Owns what is shown of it: an answer is, when it was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll

from cluster.errors import Problem
from cluster.i18n import _
from grader.cli.commands import N_
from tui.screens.base import LearnerScreen
from tui.widgets.prose import Prose

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Markdown

    from grader.content.model import Article


class ArticleScreen(LearnerScreen):
    """Read, then answer for oneself."""

    PLACE = "article"
    ABOUT = N_("Read it through; at its end are three questions, each with an answer to compare yours with.")
    DEFAULT_CSS = """
    ArticleScreen {
        #text { height: 1fr; scrollbar-size-vertical: 1; align-horizontal: center; }
        Prose { max-width: 92; width: 100%; }
    }
    """

    def __init__(self, article_id: str) -> None:
        super().__init__()
        self.article_id = article_id
        self.article: Article | None = None
        self._answered = 0

    def body(self) -> ComposeResult:
        """One column of text."""
        with VerticalScroll(id="text"):
            yield Prose()

    def on_mount(self) -> None:
        """Read it."""
        self.entitle(self.article_id, _("reading"))
        self.run_worker(self._read(), group="read")

    async def speak(self) -> None:
        """The article in the other language; answers that were shown stay shown."""
        await self.recompose()
        await self._read()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No key for what is not there."""
        del parameters
        if self.article is None:
            return action == "back"
        if action in ("answer", "answers"):
            return None if self._answered >= len(self.article.questions) else True
        if action == "lab":
            return bool(self.article.labs)
        return True

    # -- what keys do ---------------------------------------------------------------------------------

    async def action_answer(self) -> None:
        """The answer to the next question."""
        await self._answer(self._answered + 1)

    async def action_answers(self) -> None:
        """All of them."""
        assert self.article is not None
        await self._answer(len(self.article.questions))

    def action_lab(self) -> None:
        """To the lab it prepares for."""
        assert self.article is not None
        self.learner.open_lab(self.article.labs[0])

    def action_next_block(self) -> None:
        """Choose the next code block."""
        self.query_one(Prose).step_through(1)

    def action_previous_block(self) -> None:
        """Choose the code block before."""
        self.query_one(Prose).step_through(-1)

    def action_copy(self) -> None:
        """The chosen block to the clipboard."""
        if fence := self.query_one(Prose).chosen:
            self.app.copy_to_clipboard(fence.code)
            self.notify(_("copied"), timeout=1.5)

    def action_scroll_down(self) -> None:
        """As the arrow."""
        self.query_one("#text", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        """As the arrow."""
        self.query_one("#text", VerticalScroll).scroll_up(animate=False)

    def action_back(self) -> None:
        """To where one came from."""
        self.dismiss()

    def on_prose_chosen(self, event: Prose.Chosen) -> None:
        """A click on a block."""
        self.query_one(Prose).choose(event.fence)

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Links are the application's."""
        event.stop()
        self.learner.open_link(event.href)

    # -- beneath --------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            self.article = await self.learner.backend.article(self.article_id)
        except Problem as problem:
            self.learner.say(problem)
            self.dismiss()
            return
        minutes = _("{minutes} min").format(minutes=self.article.minutes)
        self.entitle(self.article.title, minutes)
        await self.query_one(Prose).show(self._text())
        self.query_one("#text").focus()
        self.refresh_bindings()

    async def _answer(self, count: int) -> None:
        assert self.article is not None
        self._answered = min(count, len(self.article.questions))
        prose, text = self.query_one(Prose), self.query_one("#text", VerticalScroll)
        await prose.show(self._text())
        self.call_after_refresh(self._see_answer, text)
        self.refresh_bindings()

    def _see_answer(self, text: VerticalScroll) -> None:
        answers = list(self.query("MarkdownBlockQuote"))
        if answers:
            answers[-1].scroll_visible(animate=False)
        else:
            text.scroll_end(animate=False)

    def _text(self) -> str:
        article = self.article
        assert article is not None
        parts = [f"# {article.title}", article.summary]
        for section in article.sections:
            parts.append(f"## {section.title}")
            parts.append(section.body if section.id != "questions" else self._questions(article))
        return "\n\n".join(parts)

    def _questions(self, article: Article) -> str:
        parts = []
        for number, question in enumerate(article.questions, start=1):
            parts.append(f"### {number}. {question.text}")
            if number <= self._answered:
                parts.append("\n".join(f"> {line}" for line in question.answer.split("\n")))
            elif number == self._answered + 1:
                hidden = _("Answer it for yourself, then press {key}.").format(key=self.learner.key("article.answer"))
                parts.append(f"*{hidden}*")
        return "\n\n".join(parts)
