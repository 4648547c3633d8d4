"""A start in progress: what ends it, and how soon."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.components.model import Component, SocketProbe
from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent, Layout, MachineConfig
from cluster.plan import Task
from cluster.spec import ClusterSpec
from cluster.steps.model import Step, StepContext
from cluster.supervisor import boot as module
from cluster.supervisor import service
from cluster.supervisor.boot import Boot
from cluster.supervisor.events import EventLog, read_events
from cluster.supervisor.processes import ProcessTable
from cluster.timings import Planned, read_plan
from tests.unit.cluster.test_supervisor import until

FRAIL = """
import os, socket, sys, threading
address, order = sys.argv[1:]
if os.path.exists(order):
    sys.exit("too many open files")
s = socket.socket(socket.AF_UNIX); s.bind(address); s.listen()
while not os.path.exists(order):
    threading.Event().wait(0.01)
os.unlink(address)
sys.exit("too many open files")
"""
"""Is ready, until a file is there; from then on it ends as soon as it is started."""


@pytest.fixture
def processes() -> Iterator[ProcessTable]:
    table = ProcessTable()
    over = threading.Event()

    def reap() -> None:
        while not over.wait(0.01):
            table.reap()

    thread = threading.Thread(target=reap)
    thread.start()
    yield table
    over.set()
    thread.join()


class Start:
    """One start of made-up tasks."""

    def __init__(self, home: Path, processes: ProcessTable, tasks: tuple[Task, ...]) -> None:
        self.layout = Layout(home)
        self.layout.run.mkdir(parents=True)
        self.layout.logs.mkdir()
        config = MachineConfig(name="lab-x", home=home, binaries=home, spec=ClusterSpec())
        self.boot = Boot(config, processes, EventLog(self.layout.events, 0.0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "plan", lambda _config: tasks)
            self.boot.begin()

    @property
    def events(self) -> list[BootEvent]:
        return read_events(self.layout.events)[0]

    def told(self, task: str, state: str) -> BootEvent | None:
        return next((event for event in self.events if (event.task, event.state) == (task, state)), None)


@pytest.fixture
def begin(tmp_path: Path, processes: ProcessTable) -> Iterator[Callable[..., Start]]:
    starts: list[Start] = []

    def begin(*tasks: Task) -> Start:
        starts.append(Start(tmp_path / "home", processes, tasks))
        return starts[-1]

    yield begin
    for each in (each for start in starts for each in start.boot.services.values()):
        each.stop(5.0)


@pytest.fixture
def insisting() -> Iterator[Step]:
    """A step that goes on until the test is over."""
    over = threading.Event()

    def work(_context: StepContext) -> None:
        over.wait()

    yield Step(name="insisting", work=work)
    over.set()


def frail(tmp_path: Path) -> Component:
    address = str(tmp_path / "s.sock")
    argv = (sys.executable, "-c", FRAIL, address, str(tmp_path / "order"))
    return Component(name="frail", argv=argv, ready=SocketProbe(address))


def test_ready_is_told_once_all_is_done(begin: Callable[..., Start]) -> None:
    first = Step(name="first", work=lambda _context: 3)
    start = begin(first, Step(name="second", work=lambda _context: None, needs=("first",)))
    until(lambda: start.told("READY", "ready") is not None)
    assert [(event.task, event.state, event.objects) for event in start.events] == [
        ("first", "started", None),
        ("first", "ready", 3),
        ("second", "started", None),
        ("second", "ready", None),
        ("READY", "ready", None),
    ]
    assert read_plan(start.layout.plan) == [
        Planned(name="first", wave=1),
        Planned(name="second", needs=("first",), wave=2),
    ]


def test_one_failure_ends_the_start_whatever_another_step_insists_on(
    begin: Callable[..., Start], insisting: Step
) -> None:
    def refuse(_context: StepContext) -> None:
        raise EnvironmentProblem("no such image")

    later = Step(name="later", work=lambda _context: None, needs=("refused",))
    start = begin(insisting, Step(name="refused", work=refuse), later)
    until(lambda: start.told("FAILED", "failed") is not None)
    refused = start.told("refused", "failed")
    assert refused is not None
    assert refused.detail == "no such image"
    assert start.told("later", "started") is None
    assert not start.boot.ready.is_set()


def test_a_program_that_is_given_up_ends_a_start_in_progress(
    begin: Callable[..., Start], insisting: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(service, "_LONGEST_DELAY", 0.01)
    start = begin(insisting, frail(tmp_path))
    until(lambda: start.told("frail", "ready") is not None)
    (tmp_path / "order").touch()
    until(lambda: start.told("FAILED", "failed") is not None)
    note, lost = start.told("frail", "note"), start.told("frail", "failed")
    assert note is not None
    assert lost is not None
    assert note.detail == "exit code 1; restarting"
    assert lost.detail.splitlines()[0] == "exit code 1; given up after 6 crashes"
    assert lost.detail.splitlines()[-1] == "too many open files"


def test_a_program_that_is_given_up_later_ends_nothing(
    begin: Callable[..., Start], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_FIRST_DELAY", 0.01)
    monkeypatch.setattr(service, "_LONGEST_DELAY", 0.01)
    start = begin(frail(tmp_path))
    until(lambda: start.told("READY", "ready") is not None)
    (tmp_path / "order").touch()
    until(lambda: start.events[-1].detail == "exit code 1; given up after 6 crashes")
    assert start.boot.services["frail"].status.state == "failed"
    assert start.told("frail", "failed") is None


def test_ready_does_not_wait_for_what_is_not_awaited(begin: Callable[..., Start], tmp_path: Path) -> None:
    """And what does not come up then is started again, as after a crash: nothing hangs on it."""
    (tmp_path / "order").touch()
    now = Step(name="now", work=lambda _context: None)
    start = begin(now, replace(frail(tmp_path), needs=("now",), awaited=False))
    until(lambda: start.told("READY", "ready") is not None)
    until(lambda: start.boot.services["frail"].status.state == "restarting")
    assert start.told("frail", "failed") is None
    (tmp_path / "order").unlink()
    until(lambda: start.boot.services["frail"].status.state == "running")


def test_what_is_not_awaited_but_fails_before_ready_ends_the_start(
    begin: Callable[..., Start], insisting: Step, tmp_path: Path
) -> None:
    (tmp_path / "order").touch()
    start = begin(insisting, replace(frail(tmp_path), awaited=False))
    until(lambda: start.told("FAILED", "failed") is not None)
    assert start.told("frail", "failed") is not None
