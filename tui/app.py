"""The application: its screens and how one goes from one to the next, colours, language, and what is said aside.

Owns what belongs to no single screen. Knows nothing of labs but their ids, and asks `Backend` for the rest.
A screen is imported when it is opened: the first one is to be there at once.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported, SystemCommand
from textual.scrollbar import ScrollBar, ScrollBarRender

from cluster import i18n
from cluster.errors import Problem
from cluster.i18n import _
from tui import marks
from tui.keys import EVERYWHERE, KEYS, bindings, displayed
from tui.screens.base import LearnerScreen
from tui.screens.catalogue import CatalogueScreen
from tui.settings import Settings, config_dir, load_settings, save_settings
from tui.terminal.foreground import take_terminal_back
from tui.themes import NAMES, THEMES
from tui.widgets.scrollbar import AsciiScrollBar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.screen import Screen

    from tui.backend.model import Backend, Entry
    from tui.board.screen import BoardScreen
    from tui.screens.lab import LabScreen
    from tui.timeline.screen import TimelineScreen

AT_ONCE_SECONDS = 3.0
"""A shell that fails so soon was none."""
PROBLEM_SECONDS = 12.0
"""How long a problem is shown: it has two sentences to read."""


class LearnerApp(App[None]):
    """The learner's way from the catalogue to a finished lab."""

    TITLE = "Batchlab"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "f12"  # ours is in the table of keys
    CSS = """
    * { scrollbar-color: $border; scrollbar-background: $background; scrollbar-corner-color: $background;
        scrollbar-color-hover: $primary; scrollbar-color-active: $primary; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; }
    Toast { max-width: 70; }
    Toast { border-left: $rule $primary; }
    Toast.-warning { border-left: $rule $warning; }
    Toast.-error { border-left: $rule $error; }
    """
    BINDINGS = bindings(EVERYWHERE)

    def __init__(
        self,
        backend: Backend,
        *,
        ascii_only: bool = False,
        settings: Settings | None = None,
        lab: str = "",
        panes: bool = True,
    ) -> None:
        """`settings` of the person; those kept in the configuration folder where None. `lab`: where to go at once.
        Without `panes`, a shell is never put beside the application."""
        marks.use_ascii(on=ascii_only)
        super().__init__()
        self.backend = backend
        self._kept = load_settings(config_dir()) if settings is None else settings
        self._keeps = settings is None
        ScrollBar.renderer = AsciiScrollBar if ascii_only else ScrollBarRender
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self._kept.theme
        self.keymap: dict[str, str] = {}
        self.panes = panes
        self._lab = lab
        self._named = ""

    def get_default_screen(self) -> Screen[Any]:
        """The catalogue."""
        return CatalogueScreen()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Lines of boxes and between them, which `--ascii` draws otherwise."""
        plain = marks.is_ascii()
        return {
            "frame": "ascii" if plain else "round",
            "rule": "ascii" if plain else "solid",
            "key": "none" if plain else "thin",
        }

    def on_mount(self) -> None:
        """Take over the person's keys."""
        from tui.keymap import FILE, read_keymap

        self.keymap, wrong = read_keymap(config_dir() / FILE)
        self.set_keymap(self.keymap)
        for sentence in wrong:
            self.notify(sentence, severity="warning", timeout=PROBLEM_SECONDS, markup=False)
        if self._lab:
            self.open_lab(self._lab)

    # -- going about ----------------------------------------------------------------------------------

    def open_entry(self, entry: Entry) -> None:
        """What Enter does on an entry of the catalogue."""
        if entry.kind == "lab":
            self.open_lab(entry.id)
        else:
            self.open_article(entry.id)

    def open_article(self, article_id: str) -> None:
        """Go to an article."""
        from tui.screens.article import ArticleScreen

        self.push_screen(ArticleScreen(article_id))

    def open_report(self) -> None:
        """Progress over all labs."""
        from tui.screens.report import ReportScreen

        if not isinstance(self.screen, ReportScreen):
            self.push_screen(ReportScreen())

    def open_lab(self, lab_id: str) -> None:
        """Go to a lab: to the screen it has already, or to a new one."""
        from tui.screens.lab import LabScreen

        known = next((one for one in self._labs() if one.lab_id == lab_id), None)
        if known is None:
            self.push_screen(LabScreen(lab_id))
        while known is not None and self.screen is not known:
            self.pop_screen()

    def leave_lab(self, screen: LabScreen) -> None:
        """Back to the catalogue; the lab runs on, its idle shell does not stay."""
        if not screen.closing():
            self.notify(_("a program still runs in the shell: it stays open"), markup=False)
        screen.dismiss()

    def open_link(self, target: str) -> None:
        """A link of a text: to a lab or an article of ours; any other is shown, to be copied."""
        scheme, _colon, name = target.partition(":")
        if scheme == "lab":
            self.open_lab(name)
        elif scheme == "article":
            self.open_article(name)
        else:
            self.copy_to_clipboard(target)
            self.notify(_("copied: {text}").format(text=target), markup=False)

    def shell_instead(self, lab_id: str) -> None:
        """The lab's shell in the place of the application, until it is left."""
        command, environment = self.backend.shell_command(lab_id)
        try:
            with self.suspend():
                sys.stdout.write("\n" + _("This is the shell of {lab}; `exit` comes back.").format(lab=lab_id) + "\n")
                sys.stdout.flush()
                began = time.monotonic()
                # Nothing may draw meanwhile, so the whole application waits.
                ended = subprocess.run(command, env=environment, check=False)
                take_terminal_back()
                if ended.returncode and time.monotonic() - began < AT_ONCE_SECONDS:
                    # It did not open, and why stands there: the picture that comes back would hide it.
                    sys.stdout.write("\n" + _("The shell did not open. Enter goes back.") + "\n")
                    sys.stdout.flush()
                    if sys.__stdin__ is not None:
                        sys.__stdin__.readline()
        except SuspendNotSupported:
            self.notify(_("there can be no shell here"), severity="warning")
        self.refresh()

    async def action_quit(self) -> None:
        """Leave. Labs go on; a start that is under way is asked about, an idle shell is closed."""
        starting = [lab for lab in self._labs() if lab.starts]
        if starting:
            from tui.screens.confirm import ConfirmScreen

            title = _("{lab} is being started").format(lab=starting[0].lab_id)
            self.push_screen(ConfirmScreen(title, _("Leave, and end the start?")), self._leave_if)
            return
        await self.leave()

    async def _leave_if(self, yes: bool | None) -> None:
        if yes:
            await self.leave()

    async def leave(self) -> None:
        """End, whatever is open: nothing of a start is left, and no idle shell."""
        for lab in self._labs():
            await lab.end_start()
            lab.closing()
        self.exit()

    def _labs(self) -> list[LabScreen]:
        """The labs that are open."""
        if "tui.screens.lab" not in sys.modules:
            return []
        from tui.screens.lab import LabScreen

        return [screen for screen in self.screen_stack if isinstance(screen, LabScreen)]

    def key(self, key_id: str) -> str:
        """The first key of an action, as a person reads it."""
        key = next(one for keys in KEYS.values() for one in keys if one.id == key_id)
        return displayed(self.keymap.get(key_id, key.keys).split(",")[0])

    def open_board(self, lab_id: str) -> None:
        """The cluster of a lab as it is now: the board that is open already, or a new one."""
        from tui.board.screen import BoardScreen

        self.run_worker(self._open_view(BoardScreen, lab_id), group="view", exclusive=True)

    def open_timeline(self, lab_id: str) -> None:
        """What happened in a lab: the timeline that is open already, or a new one."""
        from tui.timeline.screen import TimelineScreen

        self.run_worker(self._open_view(TimelineScreen, lab_id), group="view", exclusive=True)

    async def _open_view(self, view: type[BoardScreen | TimelineScreen], lab_id: str) -> None:
        if any(isinstance(one, view) and one.lab_id == lab_id for one in self.screen_stack):
            while not (isinstance(self.screen, view) and self.screen.lab_id == lab_id):
                self.pop_screen()
            return
        try:
            lab = await self.backend.lab(lab_id)
        except Problem as problem:
            self.say(problem)
            return
        self.push_screen(view.of(lab))

    def stop_lab(self, lab_id: str) -> None:
        """Stop a lab in the background and say so."""
        self.run_worker(self._stop(lab_id), group=f"stop {lab_id}")

    async def _stop(self, lab_id: str) -> None:
        self.notify(_("stopping {lab}").format(lab=lab_id), markup=False)
        try:
            await self.backend.stop(lab_id)
        except Problem as problem:
            self.say(problem)
            return
        self.notify(_("{lab} is stopped; files and progress stay").format(lab=lab_id), markup=False)

    # -- what is said aside ---------------------------------------------------------------------------

    def say(self, problem: Problem) -> None:
        """A problem, and what to do about it."""
        self.notify(
            "\n".join(filter(None, (problem.message, problem.advice))),
            severity="error",
            timeout=PROBLEM_SECONDS,
            markup=False,
        )

    # -- language, colours, help ----------------------------------------------------------------------

    async def action_language(self) -> None:
        """The other language, everywhere at once."""
        languages = i18n.LANGUAGES
        await self.speak(languages[(languages.index(i18n.language()) + 1) % len(languages)])

    async def speak(self, language: str) -> None:
        """Say everything in `language` from now on."""
        i18n.set_language(language)
        self._keep(replace(self._kept, language=language))
        for screen in self.screen_stack:
            if isinstance(screen, LearnerScreen):
                await screen.speak()

    def action_next_theme(self) -> None:
        """The next set of colours."""
        names = list(NAMES)
        self.choose_theme(names[(names.index(self.theme) + 1) % len(names)])
        title = NAMES[self.theme]
        self.notify(_("colours: {name}").format(name=_(title)), timeout=2)

    def choose_theme(self, name: str) -> None:
        """Draw in these colours from now on."""
        self.theme = name
        self._keep(replace(self._kept, theme=name))

    def action_jump(self) -> None:
        """A letter beside everything one can go to."""
        from tui.screens.jump import JumpScreen
        from tui.widgets.jump import found_on

        if isinstance(self.screen, LearnerScreen):
            jumps = found_on(self.screen)
            if jumps:
                self.push_screen(JumpScreen(jumps), lambda jump: jump and jump.go())
            else:
                self.notify(_("there is nowhere to jump to here"), timeout=2)

    def name_terminal(self, title: str) -> None:
        """What the terminal's own title says."""
        if title != self._named:
            self._named = title
            if self._driver is not None:
                self._driver.write(f"\x1b]2;{''.join(filter(str.isprintable, title))}\x07")

    def action_help(self) -> None:
        """The page of keys of the screen in front."""
        from tui.screens.help import HelpScreen

        screen = self.screen
        if isinstance(screen, LearnerScreen):
            self.push_screen(HelpScreen(screen.PLACE, screen.ABOUT, self.keymap))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """What the palette offers everywhere."""
        del screen
        yield SystemCommand(_("Keys"), _("the keys of this screen"), self.action_help)
        yield SystemCommand(_("Progress"), _("steps, time and attempts over all labs"), self.open_report)
        for name, title in NAMES.items():
            command = _("Colours: {name}").format(name=_(title))
            yield SystemCommand(command, "", lambda name=name: self.choose_theme(name))
        for language, title in (("en", "Language: English"), ("ko", "언어: 한국어")):
            if language != i18n.language():
                yield SystemCommand(title, "", lambda language=language: self.speak(language))
        yield SystemCommand(_("Quit"), _("leave; a lab that runs goes on"), self.action_quit)

    def _keep(self, settings: Settings) -> None:
        self._kept = settings
        if self._keeps:
            save_settings(config_dir(), settings)
