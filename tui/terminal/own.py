"""A tmux session of our own around the application, on a socket of its own and with none of the person's configuration.

Owns that configuration, how the session is begun and left, and the way back to one in whose shell a program (an
editor?) still runs: it goes on without a terminal until the application is started again, or the lab is stopped.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from tui.terminal.tmux import LabPane, call, close_idle, fits, inside, lab_panes, side

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OWN = "BATCHLAB_TMUX"
"""Environment variable inside a tmux session that we made: the folder of its socket and configuration."""
PREFIX = "batchlab-tmux-"
SWAP_KEY = "F2"
"""Goes from one pane to the other, in a session of ours."""
NEW_SECONDS = 60.0
"""A folder without a server may be that of a session which is just being made; no longer than this."""

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
_PASSED = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "NO_COLOR", "PYTHONPATH", "PYTHONSAFEPATH")
"""What a new application takes from the terminal it is started in, beside what its session has."""


@dataclass(frozen=True, slots=True)
class Left:
    """A session of ours without a terminal, and the pane in it where a program still runs."""

    folder: Path
    pane: LabPane

    @property
    def socket(self) -> Path:
        """Where its server listens."""
        return self.folder / "socket"


def wanted() -> bool:
    """Whether a session of our own should be made: a terminal, tmux, and not inside one already."""
    return not os.environ.get("TMUX") and shutil.which("tmux") is not None


def own_session(program: Sequence[str], *, ascii_only: bool) -> list[str]:
    """The command line that runs `program` in a tmux session of our own, on a socket of our own."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    config = folder / "tmux.conf"
    config.write_text(CONFIG.format(key=SWAP_KEY, lines="simple" if ascii_only else "single"), encoding="utf-8")
    line = ["tmux", "-u", "-S", str(folder / "socket"), "-f", str(config), "new-session"]
    return [*line, "-e", f"{OWN}={folder}", "--", *program]


def left_behind(sessions: Path, lab_id: str | None) -> Left | None:
    """A session that was left with a program in the shell of `lab_id`, or of any lab of the state folder where None.

    Folders of sessions that are gone are removed on the way.
    """
    for folder in _folders():
        socket = folder / "socket"
        try:
            panes = lab_panes(socket)[0]
            attached = call("list-clients", "-F", "#{client_tty}", socket=socket).split()
        except EnvironmentProblem:
            if time.time() - folder.stat().st_mtime > NEW_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
            continue
        found = [one for one in panes if Path(one.home).parent == sessions and lab_id in (None, one.lab)]
        if found and not attached:
            return Left(folder, found[0])
    return None


def back_into(left: Left, program: Sequence[str]) -> list[str]:
    """Put `program` beside the pane that was left; the command line that shows both in this terminal."""
    width, height = shutil.get_terminal_size()
    call("resize-window", "-t", left.pane.pane, "-x", str(width), "-y", str(height), socket=left.socket)
    passed = [f"-e{name}={os.environ[name]}" for name in _PASSED if name in os.environ]
    how = [*side(width, height)[:1], "-b", "-P", "-F", "#{pane_id}", "-t", left.pane.pane]
    own = call("split-window", *how, *passed, "--", *program, socket=left.socket).strip()
    if not fits(width, height):
        call("resize-pane", "-Z", "-t", own, socket=left.socket)
    attach = ["tmux", "-u", "-S", str(left.socket), "attach-session"]
    # Not before a terminal is there: a session without one would end at once.
    return [*attach, ";", "set-option", "-w", "-u", "window-size", ";", "set-option", "-g", "destroy-unattached", "on"]


def leave(command: str) -> list[str]:
    """What the application does last: shells that wait for a command are closed. A sentence for each that is not.

    A session of our own ends with its last pane; else it gives its terminal back and goes on without one. `command`
    comes back to it.
    """
    try:
        left = close_idle()
        said = [_left(one, command) for one in left]
        folder = os.environ.get(OWN)
        if not folder or not inside():
            return said
        if call("list-panes", "-a", "-F", "#{pane_id}").split() == [os.environ["TMUX_PANE"]]:
            shutil.rmtree(folder, ignore_errors=True)
            return []
        call("set-option", "-g", "destroy-unattached", "off")
        # Said in the terminal that is given back: what this process writes now would be seen by nobody.
        words = "printf '%s\\n' " + " ".join(map(shlex.quote, said)) if said else "true"
        if call("list-clients", "-F", "#{client_tty}").strip():
            call("detach-client", "-s", call("display-message", "-p", "#{session_id}").strip(), "-E", words)
    except EnvironmentProblem:  # the terminal is gone, and the session with it
        if folder := os.environ.get(OWN):
            shutil.rmtree(folder, ignore_errors=True)
    return []


def _left(pane: LabPane, command: str) -> str:
    said = _("{program} still runs in the shell of {lab}; {command} comes back to it")
    return said.format(program=pane.program, lab=pane.lab, command=command)


def _folders() -> Iterator[Path]:
    """The folders of sessions of ours, and of nobody else's."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        try:
            info = folder.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid():
            yield folder
