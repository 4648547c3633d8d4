"""The board: five tables of a lab's cluster, looked at once a second.

Owns the panes, what is chosen of them, and what is said where the cluster is silent. Where the rows come from is a
`BoardFeed`'s; it is asked in a thread, so the screen never waits for a cluster.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from cluster.errors import Problem
from cluster.i18n import _
from grader.board.feed import SessionFeed, Trust
from grader.board.panes import EVENTS, FANCY, PANES, PLAIN, chosen, rows, troubles
from grader.cli.commands import N_
from grader.session.places import session_home
from tui import marks
from tui.board.detail import DetailScreen
from tui.board.table import Table
from tui.screens.base import LearnerScreen
from tui.widgets.jump import Jump, seen
from tui.widgets.title import TitleLine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from textual.app import ComposeResult
    from textual.events import Resize

    from grader.board.feed import BoardFeed, Look
    from grader.board.model import Ref
    from grader.board.panes import Pane, Row
    from grader.lab.model import Lab

    Question = Callable[[Ref], Awaitable[str]]

T = TypeVar("T")
EVERY = 1.0
"""Seconds between two looks: what comes between is drawn together."""


class BoardScreen(LearnerScreen):
    """The board of one lab."""

    PLACE = "board"
    clock = staticmethod(time.time)
    """Unix seconds, for ages."""
    ABOUT = N_("The cluster as it is, once a second. Nothing here changes anything.")
    DEFAULT_CSS = """
    BoardScreen {
        #body { layout: vertical; }
        #trust { display: none; height: auto; padding: 0 1; background: $error 30%; color: $foreground;
                 text-style: bold; }
        &.-silent #trust { display: block; }
        #tabs { display: none; height: 1; padding: 0 1; }
        #search { display: none; height: 3; border: $frame $primary; background: $background; }
        &.-searching #search { display: block; }
        #tables { height: 1fr; }
        #upper { height: 7fr; }
        #events { height: 3fr; min-height: 6; }
        #left { width: 5fr; }
        #pods { width: 6fr; }
        Table { height: 1fr; }
        #nodes { height: auto; max-height: 40%; min-height: 4; }
        &.-without-queues #queues { display: none; }
        &.-narrow, &.-single {
            #tabs { display: block; }
            Table, #left, #upper { display: none; }
            #left.-front, #upper.-front { display: block; width: 1fr; height: 1fr; }
            Table.-front { display: block; width: 1fr; height: 1fr; max-height: 100%; }
        }
        &.-without-queues #queues.-front { display: block; }
    }
    """

    def __init__(self, lab_id: str, title: str, feed: BoardFeed) -> None:
        """`feed` is closed with the screen."""
        super().__init__()
        self.lab_id, self._lab_title, self.feed = lab_id, title, feed
        self.shown: Look | None = None
        self._words = ""
        self._faults = False
        self._front = "groups"
        self._tab_widths: list[int] = []
        self._looking = False
        self._asking = asyncio.Lock()

    @classmethod
    def of(cls, lab: Lab) -> Self:
        """The board of the learner's session of a lab."""
        return cls(lab.id, lab.title, SessionFeed(session_home(lab.id), lab.namespace))

    def body(self) -> ComposeResult:
        """Trust, tabs, tables, search."""
        self._trust_line, self._tab_line = Static(id="trust"), Static(id="tabs")
        self._trust_shown = ""
        self._tables = tables = {pane.name: Table(pane) for pane in PANES}
        yield self._trust_line
        yield self._tab_line
        with Vertical(id="tables"):
            with Horizontal(id="upper"):
                with Vertical(id="left"):
                    yield from (tables[name] for name in ("nodes", "groups", "queues"))
                yield tables["pods"]
            yield tables["events"]
        yield Input(self._words, placeholder=_("words that a line must have"), id="search")

    def on_mount(self) -> None:
        """Look at once, then each second."""
        self._bring(self._front)
        self._title()
        self.set_interval(EVERY, self._tick)
        self._tick()

    async def on_unmount(self) -> None:
        """Let go of the feed, once nobody asks it any more."""
        async with self._asking:
            await asyncio.to_thread(self.feed.close)

    async def speak(self) -> None:
        """The other language."""
        await self.recompose()
        self._bring(self._front)
        self._draw()

    def on_screen_resume(self) -> None:
        """Whoever comes back sees what is."""
        self._tick()

    # -- looking --------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if not self._looking and self.is_current:
            self._looking = True
            self.run_worker(self._look(), group="look", exit_on_error=True)

    async def _look(self) -> None:
        try:
            look = await self._ask(self.feed.look)
        except Problem as problem:
            self._say_trust(problem.message)
        else:
            self.shown = look
            self._draw()
        finally:
            self._looking = False

    async def _ask(self, question: Callable[[], T]) -> T:
        async with self._asking:  # a feed answers one question at a time
            return await asyncio.to_thread(question)

    # -- drawing --------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if self.shown is None or not self.query(TitleLine):  # nothing yet, or nothing any more
            return
        board, now = self.shown.board, self.clock()
        self.set_class(not board.queues, "-without-queues")
        counts: dict[str, tuple[int, int]] = {}
        for pane in PANES:
            found = rows(pane, board, now, PLAIN if marks.is_ascii() else FANCY)
            kept = chosen(found, self._words, faults=self._faults)
            table = self._tables[pane.name]
            table.show(kept, self._nothing(bool(found)))
            counts[pane.name] = (_counted(found), troubles(found))
            waiting = counts[pane.name][1] if pane is not EVENTS else 0
            below = _("{count} to look at").format(count=waiting) if waiting else ""
            table.entitle(_pane_title(pane, _counted(kept), _counted(found)), below)
        self._tabs(counts)
        self._title()
        self._say_trust("" if self.shown.trust is Trust.LIVE else self.shown.says)

    def _nothing(self, any_: bool) -> str:
        if any_ and (self._faults or self._words):
            return _("nothing of that kind")
        return _("nothing yet")

    def _tabs(self, counts: dict[str, tuple[int, int]]) -> None:
        parts = []
        for number, pane in enumerate(PANES, 1):
            total, waiting = counts[pane.name]
            text = f"{number} {_(pane.title)} {total}" + (f" !{waiting}" if waiting and pane is not EVENTS else "")
            style = "reverse bold" if pane.name == self._front else "$foreground"
            parts.append(Content.from_markup(f"[@click=screen.pane({number})][{style}] $text [/][/]", text=text))
        self._tab_widths = [part.cell_length for part in parts]
        line = Content(" ").join(parts)
        self._tab_line.update(line, layout=False)  # its size never changes, so nothing is laid out anew

    def jumps(self) -> Iterator[Jump]:
        """The tables by their tabs, where one is seen at a time."""
        if (region := seen(self._tab_line)) is not None:
            x = self._tab_line.content_region.x
            for number, width in enumerate(self._tab_widths, 1):
                yield Jump(x, region.y, partial(self.action_pane, number))
                x += width + 1

    def _title(self) -> None:
        said = []
        if self._words:
            said.append(_("filter: {words}").format(words=self._words))
        if self._faults:
            said.append(_("only what waits or is broken"))
        if self.shown is not None and self.shown.trust is Trust.LIVE:
            said.append(self.shown.says)
        self.entitle(f"{self.lab_id}  {_('Board')}", f" {marks.mark('dot')} ".join(said))

    def _say_trust(self, sentence: str) -> None:
        self.set_class(bool(sentence), "-silent")
        if sentence and self._trust_shown != sentence:
            self._trust_shown = sentence
            self._trust_line.update(Content(sentence))

    # -- what keys do ---------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """The table in front."""
        return self._tables[self._front]

    def action_pane(self, number: int) -> None:
        """To a table by its number."""
        self._bring(PANES[number - 1].name)
        self._draw()

    def action_next_pane(self) -> None:
        """To the next table."""
        self._turn(1)

    def action_previous_pane(self) -> None:
        """To the table before."""
        self._turn(-1)

    def action_single(self) -> None:
        """One table on the whole screen, or all again."""
        self.toggle_class("-single")

    def action_faults(self) -> None:
        """Only what waits or is broken, or all again."""
        self._faults = not self._faults
        self._draw()

    def action_search(self) -> None:
        """Ask for words."""
        self.add_class("-searching")
        self.query_one("#search", Input).focus()

    def action_down(self) -> None:
        """One row down."""
        self.table.move(1)

    def action_up(self) -> None:
        """One row up."""
        self.table.move(-1)

    def action_back(self) -> None:
        """Out of the filter, then out of the board."""
        if self.has_class("-searching") or self._words:
            self._words = ""
            self.remove_class("-searching")
            with self.prevent(Input.Changed):
                self.query_one("#search", Input).value = ""
            self.table.focus()
            self._draw()
        elif self._faults:
            self.action_faults()
        elif self.has_class("-single"):
            self.action_single()
        elif len(self.app.screen_stack) > 1:
            self.dismiss()

    def action_describe(self) -> None:
        """All that is known of the object under the cursor."""
        if row := self.table.row:
            self._open(row.ref, self._describe, _named(row.ref))

    def action_why(self) -> None:
        """Why the object under the cursor is as it is."""
        if row := self.table.row:
            title = _("why: {object}").format(object=_named(row.ref))
            self._open(row.ref, self._why, title)

    def action_timeline(self) -> None:
        """What happened until now."""
        self.learner.open_timeline(self.lab_id)

    def on_table_opened(self) -> None:
        """A second click."""
        self.action_describe()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Each letter narrows the tables."""
        self._words = event.value
        self._draw()

    def on_input_submitted(self) -> None:
        """Enter goes back to the table; the filter stays."""
        self.remove_class("-searching")
        self.table.focus()

    def on_descendant_focus(self) -> None:
        """Whatever gets the focus is in front."""
        if isinstance(self.focused, Table) and self.focused.pane.name != self._front:
            self._bring(self.focused.pane.name)

    def on_resize(self, event: Resize) -> None:
        """Fewer columns, or one table instead of all."""
        super().on_resize(event)
        self.call_after_refresh(self._draw)

    # -- beneath --------------------------------------------------------------------------------------

    def _open(self, ref: Ref, question: Question, title: str) -> None:
        page = DetailScreen(title)
        self.run_worker(self._fill(page, ref, question), group="detail")

    async def _describe(self, ref: Ref) -> str:
        return await self._ask(lambda: self.feed.describe(ref))

    async def _why(self, ref: Ref) -> str:
        # It asks the examiner, which may take its time; the board goes on meanwhile.
        return await asyncio.to_thread(self.feed.why, ref)

    async def _fill(self, page: DetailScreen, ref: Ref, question: Question) -> None:
        await self.app.push_screen(page)  # a text that comes before the page is laid out would get the height of none
        try:
            text = await question(ref)
        except Problem as problem:
            text = "\n".join(filter(None, (problem.message, problem.advice)))
        page.fill(text)

    def _turn(self, by: int) -> None:
        names = [pane.name for pane in PANES if pane.name != "queues" or not self.has_class("-without-queues")]
        at = names.index(self._front) if self._front in names else 0
        self._bring(names[(at + by) % len(names)])
        self._draw()

    def _bring(self, name: str) -> None:
        """Have a table in front: with the focus, and alone where only one fits."""
        self._front = name
        for table in self._tables.values():
            table.set_class(table.pane.name == name, "-front")
        for side in ("left", "upper"):
            box = self.query_one(f"#{side}")
            box.set_class(any(table.pane.name == name for table in box.query(Table)), "-front")
        self.table.focus()


def _pane_title(pane: Pane, kept: int, total: int) -> str:
    return f"{_(pane.title)} {kept}/{total}" if kept != total else f"{_(pane.title)} {total}"


def _counted(found: Sequence[Row]) -> int:
    """Owners without their parts, queues without what is in them, all of everything else."""
    heads = sum(row.head for row in found)
    return heads or len(found)


def _named(ref: Ref) -> str:
    space = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind} {space}{ref.name}"
