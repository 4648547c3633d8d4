"""Several pieces of work side by side, each in a process of its own, and the end of all of them.

Owns the processes: how many run at once, what they tell, that an interrupt ends every one before this process goes
on, and that one that dies takes nothing with it. Knows nothing of what they do.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from cluster.sandbox import kernel
from grader.session.lifecycle import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import FrameType

    Tell = Callable[[object], None]
    """What a piece of work is given to tell what happens; anything that can be pickled."""

T = TypeVar("T")

_END_SECONDS = 60.0
"""From the wish that a process ends to its kill: it has a script to end and a machine to stop."""
_TELL_SECONDS = 0.5
# Forked, not spawned: what was imported and chosen (language, folders) is there, and nothing has threads yet.
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Died:
    """A process that ended without a result: killed, or by a failure of its own that it has told on stderr."""

    how: str
    """`exit code 4` or `SIGKILL`."""
    seconds: float


@dataclass(slots=True)
class _Member:
    name: str
    process: BaseProcess
    began: float = field(default_factory=time.monotonic)


class Crew(Generic[T]):
    """Carries out `work` (name → a function that is given `Tell`), `jobs` at a time, in the order of the mapping."""

    def __init__(
        self,
        work: Mapping[str, Callable[[Tell], T]],
        jobs: int,
        on_told: Callable[[str, Any], None],
        on_end: Callable[[str, T | Died], None],
    ) -> None:
        """`on_told(name, what)` and `on_end(name, result)` are called in this process, one at a time."""
        if jobs < 1:
            raise ValueError(jobs)
        self._work, self._jobs = work, jobs
        self._on_told, self._on_end = on_told, on_end
        self._members: dict[Connection, _Member] = {}

    def run(self) -> None:
        """Until all is done. Whatever is raised here, KeyboardInterrupt too, every process has ended before."""
        waiting = deque(self._work)
        try:
            while waiting or self._members:
                while waiting and len(self._members) < self._jobs:
                    self._begin(waiting.popleft())
                for connection in wait([*self._members]):
                    self._hear(connection)  # type: ignore[arg-type]  # what was given is what comes back
        finally:
            with uninterrupted():
                self._end_all()

    def _begin(self, name: str) -> None:
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_be_member, args=(theirs, self._work[name]), name=name)
        process.start()
        theirs.close()  # or its end would never be heard, neither by us nor by members that begin later
        self._members[ours] = _Member(name, process)

    def _hear(self, connection: Connection) -> None:
        member = self._members[connection]
        try:
            is_result, content = connection.recv()
        except (EOFError, OSError):
            self._forget(connection)
            self._on_end(member.name, Died(_how_ended(member.process), time.monotonic() - member.began))
            return
        if not is_result:
            self._on_told(member.name, content)
            return
        self._forget(connection)
        self._on_end(member.name, content)

    def _forget(self, connection: Connection) -> None:
        """Wait for the process behind it, which has nothing more to say."""
        member = self._members.pop(connection)
        connection.close()
        member.process.join()

    def _end_all(self) -> None:
        deadline = time.monotonic() + _END_SECONDS
        while alive := [member.process for member in self._members.values() if member.process.is_alive()]:
            for process in alive:
                # Again and again: one that is just stopping a machine holds signals back, and the first is lost.
                (process.terminate if time.monotonic() < deadline else process.kill)()
            wait([process.sentinel for process in alive], timeout=_TELL_SECONDS)
        for connection in self._members:
            connection.close()
        self._members.clear()


def _be_member(connection: Connection, work: Callable[[Tell], object]) -> None:
    # Interrupts reach the first process, which then ends its members, each once: a second one on the way would cut
    # the clearing away short.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    kernel.die_with_parent(signal.SIGTERM)
    result = work(lambda what: connection.send((False, what)))
    connection.send((True, result))


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def _how_ended(process: BaseProcess) -> str:
    code = process.exitcode or 0
    return signal.Signals(-code).name if code < 0 else str(code)
