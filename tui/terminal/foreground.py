"""Whose the terminal is after a shell has had it.

A shell gives the terminal to a process group of its own and back to whose it was; one in a pid namespace of its own
does not know whose, and the terminal is left with a group that is gone.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress


def take_terminal_back() -> None:
    """Make this process's group the one in front again."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # who is behind may else not even ask
    try:
        with suppress(OSError, ValueError):
            os.tcsetpgrp(sys.__stdin__.fileno() if sys.__stdin__ else 0, os.getpgrp())
    finally:
        signal.signal(signal.SIGTTOU, before)
