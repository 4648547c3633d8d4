"""Bringing up a plan: each task as soon as what it needs is done.

Owns the concurrency of a start and the record of what is done; which tasks there are is `cluster.plan`'s.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cached_property, partial

from cluster.api import Api
from cluster.components.model import Component
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from cluster.machine import Layout, MachineConfig
from cluster.plan import Task, plan, waves
from cluster.steps.model import Step
from cluster.supervisor.events import FAILED, READY, EventLog
from cluster.supervisor.processes import ProcessTable
from cluster.supervisor.service import BASE_ENV, Service
from cluster.timings import write_plan

_REQUEST_SECONDS = 60.0
"""For one request: with eight machines starting on two cores, a CRD of a megabyte takes more than ten."""


_LOOK_SECONDS = 0.1
_AFTERMATH_SECONDS = 0.5
"""From the first failure to the end of the start: what fails of the same cause is told, too."""


class Boot:
    """A start in progress, and afterwards the services it left running."""

    def __init__(self, config: MachineConfig, processes: ProcessTable, events: EventLog) -> None:
        self.config = config
        self._layout = Layout(config.home)
        self._processes = processes
        self._events = events
        self._done: dict[str, threading.Event] = {}
        self._failed = threading.Event()
        self._steps: dict[str, Step] = {}
        self.services: dict[str, Service] = {}
        self.ready = threading.Event()

    @cached_property
    def api(self) -> Api:
        """The supervisor's own identity; made when first needed, since the pki is written by then."""
        return Api.from_kubeconfig(self._layout.admin_kubeconfig, timeout=_REQUEST_SECONDS)

    def begin(self) -> None:
        """Start every task's thread. READY or FAILED ends the start; what READY does not wait for goes on after it."""
        tasks = plan(self.config)
        # A need that can't be met fails here, not as a start that never ends.
        write_plan(self._layout.plan, waves(tasks))
        self._done = {task.name: threading.Event() for task in tasks}
        for task in tasks:
            if isinstance(task, Component):
                self.services[task.name] = Service(
                    task,
                    self._processes,
                    self._layout.log(task.name),
                    self._repeat,
                    partial(self._events.write, task.name, "note"),
                    partial(self._lose, task.name),
                )
            else:
                self._steps[task.name] = task
        threads = {task.name: threading.Thread(target=self._perform, args=(task,), daemon=True) for task in tasks}
        for thread in threads.values():
            thread.start()
        awaited = [threads[task.name] for task in tasks if task.awaited]
        threading.Thread(target=self._conclude, args=(awaited,), daemon=True).start()

    def run(self, argv: tuple[str, ...], seconds: float) -> None:
        """A short program of ours, its output in `logs/steps.log`."""
        log = self._layout.log("steps")
        child = self._processes.spawn(argv, BASE_ENV, log)
        if not child.wait(seconds):
            raise EnvironmentProblem(_("{program} did not end").format(program=argv[0]))
        if child.status != 0:
            raise EnvironmentProblem(
                f"{argv[0]}: {child.describe_end()}", advice="\n".join(log.read_text().splitlines()[-5:])
            )

    def _perform(self, task: Task) -> None:
        for need in task.needs:
            self._done[need].wait()
        if self._failed.is_set():
            self._done[task.name].set()
            return
        self._events.write(task.name, "started")
        work: Callable[[], int | None] = (
            self.services[task.name].start if isinstance(task, Component) else lambda: task.work(self)
        )
        try:
            objects = work()
        except Problem as problem:
            if self.ready.is_set() and (service := self.services.get(task.name)):
                service.begin_anew(problem.message)
                return
            self._failed.set()
            self._events.write(task.name, "failed", "\n".join(filter(None, (problem.message, problem.advice))))
        except Exception as error:  # noqa: BLE001  # a bug of ours in one task must end the start, said as ours
            self._failed.set()
            self._events.write(task.name, "failed", _("our bug: {error}").format(error=repr(error)))
        else:
            self._events.write(task.name, "ready", objects=objects)
        finally:
            self._done[task.name].set()

    def _lose(self, name: str, how: str) -> None:
        """A program that was ready is not started any more: of a start in progress nothing can come."""
        if not self.ready.is_set():
            self._failed.set()
            self._events.write(name, "failed", "\n".join(filter(None, (how, self.services[name].last_lines()))))

    def _conclude(self, threads: list[threading.Thread]) -> None:
        """Wait for what READY needs, but not for those that go on insisting once another has failed."""
        for thread in threads:
            while thread.is_alive() and not self._failed.is_set():
                thread.join(_LOOK_SECONDS)
        if self._failed.is_set():
            deadline = time.monotonic() + _AFTERMATH_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
        if self._failed.is_set():
            self._events.write(FAILED, "failed")
        else:
            self.ready.set()
            self._events.write(READY, "ready")

    def _repeat(self, step: str) -> None:
        self._steps[step].work(self)
