"""Child processes of PID 1: spawning, reaping, signalling.

Owns the one place that waits for children. As PID 1 it also inherits orphans (container shims), so nothing
else in this process may call wait: a `Child` learns of its end from `reap`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster.i18n import _
from cluster.sandbox import kernel

_ALL_SIGNALS = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}


class Child:
    """One running program, its own session leader."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self._ended = threading.Event()

    def end(self, status: int) -> None:
        """The reaper's word that it is over."""
        self.status = status
        self._ended.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it ended within `seconds`."""
        return self._ended.wait(seconds)

    @property
    def alive(self) -> bool:
        """Not reaped yet."""
        return self.status is None

    def kill(self, number: signal.Signals) -> None:
        """Signal its whole session's process group."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def describe_end(self) -> str:
        """`exit code 1` or `killed by SIGKILL`."""
        assert self.status is not None
        code = os.waitstatus_to_exitcode(self.status)
        if code >= 0:
            return _("exit code {code}").format(code=code)
        return _("killed by {signal}").format(signal=signal.Signals(-code).name)


class ProcessTable:
    """Spawns children and hands their ends to them."""

    def __init__(self) -> None:
        self._children: dict[int, Child] = {}
        self._lock = threading.Lock()

    def spawn(self, argv: tuple[str, ...], env: Mapping[str, str], log: Path, *, inotify: bool = True) -> Child:
        """Start `argv` in a session of its own with its output appended to `log`. OSError if it can't be.

        Without `inotify` it can't watch files.
        """
        if inotify:
            return self._spawn(argv, env, log)
        # What is refused to a thread is refused for good, and to what it starts: so a thread for this one start.
        with ThreadPoolExecutor(1, initializer=kernel.refuse_inotify) as once:
            return once.submit(self._spawn, argv, env, log).result()

    def _spawn(self, argv: tuple[str, ...], env: Mapping[str, str], log: Path) -> Child:
        with self._lock:  # so that the reaper can't see its end before it is known
            pid = os.posix_spawnp(
                argv[0],
                list(argv),
                dict(env),
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setsid=True,
                setsigmask=(),
                setsigdef=_ALL_SIGNALS,
            )
            child = self._children[pid] = Child(pid)
        return child

    def reap(self) -> None:
        """Collect every child that has ended, ours and orphans."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            with self._lock:
                child = self._children.pop(pid, None)
            if child is not None:
                child.end(status)
