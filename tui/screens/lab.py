"""A lab: its text, its checks, and the keys that act on both and on the shell beside them.

Owns what is drawn and what keys do; what is known of the lab is `tui.session`'s.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual.containers import Vertical, VerticalScroll
from textual.css.query import NoMatches
from textual.worker import WorkerCancelled, WorkerFailed

from cluster.errors import Problem
from cluster.i18n import _
from grader.cli.commands import N_
from grader.results import State
from grader.session.places import history_file, session_home
from tui.marks import bar
from tui.screens.ability import Ability
from tui.screens.base import LearnerScreen
from tui.screens.confirm import ConfirmScreen
from tui.session import LabSession
from tui.terminal.shell import Shell, shell_beside
from tui.widgets.jump import seen
from tui.widgets.panel import LabPanel
from tui.widgets.prose import Prose
from tui.widgets.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.widgets import Markdown
    from textual.worker import Worker

    from grader.lab.model import Lab, Step
    from tui.session import News

SEVERITY = {"good": "information", "note": "information", "bad": "error"}
TICK_SECONDS = 0.5


class LabScreen(LearnerScreen):
    """Read, work, see it checked."""

    PLACE = "lab"
    ABOUT = N_(
        "Read the step, work in the shell, and watch its checks: they are made again whenever something changes."
    )
    DEFAULT_CSS = """
    LabScreen {
        #text { height: 1fr; scrollbar-size-vertical: 1; }
        #text:focus { background-tint: $foreground 2%; }
        &.-wide {
            #body { layout: horizontal; }
            #left { width: 3fr; height: 1fr; }
            LabPanel { width: 2fr; height: 1fr; max-height: 100%; border-top: none; border-left: $rule $border; }
        }
        &.-narrow #left { height: 1fr; }
        &.-narrow ToastRack { dock: top; align: right top; margin: 2 0 0 0; }
        &.-narrow #status { dock: bottom; }
        &.-narrow #room { display: block; }
    }
    """

    def __init__(self, lab_id: str) -> None:
        super().__init__()
        self.lab_id = lab_id
        self.session: LabSession | None = None
        self.at = 0
        """The step that is shown, from 1; 0 is what the lab is about."""
        self._shell: Shell | None = None
        self._shown = ""
        """The text that stands there."""
        self._booting: Worker[bool] | None = None

    def body(self) -> ComposeResult:
        """The text, and below or beside it the checks."""
        with Vertical(id="left"):
            yield Steps()
            with VerticalScroll(id="text"):
                yield Prose()
        yield LabPanel()

    # -- coming, going, speaking ----------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read the lab, then keep looking."""
        self.entitle(self.lab_id, _("reading"))
        self.session = LabSession(self.learner.backend, self.lab_id, on_change=self._changed, on_news=self._news)
        self._shell = shell_beside(self.learner.backend, self.lab_id, panes=self.learner.panes)
        self.run_worker(self._begin(), group="begin")
        self.set_interval(TICK_SECONDS, self._tick)

    async def _begin(self) -> None:
        assert self.session is not None
        try:
            await self.session.open()
        except Problem as problem:
            self.learner.say(problem)
            self.dismiss()
            return
        lab = self._lab()
        if self.session.machine == "running":
            open_steps = [step.number for step in lab.steps if self.session.state(step) is not State.PASSED]
            self.at = open_steps[0] if open_steps else len(lab.steps)
        await self._show_step()
        self.run_worker(self.session.poll(), group="poll")
        self.run_worker(self.session.follow(), group="follow")
        if self.session.machine == "running":
            await self._open_shell()

    async def speak(self) -> None:
        """The lab in the other language, the same step."""
        await self.recompose()
        if self.session is not None and self.session.lab is not None:
            await self.session.reread()
            await self._show_step()

    def named(self) -> str:
        """Which lab, and how far."""
        if self.session is None or self.session.lab is None:
            return self.lab_id
        if self.session.boot is not None:
            return _("{lab} starts").format(lab=self.lab_id)
        return f"{self.session.passed}/{len(self.session.lab.steps)} {self.lab_id}"

    @property
    def starts(self) -> bool:
        """Whether a start is under way."""
        return self.session is not None and self.session.boot is not None

    async def end_start(self) -> None:
        """Give a start up, and wait until nothing of it is left."""
        if self.starts and self._booting is not None:
            self._booting.cancel()
            with suppress(WorkerFailed, WorkerCancelled):
                await self._booting.wait()

    def closing(self) -> bool:
        """Before the screen goes: close the shell if it is idle; whether it was."""
        try:
            return self._shell is None or self._shell.close()
        except Problem:
            return True

    # -- what keys do ---------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that make no sense now are not there; those that will are dim."""
        del parameters
        able = self._ability()
        return action == "back" if able is None else able.may(action)

    def why_not(self, action: str) -> str:
        """What is missing for a key."""
        able = self._ability()
        return "" if able is None else able.why_not(action)

    def _ability(self) -> Ability | None:
        """What can be done now; None while the lab is being read."""
        if self.session is None or self.session.lab is None:
            return None
        return Ability(
            session=self.session,
            step=self._step(),
            obstacles=" ".join(self._obstacles()),
            recorded=history_file(session_home(self.lab_id)).exists(),
            looks=bool(self.query_one(LabPanel).look_at()),
            key=self.learner.key,
        )

    def action_start(self) -> None:
        """Bring the lab up, told here step by step."""
        self._booting = self.run_worker(self._start(again=False), group="start")

    def action_give_up(self) -> None:
        """End a start."""
        if self._booting is not None:
            self._booting.cancel()
            self.notify(_("giving up: what was started is ended"), markup=False)

    def action_board(self) -> None:
        """The cluster as it is now."""
        self.learner.open_board(self.lab_id)

    def action_timeline(self) -> None:
        """What happened until now."""
        self.learner.open_timeline(self.lab_id)

    def action_check(self) -> None:
        """Look now; the first check that does not hold is opened."""
        self.run_worker(self._check(), group="check")

    async def action_hint(self) -> None:
        """One more hint, at the end of the text."""
        step = self._step()
        if self.session is None or step is None:
            return
        try:
            await self.session.hint(step)
        except Problem as problem:
            self.learner.say(problem)
        await self._show_step(keep_place=True)
        self.call_after_refresh(self.query_one("#text", VerticalScroll).scroll_end, animate=False)

    async def action_next(self) -> None:
        """The next step."""
        await self._go(min(self.at + 1, len(self._lab().steps)))

    async def action_previous(self) -> None:
        """The step before; before the first, what the lab is about."""
        await self._go(max(self.at - 1, 0))

    def action_next_block(self) -> None:
        """Choose the next code block."""
        self.query_one(Prose).step_through(1)

    def action_previous_block(self) -> None:
        """Choose the code block before."""
        self.query_one(Prose).step_through(-1)

    def action_copy(self) -> None:
        """The chosen block to the clipboard."""
        if fence := self._block(runs=False):
            self.app.copy_to_clipboard(fence)
            self.notify(_("copied"), timeout=1.5)

    async def action_type_block(self) -> None:
        """The chosen block to the shell's prompt."""
        if text := self._block(runs=True):
            await self._type(text, enter=False)

    async def action_run_block(self) -> None:
        """The chosen block to the shell, and Enter."""
        if text := self._block(runs=True):
            await self._type(text, enter=True)

    async def action_look(self) -> None:
        """What an open check says to look at, run in the shell."""
        await self._type(self.query_one(LabPanel).look_at(), enter=True)

    async def action_shell(self) -> None:
        """Go to the shell."""
        if self._shell is None:
            self.learner.shell_instead(self.lab_id)
        else:
            await self._with_shell(self._shell.focus)

    async def action_stop(self) -> None:
        """Stop the lab; asked first."""
        text = _("The cluster goes; your files and the steps that passed stay.") + await self._what_ends()
        title = _("Stop {lab}?").format(lab=self.lab_id)
        self.app.push_screen(ConfirmScreen(title, text), self._stop_if)

    async def action_reset(self) -> None:
        """Begin the lab again; asked first."""
        text = (
            _(
                "A new cluster and an empty work folder; nothing has passed yet. Your files are moved aside, the last "
                "three sets are kept."
            )
            + await self._what_ends()
        )
        title = _("Begin {lab} again?").format(lab=self.lab_id)
        self.app.push_screen(ConfirmScreen(title, text), self._reset_if)

    def action_open_check(self) -> None:
        """Open or close the check under the cursor."""
        self.query_one(LabPanel).toggle()

    def action_back(self) -> None:
        """To the catalogue; the lab goes on."""
        self.learner.leave_lab(self)

    def action_scroll_down(self) -> None:
        """As the arrow, in the text."""
        self.query_one("#text", VerticalScroll).scroll_down(animate=False)

    def action_scroll_up(self) -> None:
        """As the arrow, in the text."""
        self.query_one("#text", VerticalScroll).scroll_up(animate=False)

    # -- what happens ---------------------------------------------------------------------------------

    def on_prose_chosen(self, event: Prose.Chosen) -> None:
        """A click on a block."""
        self.query_one(Prose).choose(event.fence)

    async def on_steps_chosen(self, event: Steps.Chosen) -> None:
        """A click on a step."""
        await self._go(event.number)

    async def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A link to a step goes there; other links are the application's."""
        event.stop()
        target = next((step.number for step in self._lab().steps if event.href == f"#{step.id}"), None)
        if target is not None:
            await self._go(target)
        else:
            self.learner.open_link(event.href)

    # -- drawing --------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Everything that may have changed, if it has."""
        with suppress(NoMatches):  # the screen is composed anew just now, or goes
            self._draw()

    def _draw(self) -> None:
        session = self.session
        if session is None or session.lab is None:
            return
        lab, step = session.lab, self._step()
        self.query_one(Steps).show([session.state(one) for one in lab.steps], self.at)
        name = _("{lab}  step {number} of {total}").format(lab=lab.id, number=self.at, total=len(lab.steps))
        count = _("{passed} of {total} steps").format(passed=session.passed, total=len(lab.steps))
        self.entitle(
            f"{name}  {step.title}" if step else f"{lab.id}  {lab.title}",
            f"{bar(session.passed, len(lab.steps), 10)} {count}" if self.size.width >= 80 else count,
        )
        self._draw_panel()
        self.refresh_bindings()

    def _draw_panel(self) -> None:
        assert self.session is not None
        keys = {name: self.learner.key(f"lab.{name}") for name in ("start", "next", "back", "stop")}
        self.query_one(LabPanel).show(self.session, self._step(), self._obstacles(), keys)

    def _tick(self) -> None:
        if self.session is not None and self.session.boot is not None and self.is_current:
            self._draw_panel()

    # -- beneath --------------------------------------------------------------------------------------

    def _lab(self) -> Lab:
        assert self.session is not None
        assert self.session.lab is not None
        return self.session.lab

    def _step(self) -> Step | None:
        return self._lab().steps[self.at - 1] if self.at else None

    def _obstacles(self) -> list[str]:
        lab = self._lab()
        return list(self.learner.backend.may_start(lab.id, needs_root=lab.needs_root))

    async def _go(self, number: int) -> None:
        if number != self.at:
            self.at = number
            await self._show_step()

    async def _show_step(self, *, keep_place: bool = False) -> None:
        self._shown = text = self._text()
        prose = self.query_one(Prose)
        chosen = prose.fences().index(prose.chosen) if keep_place and prose.chosen in prose.fences() else None
        await prose.show(text)
        fences = prose.fences()
        first = next((number for number, fence in enumerate(fences) if fence.runs), len(fences))
        if (at := first if chosen is None else chosen) < len(fences):
            prose.choose(fences[at], scroll=False)  # so that one sees what can be done with it
        if not keep_place:
            self.query_one("#text", VerticalScroll).scroll_home(animate=False)
            self.query_one("#text").focus()
        self.draw()

    def _text(self) -> str:
        """The text of the step, with the hints that were shown."""
        lab, step = self._lab(), self._step()
        assert self.session is not None
        text = f"# {lab.title}\n\n{lab.intro}" if step is None else f"# {step.number}. {step.title}\n\n{step.body}"
        if step is not None:
            for number, hint in enumerate(step.hints[: self.session.hints_shown(step)], start=1):
                title = _("Hint {number} of {total}").format(number=number, total=len(step.hints))
                text += f"\n\n### {title}\n\n{hint.text}"
        return text

    def _block(self, *, runs: bool) -> str:
        """The text of the chosen block; the first that fits is chosen where none is."""
        prose = self.query_one(Prose)
        fence = prose.chosen
        if fence is None:
            fence = next((one for one in prose.fences() if one.runs or not runs), None)
            if fence is None:
                self.notify(_("this text has no block to type"), timeout=2)
                return ""
            prose.choose(fence, scroll=False)
        if runs and not fence.runs:
            copies = _("this block is to read, not to run: {key} copies it")
            self.notify(copies.format(key=self.learner.key("lab.copy")), timeout=3, markup=False)
            return ""
        if runs and seen(fence) is None:  # nobody runs what they have not read
            fence.scroll_visible(animate=False)
            self.notify(_("this is the block that would run: the same key once more"), timeout=3)
            return ""
        return fence.code

    async def _type(self, text: str, *, enter: bool) -> None:
        if not text:
            return
        if self._shell is None:
            self.app.copy_to_clipboard(text)
            copied = _("copied: without tmux there is no shell beside this; {key} opens one")
            self.notify(copied.format(key=self.learner.key("lab.shell")), markup=False)
            return
        await self._with_shell(partial(self._shell.type, text, enter=enter))

    async def _what_ends(self) -> str:
        """A sentence about the program (an editor?) that would end with the lab; "" where there is none."""
        try:
            program = await asyncio.to_thread(self._shell.busy) if self._shell is not None else ""
        except Problem:
            program = ""
        if not program:
            return ""
        return "\n\n" + _("{program} still runs in the shell, and ends with it: save first.").format(program=program)

    async def _open_shell(self) -> None:
        if self._shell is not None:
            await self._with_shell(self._shell.open)

    async def _with_shell(self, act: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(act)
        except Problem as problem:
            self.learner.say(problem)

    async def _start(self, *, again: bool) -> bool:
        assert self.session is not None
        if again:
            self.at = 0
            await self._show_step()
        came = await self.session.start(again=again)
        if came:
            self.notify(_("{lab} is ready").format(lab=self.lab_id), markup=False)
            if self.session.passed and not again:
                fresh = _("the cluster is new: apply your files again to go on (kubectl apply -f ...)")
                self.notify(fresh, timeout=8, markup=False)
            await self._open_shell()
            if self.at == 0:
                await self._go(1)
        self.draw()
        return came

    def _stop_if(self, yes: bool | None) -> None:
        if yes:
            self.closing()
            self.learner.stop_lab(self.lab_id)

    def _reset_if(self, yes: bool | None) -> None:
        if yes:
            self.closing()
            self._booting = self.run_worker(self._start(again=True), group="start")

    async def _check(self) -> None:
        assert self.session is not None
        await self.session.check()
        self.draw()
        self.query_one(LabPanel).open_first()

    def _changed(self) -> None:
        self.call_later(self._show_changes)

    async def _show_changes(self) -> None:
        """What is known changed: the text, where the lab's files did, and everything else."""
        if self.session is None or self.session.lab is None or not self.query(Prose):
            return
        self.at = min(self.at, len(self._lab().steps))
        if self._shown and self._text() != self._shown:
            await self._show_step(keep_place=True)
        self.draw()

    def _news(self, kind: News, sentence: str) -> None:
        severity = SEVERITY[kind]
        self.app.notify(sentence, severity=severity, timeout=8, markup=False)  # type: ignore[arg-type]  # one of three
