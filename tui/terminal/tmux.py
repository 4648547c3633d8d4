"""A pane of tmux beside the application, with the lab's shell.

Owns how tmux is called and what a pane is; a session of our own around both is `tui.terminal.own`'s. The emulator is
tmux's, so any program works in the shell.
Nothing is ever typed that the learner did not ask for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME, BY = "@batchlab_home", "@batchlab_by"
"""Options of a pane with a lab's shell: the lab's session folder, and the application's pane."""
SHELLS = frozenset({"bash", "sh", "zsh", "fish", "dash", "ash"})
SECONDS = 5.0
WAY_BACK_MS = 4000
POLL_SECONDS = 0.05
WIDE, HIGH = 116, 40
"""From so many columns on, panes stand side by side; else from so many lines on, one above the other; else one at a
time fills the terminal."""


def inside() -> bool:
    """Whether this process runs in a pane of tmux, ours or the person's own."""
    return bool(os.environ.get("TMUX") and os.environ.get("TMUX_PANE") and shutil.which("tmux"))


@dataclass(slots=True)
class TmuxShell:
    """The pane with the lab's shell, beside our own. Every method blocks for milliseconds; call it in a thread."""

    command: list[str]
    environment: Mapping[str, str]
    title: str
    way_back: str = ""
    """What is said for a moment when one goes there; a format of tmux."""
    home: str = ""
    """The session folder of the lab: by it a shell that was left is found again."""
    pane: str = ""

    def open(self) -> None:
        """Have the pane: the one that was left with a program in it, or a new one. The application keeps the focus.
        Returns when the shell waits for a command, or has not come to that in time."""
        if self.alive():
            return
        own = os.environ["TMUX_PANE"]
        asked = call("display-message", "-p", "-t", own, "#{window_width} #{window_height} #{window_id}").split()
        width, height, window = int(asked[0]), int(asked[1]), asked[2]
        if left := _left_of(self.home, own):
            self.pane = left.pane
            if left.window != window:
                call("join-pane", "-d", "-s", left.pane, "-t", own, *side(width, height))
        else:
            passed = [f"-e{name}={value}" for name, value in self.environment.items() if name.startswith("PYTHON")]
            how = [*side(width, height), *passed]
            self.pane = call("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", own, *how, "--", *self.command)
            self.pane = self.pane.strip()
            call("select-pane", "-t", self.pane, "-T", self.title)
        call("set-option", "-p", "-t", self.pane, HOME, self.home)
        call("set-option", "-p", "-t", self.pane, BY, own)
        if not fits(width, height) and call("display-message", "-p", "-t", own, "#{window_zoomed_flag}").strip() == "0":
            call("resize-pane", "-Z", "-t", own)
        if left:
            return  # it is as it was left
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.alive() and not self._prompts():
            time.sleep(POLL_SECONDS)

    def alive(self) -> bool:
        """Whether the pane is still there."""
        return bool(self.pane) and self.pane in call("list-panes", "-a", "-F", "#{pane_id}").split()

    def _prompts(self) -> bool:
        """Whether the shell is there and has written its prompt."""
        program, column = call("display-message", "-p", "-t", self.pane, "#{pane_current_command} #{cursor_x}").split()
        return program in SHELLS and int(column) > 0

    def focus(self) -> None:
        """Go there; where there is room for one pane only, it fills the terminal."""
        self.open()
        call("select-pane", "-Z", "-t", self.pane)
        if self.way_back:  # where it fills the terminal nothing else says how to leave it
            call("display-message", "-d", str(WAY_BACK_MS), "-t", self.pane, self.way_back)

    def busy(self) -> str:
        """The program that runs in the shell; "" where it waits for a command."""
        if not self.alive():
            return ""
        program = call("display-message", "-p", "-t", self.pane, "#{pane_current_command}").strip()
        return "" if program in SHELLS else program

    def type(self, text: str, *, enter: bool) -> None:
        """Put `text` at the prompt as a paste; with `enter`, run it. Goes there where Enter is still to be pressed,
        and where the shell could not be seen otherwise.

        EnvironmentProblem where something else than the shell would read it.
        """
        self.open()
        if program := self.busy():
            raise EnvironmentProblem(
                _("{program} runs in the shell: nothing was typed").format(program=program),
                _("end it, or wait until it is done"),
            )
        call("load-buffer", "-b", "batchlab", "-", text=text.rstrip("\n"))
        call("paste-buffer", "-p", "-d", "-b", "batchlab", "-t", self.pane)
        if enter:
            call("send-keys", "-t", self.pane, "Enter")
        if not enter or call("display-message", "-p", "-t", self.pane, "#{window_zoomed_flag}").strip() == "1":
            self.focus()  # where Enter is to be pressed, or what came of it is to be seen

    def close(self) -> bool:
        """Close the pane if its shell waits for a command; False where a program (an editor?) still runs there."""
        if not self.alive():
            return True
        if self.busy():
            return False
        call("kill-pane", "-t", self.pane)
        return True


def side(width: int, height: int) -> list[str]:
    """Where the shell's pane goes in a window of that size, for `split-window` and `join-pane`."""
    return ["-h", "-l", "52%"] if width >= WIDE else ["-v", "-l", "45%"] if height >= HIGH else ["-v", "-l", "50%"]


def fits(width: int, height: int) -> bool:
    """Whether there is room for both panes."""
    return width >= WIDE or height >= HIGH


@dataclass(frozen=True, slots=True)
class LabPane:
    """A pane with the shell of a lab. `by`: the pane of the application that opened it last."""

    pane: str
    window: str
    program: str
    home: str
    by: str

    @property
    def lab(self) -> str:
        """The lab's id."""
        return Path(self.home).name

    @property
    def busy(self) -> bool:
        """Whether another program than the shell runs in it."""
        return self.program not in SHELLS


def lab_panes(socket: Path | None = None) -> tuple[list[LabPane], list[str]]:
    """The panes of this server (or that at `socket`) with shells of labs, and the ids of all panes there are."""
    form = "\t".join(("#{pane_id}", "#{window_id}", "#{pane_current_command}", f"#{{{HOME}}}", f"#{{{BY}}}"))
    rows = [line.split("\t") for line in call("list-panes", "-a", "-F", form, socket=socket).splitlines()]
    return [LabPane(*row) for row in rows if row[3]], [row[0] for row in rows]


def _left_of(home: str, own: str) -> LabPane | None:
    """The shell of a lab that this application left, or one that is gone."""
    panes, known = lab_panes()
    return next((one for one in panes if one.home == home and (one.by == own or one.by not in known)), None)


def close_idle() -> list[LabPane]:
    """End the shells that this application opened and that wait for a command; the others are left, and returned."""
    if not inside():
        return []
    own = os.environ["TMUX_PANE"]
    mine = [one for one in lab_panes()[0] if one.by == own]
    for one in mine:
        if not one.busy:
            call("kill-pane", "-t", one.pane)
    return [one for one in mine if one.busy]


def call(*words: str, text: str | None = None, socket: Path | None = None) -> str:
    """What tmux answers: the server around this process, or the one at `socket`. EnvironmentProblem: nothing."""
    server = ["-S", str(socket)] if socket else []
    try:
        done = subprocess.run(
            ["tmux", *server, *words], input=text, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(_("tmux does not answer: {why}").format(why=error)) from error
    if done.returncode:
        raise EnvironmentProblem(_("tmux does not answer: {why}").format(why=done.stderr.strip() or done.returncode))
    return done.stdout
