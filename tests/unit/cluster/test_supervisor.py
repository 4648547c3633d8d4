"""Processes as the supervisor sees them: readiness, early exits, crashes, private mounts' command lines."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster.components.model import Component, HttpProbe, SocketProbe
from cluster.errors import EnvironmentProblem
from cluster.supervisor.events import EventLog, read_events
from cluster.supervisor.probes import attempt
from cluster.supervisor.processes import ProcessTable
from cluster.supervisor.service import Service, _isolated

LISTENER = """
import socket, sys, signal
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
signal.pause()
"""


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    tick = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "condition not met in time"
        tick.wait(0.01)


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


def service(
    tmp_path: Path, processes: ProcessTable, script: str, **more: object
) -> tuple[Service, list[str], list[str]]:
    said: list[str] = []
    repeated: list[str] = []
    address = str(tmp_path / "s.sock")
    component = Component(
        name="prog",
        argv=(sys.executable, "-c", textwrap.dedent(script), address),
        ready=SocketProbe(address),
        before=("clear",),
        **more,  # type: ignore[arg-type]
    )

    def repeat(step: str) -> None:
        repeated.append(step)
        Path(address).unlink(missing_ok=True)

    return Service(component, processes, tmp_path / "prog.log", repeat, said.append), said, repeated


def test_a_crash_is_restarted_said_and_counted(tmp_path: Path, processes: ProcessTable) -> None:
    running, said, repeated = service(tmp_path, processes, LISTENER)
    running.start()
    first = running.status.pid
    assert running.status.state == "running"
    os.kill(first, signal.SIGKILL)
    until(lambda: running.status.restarts == 1 and running.status.state == "running")
    assert running.status.pid != first
    assert running.status.note == "killed by SIGKILL"
    assert said == ["killed by SIGKILL; restarting", "running again"]
    assert repeated == ["clear"]
    running.stop(5)


def test_an_early_exit_is_told_with_the_logs_last_lines(tmp_path: Path, processes: ProcessTable) -> None:
    broken, _said, _repeated = service(tmp_path, processes, "print('no such flag', flush=True); raise SystemExit(3)")
    with pytest.raises(EnvironmentProblem) as raised:
        broken.start()
    assert raised.value.message == "prog ended: exit code 3"
    assert raised.value.advice == "no such flag"


def test_a_program_that_never_gets_ready_is_given_up_at_its_deadline(tmp_path: Path, processes: ProcessTable) -> None:
    idle, _said, _repeated = service(tmp_path, processes, "import signal; signal.pause()", deadline=0.3)
    with pytest.raises(EnvironmentProblem, match=r"prog is not ready after 0 s: .*No such file"):
        idle.start()
    idle.stop(5)


def test_too_many_crashes_are_given_up(
    tmp_path: Path, processes: ProcessTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.supervisor.service._FIRST_DELAY", 0.0)
    crashing = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); s.accept()"
    broken, said, _repeated = service(tmp_path, processes, crashing)
    broken.start()  # each readiness probe is the connection that ends it
    until(lambda: broken.status.state == "failed", 30)
    assert said[-1] == "exit code 0; given up after 6 crashes"


def test_a_program_that_is_not_there_is_named(tmp_path: Path, processes: ProcessTable) -> None:
    component = Component(name="x", argv=("/no/such/program",), ready=SocketProbe("/x"))
    missing = Service(component, processes, tmp_path / "x.log", lambda _step: None, lambda _text: None)
    with pytest.raises(EnvironmentProblem, match="/no/such/program: No such file"):
        missing.start()


def test_children_start_with_no_signal_blocked(tmp_path: Path, processes: ProcessTable) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        child = processes.spawn(
            ("sh", "-c", "grep SigBlk /proc/self/status"), {"PATH": os.environ["PATH"]}, tmp_path / "l"
        )
        assert child.wait(10)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert (tmp_path / "l").read_text().split()[1].strip("0") == ""


@pytest.mark.parametrize("allowed", [True, False])
def test_a_program_that_watches_no_files_is_refused_inotify(
    tmp_path: Path, processes: ProcessTable, allowed: bool
) -> None:
    script = "import ctypes, sys; sys.exit(ctypes.CDLL(None).inotify_init1(0) < 0)"
    child = processes.spawn((sys.executable, "-c", script), os.environ, tmp_path / "log", inotify=allowed)
    assert child.wait(10)
    assert child.describe_end() == f"exit code {0 if allowed else 1}"
    own = ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC)
    assert own > 0, "only to the child"
    os.close(own)


def test_private_mounts_wrap_the_command_and_keep_its_arguments(tmp_path: Path) -> None:
    target = tmp_path / "target"
    component = Component(
        name="x", argv=("printf", "%s\n", "a b"), ready=SocketProbe("/x"), mounts=((tmp_path, target),)
    )
    argv = _isolated(component)
    assert argv[0] == "unshare"
    assert target.is_dir()
    script = argv.index("sh")
    shown = subprocess.run(
        [*argv[script:]], capture_output=True, text=True, check=False, env={"PATH": str(_fakes(tmp_path))}
    )
    assert shown.stdout == f"mount --bind {tmp_path} {target}\na b\n"


def _fakes(folder: Path) -> Path:
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    mount = bin_folder / "mount"
    mount.write_text('#!/bin/sh\necho mount "$@"\n')
    mount.chmod(0o755)
    for name in ("sh", "printf"):
        (bin_folder / name).symlink_to(f"/usr/bin/{name}")
    return bin_folder


def test_an_http_probe_tells_why_not() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "refused" in attempt(HttpProbe(f"http://127.0.0.1:{port}/readyz"))


def test_events_can_be_followed_while_a_line_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "boot.jsonl"
    log = EventLog(path, time.monotonic())
    log.write("etcd", "started")
    with path.open("a") as file:
        file.write('{"task": "half')
    events, offset = read_events(path)
    assert [(event.task, event.state) for event in events] == [("etcd", "started")]
    assert read_events(path, offset) == ([], offset)
