"""The ground that benchmarks stand on: a state folder of their own, commands in it, and the end of it all.

Owns what is left behind: nothing, whoever interrupts. Knows nothing of what is measured.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.paths import state_dir
from grader.lab.catalogue import load_lab
from grader.session.machine import machine_config
from grader.session.places import session_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cluster.machine import MachineConfig

LAB = "lab-lws"
_PREFIX = "bench-"
_SESSIONS = ("*/run", "batchlab/sessions/*/run", "*/batchlab/sessions/*/run")
"""Where machines are: those of `fake`, those of `grader`, and those of learners with a state folder of their own."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ended."""

    seconds: float
    code: int
    output: str


class Ground:
    """From `with` to its end; then no machine that was started on it runs."""

    def __init__(self, binaries: Path, say: Callable[[str], None]) -> None:
        """`binaries`: the pinned programs; `say` is told what is being done."""
        self.binaries, self.say = binaries, say
        self.folder = Path()
        self._open = ExitStack()

    def __enter__(self) -> Ground:
        """Below the user's own state folder: the same disk as that of real sessions."""
        parent = state_dir()
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(parent)
        with ExitStack() as undo:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
            handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            undo.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
            undo.enter_context(_environment("XDG_STATE_HOME", str(self.folder)))
            self._open = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything and remove the folder; a second Ctrl-C must not leave half of it."""
        with held_back(), self._open:
            self.stop_all()

    @property
    def home(self) -> Path:
        """The session folder of `grader start lab-lws` here."""
        return session_home(LAB)

    @property
    def snapshots(self) -> Path:
        """Where starts by `cluster.local.start` keep what makes later ones warm."""
        return self.folder / "snapshots"

    def fake(self, name: str = "fake") -> MachineConfig:
        """lab-lws's machine without its real node: LWS, the fake nodes, the grader's recorder and examiner."""
        lab = load_lab(LAB)
        cluster = replace(lab.cluster, nodes=lab.cluster.fake_nodes)
        return machine_config(replace(lab, cluster=cluster), self.folder / name, self.binaries)

    def grader(self, *words: str, codes: tuple[int, ...] = (0,)) -> Ran:
        """Run `grader WORDS` as a process of its own. EnvironmentProblem for an exit code not in `codes`."""
        return run(command(*words), codes=codes)

    def play(self, first: int | None = None) -> None:
        """Play the solution as a learner would; `first`: only so many of its steps."""
        for script in sorted((load_lab(LAB).folder / "solution").glob("*.sh"))[:first]:
            self.say(f"solution {script.stem}")
            # Not through stdin: what the script runs (kubectl exec -i) would read the rest of it.
            self.grader("shell", LAB, "--", "bash", "-c", script.read_text(encoding="utf-8"), script.name)

    def stop_all(self) -> None:
        """End every machine on this ground."""
        _stop_below(self.folder)


def command(*words: str) -> list[str]:
    """The command line of `grader WORDS`."""
    return [str(Path(sys.executable).with_name("grader")), "--lang", "en", *words]


def run(argv: list[str], *, codes: tuple[int, ...] = (0,)) -> Ran:
    """Run a program to its end, from nothing to its exit code."""
    began = time.perf_counter()
    ended = subprocess.run(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if ended.returncode not in codes:
        last = "\n".join(ended.stdout.splitlines()[-12:])
        command = " ".join(argv[:5])
        raise EnvironmentProblem(f"exit code {ended.returncode}: {command}\n{last}")
    return Ran(seconds, ended.returncode, ended.stdout)


@contextmanager
def held_back() -> Iterator[None]:
    """Signals wait until what is in here is done."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def interruptible() -> None:
    """TERM and HUP end a run as Ctrl-C does."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for number in _SIGNALS:
        signal.signal(number, interrupt)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _stop_below(folder: Path) -> None:
    with ExitStack() as stops:  # each of them is tried, whatever becomes of the others
        for run_folder in {run for where in _SESSIONS for run in folder.glob(where)}:
            stops.callback(local.stop, run_folder.parent)


def _sweep(parent: Path) -> None:
    """End what a run that was killed with -9 left: nobody holds its lock."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            handle = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _stop_below(folder)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue  # it runs
        finally:
            os.close(handle)
