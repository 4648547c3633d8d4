"""tmux: a session of our own around the application, and a pane beside it with the lab's shell.

Owns every call of tmux and our configuration for it. The emulator is tmux's, so any program works in the shell.
Nothing is ever typed that the learner did not ask for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OWN = "BATCHLAB_TMUX"
"""Environment variable inside a tmux session that we made: the folder of its socket and configuration."""
SWAP_KEY = "F2"
"""Goes from one pane to the other, in a session of ours."""
SHELLS = frozenset({"bash", "sh", "zsh", "fish", "dash", "ash"})
SECONDS = 5.0
POLL_SECONDS = 0.05
WIDE, HIGH = 116, 40
"""From so many columns on, panes stand side by side; else from so many lines on, one above the other; else one at a
time fills the terminal."""

CONFIG = """\
set -g status off
set -g destroy-unattached on
set -g mouse on
set -g set-clipboard on
set -g escape-time 10
set -g focus-events on
set -g history-limit 20000
set -g default-terminal screen-256color
set -ga terminal-overrides ",*:Tc"
set -g prefix C-]
unbind C-b
bind -n {key} select-pane -Z -t :.+
set -g pane-border-status off
set -g pane-border-style fg=colour240
set -g pane-active-border-style fg=colour75
set -g pane-border-lines {lines}
set -g set-titles on
set -g set-titles-string "#T"
"""


def own_session(program: Sequence[str], *, ascii_only: bool) -> list[str]:
    """The command line that runs `program` in a tmux session of our own, on a socket of our own."""
    folder = Path(tempfile.mkdtemp(prefix="batchlab-tmux-"))
    config = folder / "tmux.conf"
    config.write_text(CONFIG.format(key=SWAP_KEY, lines="simple" if ascii_only else "single"), encoding="utf-8")
    line = ["tmux", "-u", "-S", str(folder / "socket"), "-f", str(config), "new-session"]
    return [*line, "-e", f"{OWN}={folder}", "--", *program]


def wanted() -> bool:
    """Whether a session of our own should be made: a terminal, tmux, and not inside one already."""
    return not os.environ.get("TMUX") and shutil.which("tmux") is not None


def inside() -> bool:
    """Whether this process runs in a pane of tmux, ours or the person's own."""
    return bool(os.environ.get("TMUX") and os.environ.get("TMUX_PANE") and shutil.which("tmux"))


def leave_own_session() -> None:
    """The application is the last in its session: socket and configuration go. A pane that stays needs them."""
    folder = os.environ.get(OWN)
    if not folder:
        return
    try:
        panes = _tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    except EnvironmentProblem:
        panes = []  # the terminal is gone, and the session with it
    if panes in ([], [os.environ.get("TMUX_PANE", "")]):
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class TmuxShell:
    """The pane with the lab's shell, beside our own. Every method blocks for milliseconds; call it in a thread."""

    command: list[str]
    environment: Mapping[str, str]
    title: str
    pane: str = ""

    def open(self) -> None:
        """Open the pane if there is none; the application keeps the focus. Returns when the shell waits for a command,
        or has not come to that in time."""
        if self.alive():
            return
        width, height = (
            int(part) for part in _tmux("display-message", "-p", "#{window_width} #{window_height}").split()
        )
        how = ["-h", "-l", "52%"] if width >= WIDE else ["-v", "-l", "45%"] if height >= HIGH else ["-v", "-l", "50%"]
        passed = [f"-e{name}={value}" for name, value in self.environment.items() if name.startswith("PYTHON")]
        own = os.environ["TMUX_PANE"]
        self.pane = _tmux(
            "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", own, *how, *passed, "--", *self.command
        ).strip()
        _tmux("select-pane", "-t", self.pane, "-T", self.title)
        if not _fits(width, height):
            _tmux("resize-pane", "-Z", "-t", own)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.alive() and not self._prompts():
            time.sleep(POLL_SECONDS)

    def alive(self) -> bool:
        """Whether the pane is still there."""
        return bool(self.pane) and self.pane in _tmux("list-panes", "-a", "-F", "#{pane_id}").split()

    def _prompts(self) -> bool:
        """Whether the shell is there and has written its prompt."""
        program, column = _tmux("display-message", "-p", "-t", self.pane, "#{pane_current_command} #{cursor_x}").split()
        return program in SHELLS and int(column) > 0

    def focus(self) -> None:
        """Go there; where there is room for one pane only, it fills the terminal."""
        self.open()
        _tmux("select-pane", "-Z", "-t", self.pane)

    def busy(self) -> str:
        """The program that runs in the shell; "" where it waits for a command."""
        if not self.alive():
            return ""
        program = _tmux("display-message", "-p", "-t", self.pane, "#{pane_current_command}").strip()
        return "" if program in SHELLS else program

    def type(self, text: str, *, enter: bool) -> None:
        """Put `text` at the prompt as a paste; with `enter`, run it.

        EnvironmentProblem where something else than the shell would read it.
        """
        self.open()
        if program := self.busy():
            raise EnvironmentProblem(
                _("{program} runs in the shell: nothing was typed").format(program=program),
                _("end it, or wait until it is done"),
            )
        _tmux("load-buffer", "-b", "batchlab", "-", text=text.rstrip("\n"))
        _tmux("paste-buffer", "-p", "-d", "-b", "batchlab", "-t", self.pane)
        if enter:
            _tmux("send-keys", "-t", self.pane, "Enter")

    def close(self) -> bool:
        """Close the pane if its shell waits for a command; False where a program (an editor?) still runs there."""
        if not self.alive():
            return True
        if self.busy():
            return False
        _tmux("kill-pane", "-t", self.pane)
        return True


def _fits(width: int, height: int) -> bool:
    return width >= WIDE or height >= HIGH


def _tmux(*words: str, text: str | None = None) -> str:
    try:
        done = subprocess.run(
            ["tmux", *words], input=text, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentProblem(_("tmux does not answer: {why}").format(why=error)) from error
    if done.returncode:
        raise EnvironmentProblem(_("tmux does not answer: {why}").format(why=done.stderr.strip() or done.returncode))
    return done.stdout
