"""One supervised component: launched, probed, restarted when it crashes.

Owns a component's life; knows nothing of the other components or of the order between them.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cluster.components.model import Component
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.machine import ComponentState, ComponentStatus
from cluster.supervisor.probes import attempt
from cluster.supervisor.processes import Child, ProcessTable

_PROBE_INTERVAL = 0.03
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 5.0
_CRASHES, _CRASH_WINDOW = 6, 60.0
"""More than this many crashes in this many seconds: given up, and said."""
_LOG_LINES = 15
BASE_ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}


class Service:
    """A component with a process, or on its way to one."""

    def __init__(
        self,
        component: Component,
        processes: ProcessTable,
        log: Path,
        repeat: Callable[[str], None],
        say: Callable[[str], None],
        give_up: Callable[[str], None] = lambda _how: None,
    ) -> None:
        """`repeat` carries out a step of `Component.before`, `say` tells what happened, `give_up` that it is not
        started any more, and why."""
        self.component = component
        self._processes = processes
        self._log = log
        self._repeat = repeat
        self._say = say
        self._give_up = give_up
        self._child: Child | None = None
        self._stopping = False
        self._crashes: deque[float] = deque(maxlen=_CRASHES)
        self._status = ComponentStatus(name=component.name, state="waiting", pid=0, restarts=0, since=time.time())

    @property
    def status(self) -> ComponentStatus:
        """As of now."""
        return self._status

    def start(self) -> None:
        """Launch and wait until it is ready; then watch over it in the background.

        EnvironmentProblem, with the log's last lines, when it ends early or misses its deadline.
        """
        self._launch("starting")
        if problem := self._await_ready():
            raise EnvironmentProblem(problem, advice=self.last_lines())
        self._set("running")
        threading.Thread(target=self._watch, name=self.component.name, daemon=True).start()

    def begin_anew(self, why: str) -> None:
        """After a `start` that failed and on which nothing hangs any more: as after a crash."""
        if self._child is None:
            self._set("failed", why)
            self._say(why)
            return
        self._child.kill(signal.SIGKILL)
        threading.Thread(target=self._watch, name=self.component.name, daemon=True).start()

    def stop(self, seconds: float) -> None:
        """TERM, and up to `seconds` for it to end by itself."""
        self._stopping = True
        if self._child is not None:
            self._child.kill(signal.SIGTERM)
            self._child.wait(seconds)

    def last_lines(self) -> str:
        """The end of the component's log."""
        try:
            text = self._log.read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-_LOG_LINES:])

    def _launch(self, state: ComponentState) -> None:
        env = {**BASE_ENV, **self.component.env}
        try:
            self._child = self._processes.spawn(
                _isolated(self.component), env, self._log, inotify=self.component.watches_files
            )
        except OSError as error:
            raise EnvironmentProblem(f"{self.component.argv[0]}: {error.strerror}") from error
        self._status = replace(self._status, state=state, pid=self._child.pid, since=time.time())

    def _await_ready(self) -> str:
        child = self._child
        assert child is not None
        deadline = time.monotonic() + self.component.deadline
        while True:
            if why := attempt(self.component.ready):
                if child.wait(_PROBE_INTERVAL):
                    return _("{name} ended: {how}").format(name=self.component.name, how=child.describe_end())
                if time.monotonic() > deadline:
                    return _("{name} is not ready after {seconds} s: {why}").format(
                        name=self.component.name, seconds=int(self.component.deadline), why=why
                    )
            elif child.alive:
                return ""

    def _watch(self) -> None:
        delay = _FIRST_DELAY
        while True:
            child = self._child
            assert child is not None
            child.wait()
            if self._stopping:
                return
            how = child.describe_end()
            self._crashes.append(time.monotonic())
            if len(self._crashes) == _CRASHES and self._crashes[-1] - self._crashes[0] < _CRASH_WINDOW:
                self._set("failed", _("{how}; given up after {count} crashes").format(how=how, count=_CRASHES))
                self._say(self._status.note)
                self._give_up(self._status.note)
                return
            self._set("restarting", how)
            self._say(_("{how}; restarting").format(how=how))
            time.sleep(delay)
            delay = min(delay * 2, _LONGEST_DELAY)
            if self._restart(how):
                delay = _FIRST_DELAY

    def _restart(self, how: str) -> bool:
        try:
            for step in self.component.before:
                self._repeat(step)
            self._launch("restarting")
        except EnvironmentProblem as problem:
            self._set("restarting", problem.message)
            return False
        self._status = replace(self._status, restarts=self._status.restarts + 1)
        if problem_text := self._await_ready():
            child = self._child
            assert child is not None
            child.kill(signal.SIGKILL)
            self._set("restarting", problem_text)
            return False
        self._set("running", how)
        self._say(_("running again"))
        return True

    def _set(self, state: ComponentState, note: str = "") -> None:
        self._status = replace(self._status, state=state, note=note or self._status.note, since=time.time())


def _isolated(component: Component) -> tuple[str, ...]:
    """The command line, in a mount namespace of its own where the component has private mounts."""
    if not component.mounts:
        return component.argv
    script = []
    arguments: list[str] = []
    for source, target in component.mounts:
        target.mkdir(parents=True, exist_ok=True)
        script.append(f'mount --bind "${len(arguments) + 1}" "${len(arguments) + 2}"')
        arguments += [str(source), str(target)]
    script += [f"shift {len(arguments)}", 'exec "$@"']
    unshare = ("unshare", "--mount", "--propagation", "private", "--")
    return (*unshare, "sh", "-ec", "\n".join(script), "sh", *arguments, *component.argv)
