"""The catalogue: courses, articles and labs, how far one is, and what comes next.

Owns the list, its search and what stands beside it; what opening something means is the application's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from cluster.errors import Problem
from cluster.i18n import _
from grader.cli.commands import N_
from grader.session.places import history_file, session_home
from tui.marks import bar
from tui.screens.base import LearnerScreen
from tui.widgets.entry import details, row, shelf_row
from tui.widgets.laid import Laid

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.backend.model import Catalogue, Entry

LOOK_AGAIN_SECONDS = 3.0
"""How often it is looked whether a lab was started, stopped or worked on elsewhere."""


class CatalogueScreen(LearnerScreen):
    """Where one begins."""

    PLACE = "catalogue"
    ABOUT = N_("Articles say why and how; labs are done on a cluster of your own. Courses put both in an order.")
    DEFAULT_CSS = """
    CatalogueScreen {
        #body { layout: vertical; }
        #search { display: none; height: 3; border: $frame $primary; background: $background; margin: 0; }
        #shelves { border: none; background: $background; height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
        #shelves > .option-list--option-disabled { color: $primary; text-style: bold; }
        #shelves > .option-list--option-highlighted { background: $panel; color: $foreground; text-style: bold; }
        #shelves:focus > .option-list--option-highlighted { background: $primary 30%; color: $foreground; }
        #about { height: 9; border-top: $rule $border; padding: 0 1; scrollbar-size-vertical: 1; }
        &.-wide {
            #body { layout: horizontal; }
            #list { width: 3fr; height: 1fr; }
            #about { width: 2fr; height: 1fr; border-top: none; border-left: $rule $border; padding: 0 2; }
        }
        &.-narrow #list { height: 1fr; }
        &.-low #about { display: none; }
    }
    """
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012  # as Textual declares it
        (0, "-low"),
        (20, "-high"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.catalogue: Catalogue | None = None
        self._wanted = ""
        self._at = ""
        self._said = ""

    def body(self) -> ComposeResult:
        """The list, and what is known of the entry under the cursor."""
        with Container(id="list"):
            yield Input(self._wanted, placeholder=_("letters of a name or title"), id="search")
            yield OptionList(id="shelves")
        with VerticalScroll(id="about", can_focus=False):
            yield Static(id="entry")

    def on_mount(self) -> None:
        """Show something at once, then what there is."""
        self.entitle("Batchlab", _("reading what there is"))
        self.query_one("#shelves").focus()
        self.run_worker(self.look(), exclusive=True, group="look")
        self.set_interval(LOOK_AGAIN_SECONDS, self._look_again)

    def on_screen_resume(self) -> None:
        """Whoever comes back has done something."""
        self._look_again()

    def named(self) -> str:
        """The application itself."""
        return self.app.title

    async def speak(self) -> None:
        """Everything in the other language; the cursor stays."""
        await self.recompose()
        self.query_one("#shelves").focus()
        await self.look()

    async def look(self) -> None:
        """Ask what there is and draw it."""
        try:
            catalogue = await self.learner.backend.catalogue()
        except Problem as problem:
            self._trouble(problem)
            return
        self._said = ""
        if catalogue == self.catalogue and self.query_one(OptionList).option_count:
            return
        new_notes = set(catalogue.notes) - set(self.catalogue.notes if self.catalogue else ())
        self.catalogue = catalogue
        for note in sorted(new_notes):
            self.notify(note, severity="warning", markup=False)
        self._draw()

    # -- what keys do ---------------------------------------------------------------------------------

    def action_open(self) -> None:
        """Enter on an entry."""
        if entry := self._entry():
            self.learner.open_entry(entry)

    def action_next(self) -> None:
        """Put the cursor on what comes next."""
        if self.catalogue and self.catalogue.next:
            self._at = self.catalogue.next
            self._clear_search()

    def action_search(self) -> None:
        """Ask for letters."""
        search = self.query_one(Input)
        search.display = True
        self.set_focus(search)  # at once: the letters may be there already

    def action_back(self) -> None:
        """Out of the search."""
        self._clear_search()

    def action_stop(self) -> None:
        """Stop the lab under the cursor."""
        entry = self._entry()
        if entry and entry.machine != "stopped":
            self.learner.stop_lab(entry.id)

    def action_report(self) -> None:
        """Progress over all labs."""
        self.learner.open_report()

    def action_board(self) -> None:
        """The cluster of the lab under the cursor."""
        if entry := self._entry():
            self.learner.open_board(entry.id)

    def action_timeline(self) -> None:
        """What happened in the lab under the cursor."""
        if entry := self._entry():
            self.learner.open_timeline(entry.id)

    def action_cursor_down(self) -> None:
        """As the arrow."""
        self.query_one(OptionList).action_cursor_down()

    def action_cursor_up(self) -> None:
        """As the arrow."""
        self.query_one(OptionList).action_cursor_up()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing to stop, no key for it."""
        del parameters
        if action == "stop":
            entry = self._entry()
            return bool(entry and entry.machine != "stopped")
        if action in ("board", "timeline"):
            return self._was_started()
        return True

    def why_not(self, action: str) -> str:
        """What is missing for a key."""
        entry = self._entry()
        if entry is None or entry.kind != "lab":
            return _("this is for labs: move to one first")
        if action == "stop":
            return _("{lab} is not running").format(lab=entry.id)
        return _("nothing of {lab} has been recorded").format(lab=entry.id)

    # -- what happens ---------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        """Each letter narrows the list."""
        self._wanted = event.value
        self._draw()

    def on_input_submitted(self) -> None:
        """Enter in the search opens what the cursor is on; what was looked for is then found."""
        self.query_one("#shelves").focus()
        self.action_open()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """The cursor moved."""
        self._at = event.option_id or ""
        self._describe()
        self.refresh_bindings()

    def on_option_list_option_selected(self) -> None:
        """A click, or Enter where the list has the focus."""
        self.action_open()

    def _trouble(self, problem: Problem) -> None:
        """Nothing can be read now: said once, in the place of the list where there is none; asked again by itself."""
        if problem.message == self._said:
            return
        self._said = problem.message
        self.learner.say(problem)
        if self.catalogue is None:
            self.entitle("Batchlab", _("nothing can be read"))
            text = "\n".join(filter(None, (problem.message, problem.advice)))
            self.query_one(OptionList).set_options([Option(Content(text), disabled=True)])

    # -- drawing --------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        if self.is_current:
            self.run_worker(self.look(), exclusive=True, group="look")

    def _clear_search(self) -> None:
        self._wanted = ""
        search = self.query_one(Input)
        search.display = False
        with self.prevent(Input.Changed):
            search.value = ""
        self.query_one("#shelves").focus()
        self._draw()

    def _was_started(self) -> bool:
        """Whether there is anything to see of the lab under the cursor."""
        entry = self._entry()
        return entry is not None and entry.kind == "lab" and history_file(session_home(entry.id)).exists()

    def _entry(self) -> Entry | None:
        return self.catalogue.entry(self._at) if self.catalogue else None

    def _draw(self) -> None:
        if self.catalogue is None or not self.is_mounted:
            return
        shelves = self.query_one(OptionList)
        options: list[Option] = []
        for shelf in self.catalogue.shelves:
            entries = [entry for entry in shelf.entries if self._matches(entry)]
            if entries:
                if options:
                    options.append(Option("", disabled=True))
                options.append(Option(Laid(partial(shelf_row, shelf)), disabled=True))
                for entry in entries:
                    laid = Laid(partial(row, entry, is_next=entry.id == self.catalogue.next))
                    options.append(Option(laid, id=entry.id))
        at = self._at or self.catalogue.next
        with self.prevent(OptionList.OptionHighlighted):
            shelves.set_options(options)
        ids = [option.id for option in options]
        if any(ids):
            shelves.highlighted = ids.index(at) if at in ids else next(n for n, one in enumerate(ids) if one)
        else:
            shelves.add_option(Option(_("nothing has these letters"), disabled=True))
        self._at = ids[shelves.highlighted] or "" if shelves.highlighted is not None and any(ids) else ""
        self._describe()
        self._title()
        self.refresh_bindings()

    def _matches(self, entry: Entry) -> bool:
        wanted = self._wanted.casefold().split()
        text = f"{entry.id} {entry.title} {entry.summary}".casefold()
        return all(word in text for word in wanted)

    def _title(self) -> None:
        from grader.report.progress_report import duration

        assert self.catalogue is not None
        entries = [entry for shelf in self.catalogue.shelves for entry in shelf.entries]
        done = sum(entry.done for entry in entries)
        left = sum(shelf.minutes_left for shelf in self.catalogue.shelves)
        right = _("{done} of {total} done").format(done=done, total=len(entries))
        if left:
            right = _("{done}, {time} to go").format(done=right, time=duration(left * 60))
        self.entitle("Batchlab", f"{bar(done, len(entries), 10)} {right}")

    def _describe(self) -> None:
        entry = self._entry()
        obstacles = (
            self.learner.backend.may_start(entry.id, needs_root=entry.needs_root)
            if entry and entry.kind == "lab"
            else ()
        )
        self.query_one("#entry", Static).update(details(entry, obstacles) if entry else "")
