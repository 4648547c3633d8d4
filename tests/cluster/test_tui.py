"""The application as a learner has it: in a terminal, with a real lab, by keys alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import local
from grader.lab.catalogue import labs_dir
from grader.report.text import state_word
from grader.results import State
from grader.session.places import session_home, work_folder
from tests.cluster.conftest import needs_root, until

LAB = "lab-lws"
ROOT = Path(__file__).resolve().parents[2]


class Terminal:
    """A terminal of 140 × 45, of which tests read the picture and press the keys: tmux around the application."""

    def __init__(self, socket: str, program: str) -> None:
        self._socket = socket
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "45", f"env -u TMUX -u TMUX_PANE {program}"
        )

    def press(self, *keys: str) -> None:
        """Keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Letters as they are."""
        self._tmux("send-keys", "-l", text)

    @property
    def title(self) -> str:
        """What the terminal is called."""
        return self._tmux("display-message", "-p", "#{pane_title}").strip()

    @property
    def text(self) -> str:
        """What stands there now."""
        return self._tmux("capture-pane", "-p")

    def shows(self, *texts: str, seconds: float = 60.0) -> None:
        """Wait until all of them are there at once."""
        try:
            until(lambda: all(text in self.text for text in texts), seconds)
        except pytest.fail.Exception:
            pytest.fail(f"not in {seconds} s: {texts} in\n{self.text}")

    def ended(self) -> bool:
        """Whether the program in it is gone."""
        return (
            subprocess.run(["tmux", "-L", self._socket, "has-session"], capture_output=True, check=False).returncode
            != 0
        )

    def close(self) -> None:
        """Whatever is left of it."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True, check=False)

    def _tmux(self, *words: str) -> str:
        line = ["tmux", "-u", "-L", self._socket, *words]
        return subprocess.run(line, capture_output=True, text=True, check=True, timeout=30).stdout


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    for name in ("TMUX", "TMUX_PANE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    opened = Terminal(f"batchlab-test-{os.getpid()}", f"{sys.executable} -m tui --lang en")
    yield opened
    opened.close()
    local.stop(session_home(LAB))


@needs_root
def test_a_learner_opens_a_lab_starts_it_and_works_through_two_steps(terminal: Terminal) -> None:
    terminal.shows("Batchlab", "One group, one fate")
    terminal.press("/")
    terminal.type("lab-lws")
    terminal.press("Enter")
    terminal.shows(f"{LAB} is not running", "g start")
    terminal.press("g")
    terminal.shows("waits for")
    terminal.shows("step 1 of 8", f"({LAB})", state_word(State.FAILED), seconds=180)

    # What a code block says is run by a key, in the lab's own shell.
    terminal.press("R")
    terminal.shows("WorkerTemplate defines")

    # An editor would write the same files.
    work = work_folder(session_home(LAB))
    for name in ("01-groups.sh", "02-names.sh"):
        shutil.copy(labs_dir() / LAB / "solution" / name, work)
    terminal.press("F2")
    terminal.type("clear; bash 01-groups.sh")
    terminal.press("Enter")
    terminal.shows("1 of 8 steps", "PASS", "passed: n goes on", seconds=120)
    terminal.press("F2", "n")
    terminal.shows("step 2 of 8", "names.txt")
    terminal.press("h")
    terminal.shows("Hint 1 of 2")

    terminal.press("c")
    terminal.shows("wanted", "saw", "look at")
    terminal.press("F2")
    terminal.type("clear; bash 02-names.sh")
    terminal.press("Enter")
    terminal.shows("2 of 8 steps", "1✓", "2✓", seconds=120)

    # What happened, and what is: a row for each pod under its group; the node's GPUs.
    terminal.press("F2", "t")
    terminal.shows("Timeline", "LeaderWorkerSet llm · group 0", "LeaderWorkerSet llm · group 1", "llm-1-1", "Running")
    terminal.press("v")
    terminal.shows("Board", "lws/llm", "4/4")
    terminal.press("Escape")
    terminal.shows("Timeline")
    terminal.press("Escape")
    terminal.shows("step 2 of 8")
    assert terminal.title == f"2/8 {LAB}"

    # A shell in which an editor runs is left as it is, and come back to.
    terminal.press("F2")
    terminal.type("clear; cat > draft.txt")
    terminal.press("Enter")
    terminal.type("not finished")
    terminal.press("F2", "q")
    until(terminal.ended, 30, "the application has left")
    again = Terminal(f"batchlab-test-{os.getpid()}-again", f"{sys.executable} -m tui --lang en")
    try:
        again.shows("step 3 of 8", "not finished")
        again.press("F2", "Enter", "C-d")
        until(lambda: (work / "draft.txt").read_text() == "not finished\n", 30)
        # The lab goes on when the application is left; the shell that waits for a command does not.
        _leaves_by_the_catalogue(again)
    finally:
        again.close()
    assert local.status(session_home(LAB)).state == "running"

    # Without panes the shell takes the application's place, and gives it back.
    alone = Terminal(f"batchlab-test-{os.getpid()}-alone", f"{sys.executable} -m tui --lang en --no-tmux {LAB}")
    try:
        alone.shows("step 3 of 8", "FAIL")
        alone.press("s")
        alone.shows(f"This is the shell of {LAB}", "~/gsb-lws #")
        alone.type("exit")
        alone.press("Enter")
        alone.shows("step 3 of 8", "FAIL")
        alone.press("n")
        alone.shows("step 4 of 8")
    finally:
        alone.close()


def _leaves_by_the_catalogue(terminal: Terminal) -> None:
    terminal.press("F2", "Escape")
    terminal.shows("2 of 8", "runs")
    terminal.press("p")
    terminal.shows("Checks of lab-lws", "names")
    terminal.press("q")
    until(terminal.ended, 30, "the application has left, and its shell with it")
