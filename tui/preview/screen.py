"""The preview of a lab: its text as the learner's screen has it, and beside it the author's view of its checks.

Owns what is drawn and when it is read again; what is known of the lab is `grader.author.preview`'s.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.widgets import Static

from cluster.i18n import _
from grader.author.preview import AuthorsView, Preview, Settled, authors_view, check_rows, read_preview, step_text
from grader.cli.commands import N_
from grader.report.layout import clean, pad, wrap
from grader.session.places import session_home
from tui.marks import plain
from tui.screens.base import LearnerScreen
from tui.widgets.checks import COLOURS
from tui.widgets.laid import Laid
from tui.widgets.prose import Prose
from tui.widgets.steps import Steps

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.widgets import Markdown

    from grader.lab.model import Lab, Step
    from grader.lab.problems import LabProblem
    from grader.results import Result
    from tui.backend.model import Look

POLL_SECONDS = 0.25
"""Between two looks at the files; a change is taken at the second look that finds the same."""
VALUES_SECONDS = 2.0
"""Between two looks at what the session's history shows."""


class PreviewScreen(LearnerScreen):
    """Write in an editor beside it, and see what becomes of it."""

    PLACE = "preview"
    ABOUT = N_(
        "The lab as a learner will see it, read again whenever a file is saved; beside it, what each check expects."
    )
    DEFAULT_CSS = """
    PreviewScreen {
        #text { height: 1fr; scrollbar-size-vertical: 1; }
        #text:focus, #author:focus { background-tint: $foreground 2%; }
        #problems { display: none; height: auto; max-height: 50%; padding: 0 1; color: $error; overflow-y: auto; }
        #problems.-some { display: block; border-bottom: $rule $error; }
        #author { scrollbar-size-vertical: 1; padding: 0 1; }
        &.-wide {
            #body { layout: horizontal; }
            #left { width: 3fr; height: 1fr; }
            #author { width: 2fr; height: 1fr; border-left: $rule $border; }
        }
        &.-narrow {
            #left { height: 3fr; }
            #author { height: 2fr; border-top: $rule $border; }
        }
        #author.-away { display: none; }
    }
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.at = 0
        """The step that is shown, from 1; 0 is the introduction."""
        self.with_hints = True
        self.with_author = True
        self.lab: Lab | None = None
        """The last one that could be read."""
        self.problems: tuple[LabProblem, ...] = ()
        self.view = AuthorsView()
        self.broken = False
        self._results: list[Result] = []
        self._files = Settled(folder)

    def body(self) -> ComposeResult:
        """Problems and text; beside or below them the checks."""
        with Vertical(id="left"):
            yield Static(id="problems", markup=False)
            yield Steps()
            with VerticalScroll(id="text"):
                yield Prose()
        with VerticalScroll(id="author"):
            yield Static(id="checks")

    async def on_mount(self) -> None:
        """Read it, then keep looking."""
        self.entitle(self.folder.name, _("reading"))
        await self._read()
        self.query_one("#text").focus()
        self.set_interval(POLL_SECONDS, self._poll)
        self.set_interval(VALUES_SECONDS, self._look_again)
        self.run_worker(self._follow(), group="follow")

    async def speak(self) -> None:
        """The other language."""
        await self.recompose()
        await self._read()

    # -- what keys do ---------------------------------------------------------------------------------

    async def action_next(self) -> None:
        """The next step."""
        await self._go(self.at + 1)

    async def action_previous(self) -> None:
        """The step before; before the first, the introduction."""
        await self._go(self.at - 1)

    async def action_hints(self) -> None:
        """With all hints, or with none."""
        self.with_hints = not self.with_hints
        await self._show_text(keep_place=True)

    def action_author(self) -> None:
        """With the checks, or without."""
        self.with_author = not self.with_author
        self._draw()

    async def action_reload(self) -> None:
        """Read everything again."""
        await self._read()

    def action_scroll_down(self) -> None:
        """As the arrow, in the text."""
        self.query_one("#text", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        """As the arrow, in the text."""
        self.query_one("#text", VerticalScroll).scroll_up(animate=False)

    async def on_steps_chosen(self, event: Steps.Chosen) -> None:
        """A click on a step."""
        await self._go(event.number)

    def on_prose_chosen(self, event: Prose.Chosen) -> None:
        """A click on a block."""
        self.query_one(Prose).choose(event.fence)

    async def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A link to a step goes there."""
        event.stop()
        steps = self.lab.steps if self.lab else ()
        target = next((step.number for step in steps if event.href == f"#{step.id}"), None)
        if target is not None:
            await self._go(target)
        else:
            self.learner.open_link(event.href)

    # -- reading --------------------------------------------------------------------------------------

    async def _poll(self) -> None:
        if await asyncio.to_thread(self._files.changed):
            await self._read()

    async def _read(self) -> None:
        preview: Preview = await asyncio.to_thread(read_preview, self.folder)
        self.problems, self.broken = preview.problems, preview.lab is None
        if preview.lab is not None:
            self.lab = preview.lab
            self.at = min(self.at, len(preview.lab.steps))
        await self._values()
        await self._show_text(keep_place=True)

    async def _look_again(self) -> None:
        before = self.view
        await self._values()
        if self.view != before:
            self._draw()

    async def _values(self) -> None:
        if self.lab is not None:
            home = session_home(self.lab.id)
            self.view = await asyncio.to_thread(authors_view, self.lab, home, self._results)

    async def _follow(self) -> None:
        """What a running session finds, whenever something changes there."""
        while True:
            if self.lab is not None:
                watch = cast("AsyncGenerator[Look]", self.learner.backend.watch(self.lab, explain=True))
                async with aclosing(watch) as looks:
                    async for look in looks:
                        if look.report is None:
                            break  # it does not run, or was judged by files that have changed since
                        self._results = list(look.report.results)
                        await self._look_again()
            await asyncio.sleep(VALUES_SECONDS)

    # -- drawing --------------------------------------------------------------------------------------

    async def _go(self, number: int) -> None:
        number = max(0, min(number, len(self.lab.steps) if self.lab else 0))
        if number != self.at:
            self.at = number
            await self._show_text()

    async def _show_text(self, *, keep_place: bool = False) -> None:
        with suppress(NoMatches):  # the screen is composed anew just now, or goes
            lab, step = self.lab, self._step()
            text = ""
            if lab is not None:
                text = step_text(step, hints=self.with_hints) if step else f"# {lab.title}\n\n{lab.intro}"
            scroll = self.query_one("#text", VerticalScroll)
            place = scroll.scroll_y if keep_place else 0
            await self.query_one(Prose).show(text)
            self._draw()
            self.call_after_refresh(scroll.scroll_to, y=place, animate=False)

    def _draw(self) -> None:
        with suppress(NoMatches):
            self.query_one("#author").set_class(not self.with_author, "-away")
            problems = self.query_one("#problems", Static)
            problems.set_class(bool(self.problems), "-some")
            lines = [str(one).removeprefix(f"{self.folder.parent}/") for one in self.problems]
            if self.broken and self.lab is not None:
                lines.append(_("below is the text as it could last be read"))
            problems.update("\n".join(lines))
            self._draw_checks()

    def _draw_checks(self) -> None:
        lab, step = self.lab, self._step()
        if lab is None:
            self.entitle(self.folder.name, _("can't be read"))
            return
        self.query_one(Steps).show([None] * len(lab.steps), self.at)
        name = _("{lab}  step {number} of {total}").format(lab=lab.id, number=self.at, total=len(lab.steps))
        right = _("mistakes: {count}").format(count=len(self.problems)) if self.problems else _("no mistakes")
        self.entitle(f"{name}  {step.title}" if step else f"{lab.id}  {lab.title}", right)
        self.query_one("#checks", Static).update(Laid(self._checks))

    def _checks(self, width: int) -> Content:
        step = self._step()
        lines = [Content.styled(self._source(), "$muted")]
        for check in step.checks if step else ():
            result = self.view.results.get(check.id)
            colour = COLOURS[result.state] if result else "$primary"
            lines += [Content(""), Content.styled(check.id, f"bold {colour}")]
            lines += [Content(plain(line)) for line in wrap(check.says, width)]
            rows = [*check_rows(check, self.view)]
            column = 1 + max((cell_len(label) for label, _text in rows), default=0)
            for label, text in rows:
                for number, part in enumerate(wrap(clean(text), max(12, width - column))):
                    first = pad(label if number == 0 else "", column)
                    lines.append(Content.assemble((first, "$muted"), plain(part)))
        return Content("\n").join(lines)

    def _source(self) -> str:
        if self.view.results:
            return _("the author's view, with what the running session shows")
        if self.view.session:
            return _("the author's view, with what the session last showed")
        return _("the author's view; no session, so nothing is rendered")

    def _step(self) -> Step | None:
        return self.lab.steps[self.at - 1] if self.lab is not None and self.at else None
