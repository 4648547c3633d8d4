"""Which shell there is: beside the application, or instead of it for a while.

Owns the choice, and what the screens may ask of either.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from cluster.i18n import _
from grader.session.places import session_home
from tui.terminal import own, tmux

if TYPE_CHECKING:
    from tui.backend.model import Backend


class Shell(Protocol):
    """A lab's shell in a pane of its own. Every method blocks for milliseconds; `Problem` where it can't be had."""

    def open(self) -> None:
        """Have it there, without going there."""

    def focus(self) -> None:
        """Go there."""

    def busy(self) -> str:
        """The program that runs in it; "" where it waits for a command."""

    def type(self, text: str, *, enter: bool) -> None:
        """Put text at its prompt."""

    def close(self) -> bool:
        """Close it; False where a program still runs in it."""


def shell_beside(backend: Backend, lab_id: str, *, panes: bool) -> Shell | None:
    """The lab's shell in a pane; None where the terminal has no panes, or they are not wanted."""
    if not panes or not tmux.inside():
        return None
    command, environment = backend.shell_command(lab_id)
    back = _("{key} goes back to the lab's text").format(key=own.SWAP_KEY) if os.environ.get(own.OWN) else ""
    return tmux.TmuxShell(
        command=command, environment=environment, title=lab_id, way_back=back, home=str(session_home(lab_id))
    )
