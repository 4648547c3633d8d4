"""The application on a terminal of its own: its first screen, the answer to a key, its memory."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil

from cluster.errors import EnvironmentProblem
from tests.bench.figures import Figure, Report
from tests.bench.ground import LAB, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = "tui"
COLUMNS, LINES = 120, 40
KEYS = 20
SECONDS = 60.0
"""How long anything may take before it is given up."""
_FIRST = Figure(id="tui.first", part=PART, title="batchlab, until something is on the screen", unit="s", target=1.0)
_WHOLE = Figure(id="tui.whole", part=PART, title="batchlab, until the catalogue is", unit="s")
_IN_TMUX = Figure(
    id="tui.tmux",
    part=PART,
    title="batchlab in a tmux of its own, until something is on the screen",
    unit="s",
    target=1.0,
)
_KEY = Figure(id="tui.key", part=PART, title="a key in the catalogue, until the screen changes", unit="s", target=0.05)
_LAB_KEY = Figure(id="tui.lab", part=PART, title="a key in a lab that is being checked", unit="s", target=0.05)
_MEMORY = Figure(
    id="tui.memory", part=PART, title="memory (RSS) of the application, a lab open", unit="MB", target=150.0
)


class Screen:
    """The end of a terminal at which a person sits: what is written comes out here, keys go in."""

    def __init__(self, handle: int, process: psutil.Process) -> None:
        self._handle, self.process = handle, process
        self._text = ""

    def until(self, text: str) -> None:
        """Read until `text` was written since the last call."""
        end = time.monotonic() + SECONDS
        while text not in self._text:
            if not self._read(end - time.monotonic()):
                raise EnvironmentProblem(f"the application did not show {text!r} within {SECONDS:g} s")
        self._text = ""

    def press(self, key: str) -> float:
        """Seconds from a key until something is drawn."""
        while self._read(0.2):
            pass  # until nothing moves
        began = time.perf_counter()
        os.write(self._handle, key.encode())
        if not self._read(SECONDS):
            raise EnvironmentProblem(f"the application did not answer {key!r} within {SECONDS:g} s")
        return time.perf_counter() - began

    def send(self, keys: str) -> None:
        """Keys whose answer is waited for with `until`."""
        self._text = ""
        os.write(self._handle, keys.encode())

    def _read(self, seconds: float) -> bool:
        if not select.select([self._handle], [], [], max(0.0, seconds))[0]:
            return False
        self._text += os.read(self._handle, 65536).decode(errors="replace")
        return True


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Open it `runs` times; then once with a lab that runs, where its checks are made meanwhile."""
    for number in range(1, runs + 1):
        ground.say(f"tui {number}/{runs}")
        began = time.perf_counter()
        with _application(panes=True) as screen:
            screen.until("Batchlab")
            report.add(_IN_TMUX, time.perf_counter() - began)
        began = time.perf_counter()
        with _application() as screen:
            screen.until("Batchlab")
            report.add(_FIRST, time.perf_counter() - began)
            screen.until("LeaderWorkerSet")
            report.add(_WHOLE, time.perf_counter() - began)
            for turn in range(KEYS):
                report.add(_KEY, screen.press("jk"[turn % 2]))
    if os.geteuid() != 0:
        raise EnvironmentProblem(f"{LAB} has a real node, and that needs root")
    ground.say(f"tui: starting {LAB}")
    ground.grader("start", LAB)
    with _application(LAB) as screen:
        screen.until("FAIL")
        for turn in range(KEYS):
            report.add(_LAB_KEY, screen.press("jk"[turn % 2]))
        report.add(_MEMORY, screen.process.memory_info().rss / 1e6)
    ground.grader("stop", LAB)


@contextmanager
def _application(*words: str, panes: bool = False) -> Iterator[Screen]:
    """`batchlab` on a terminal of its own; with `panes` as a person has it, inside the tmux that it starts."""
    mine, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (LINES, COLUMNS))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    for name in ("TMUX", "TMUX_PANE", "NO_COLOR"):
        environment.pop(name, None)
    line = [sys.executable, "-m", "tui", *([] if panes else ["--no-tmux"]), "--lang", "en", *words]
    process = subprocess.Popen(
        line, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        yield Screen(mine, psutil.Process(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(mine)
