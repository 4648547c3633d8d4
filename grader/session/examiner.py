"""The examiner: runs `grader check` and its like inside the sandbox, quickly.

Run by the supervisor as `python -m grader.session.examiner --socket F --home SESSION`. A check needs the
cluster, which only processes inside the sandbox can reach, and libraries that take half a second to import;
the examiner has both at hand and forks for each command.

The protocol, on a unix socket: the examiner greets with `ready`; the asking side sends one line of JSON
(`argv`, `env`, `files`) together with its standard streams and the descriptors of `files`; the examiner
answers with one line, `{"exit": code}`. `interrupt`, or hanging up, ends the command.

For each connection a keeper is forked, and the keeper forks the worker that runs the command. So a client
that says nothing holds up nobody, and a worker that crashes takes nothing with it. No threads: a fork copies
only the thread that forks. Learners can connect, so nothing that is sent is trusted: `grader.cli` refuses all
but a few commands here, and no path of theirs is ever opened.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cluster.unix_address import short_path
from grader.session.examiner_client import INTERRUPT, MAX_REQUEST, READY, passed_on
from grader.session.here import become_examiner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[[list[str]], int]

PRELOADED = (
    "grader.check_session",
    "grader.checks.confined",
    "grader.checks.instead",
    "grader.checks.workloads",
    "grader.cli.bug",
    "grader.cli.documents",
    "grader.cli.root",
    *(
        f"grader.cli.{name}"
        for name in ("board", "check", "completion", "hint", "labs", "report", "show", "status", "timeline", "why")
    ),
    "grader.board.feed",
    "grader.board.text",
    "grader.diagnosis.document",
    "grader.diagnosis.names",
    "grader.lab.catalogue",
    "grader.lab.session_text",
    "grader.record.telling",
    "grader.report.why_text",
    "grader.session.changes",
    "grader.session.hints",
    "grader.session.lifecycle",
    "grader.timeline.document",
    "grader.timeline.session",
    "grader.timeline.svg",
    "rich.markdown",
)
"""Everything that a command here may import: for speed, and because our files may be replaced by another version's
while a lab runs, and two versions in one process don't fit."""
REQUEST_SECONDS = 10.0
GRACE_SECONDS = 2.0
"""From the interrupt to the kill of a worker."""
CRASHED = 4
MAX_FDS = 8


@dataclass(frozen=True, slots=True)
class _Request:
    argv: list[str]
    env: dict[str, str]
    files: dict[str, int]
    streams: list[int]


def serve(listener: socket.socket, home: Path, command: Command) -> None:
    """Answer until killed, running `command(argv)` in a fork of this process for each request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel; nobody asks for their code
    gc.collect()
    gc.freeze()  # so that a collection in a child doesn't copy every page of what was imported
    while True:
        connection, _peer = listener.accept()
        if os.fork() == 0:
            listener.close()
            _in_child(partial(_keep, connection, home, command))
        connection.close()


def listen(path: Path) -> socket.socket:
    """A listening socket at `path` (0600) that takes the place of an earlier one at once."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    before = os.umask(0o177)
    try:
        with short_path(temporary) as name:
            listener.bind(name)
    finally:
        os.umask(before)
    listener.listen(64)
    temporary.replace(path)  # only now: whoever finds the socket can connect
    return listener


# -- the keeper: one per connection -------------------------------------------------------------------


def _keep(connection: socket.socket, home: Path, command: Command) -> int:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.settimeout(REQUEST_SECONDS)
    with suppress(OSError):
        connection.sendall(READY)
        request = _receive(connection)
        if request is not None:
            code = _supervise(connection, request, home, command)
            connection.sendall(json.dumps({"exit": code}).encode() + b"\n")
    return 0


def _receive(connection: socket.socket) -> _Request | None:
    """The request with its descriptors; None where the other end only wanted the greeting, or talks nonsense."""
    data, descriptors, _flags, _address = socket.recv_fds(connection, MAX_REQUEST, MAX_FDS)
    while data and not data.endswith(b"\n") and len(data) < MAX_REQUEST:
        more = connection.recv(MAX_REQUEST)
        if not more:
            return None
        data += more
    try:
        content = json.loads(data)
        argv = [str(word) for word in content["argv"]]
        env = {str(name): str(value) for name, value in content["env"].items()}
        names = [str(name) for name in content["files"]]
        streams, files = descriptors[:3], dict(zip(names, descriptors[3:], strict=True))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if len(streams) != 3:
        return None
    return _Request(argv, {name: value for name, value in env.items() if passed_on(name)}, files, streams)


def _supervise(connection: socket.socket, request: _Request, home: Path, command: Command) -> int:
    """Run the worker until it ends or nobody wants its answer any more."""
    alive, held_by_worker = os.pipe()  # its end tells the worker's, without signals or polling
    worker = os.fork()
    if worker == 0:
        os.close(alive)
        connection.close()
        _in_child(partial(_work, request, home, command))
    with suppress(OSError):
        os.setpgid(worker, worker)  # it does so itself, but an interrupt may come before that
    os.close(held_by_worker)
    for descriptor in (*request.streams, *request.files.values()):
        os.close(descriptor)
    deadline: float | None = None
    while True:
        watched: list[int] = [alive] if deadline else [alive, connection.fileno()]
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        readable = select.select(watched, [], [], left)[0]
        if alive in readable:
            break
        if deadline is not None:
            _signal_group(worker, signal.SIGKILL)
            break
        said = connection.recv(64)
        if not said or INTERRUPT.strip() in said:
            _signal_group(worker, signal.SIGINT)
            deadline = time.monotonic() + GRACE_SECONDS
    status = os.waitpid(worker, 0)[1]
    _signal_group(worker, signal.SIGKILL)  # what the command started and left
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else CRASHED


def _signal_group(worker: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(worker, number)


# -- the worker: one per command ----------------------------------------------------------------------


def _work(request: _Request, home: Path, command: Command) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(request.streams):
        os.dup2(descriptor, number)
    _open_standard_streams()
    for name in filter(passed_on, list(os.environ)):
        del os.environ[name]
    os.environ.update(request.env)
    become_examiner(home, request.files)
    try:
        return command(request.argv)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()


def _open_standard_streams() -> None:
    """New text streams on the descriptors that were put in place of the server's own."""

    def text(number: int, mode: str) -> io.TextIOWrapper:
        raw = open(number, mode, closefd=False)  # noqa: SIM115  # a descriptor, for the process's life
        at_once = number == 2 or os.isatty(number)
        # Only the error handler differs from what an ordinary start of Python would choose: a name that can't
        # be encoded must not end a check.
        return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=at_once)

    sys.stdin, sys.stdout, sys.stderr = text(0, "rb"), text(1, "wb"), text(2, "wb")


# -- ---------------------------------------------------------------------------------------------------


def _in_child(main: Callable[[], int]) -> NoReturn:
    """Run `main` in a process just forked and end it without unwinding into the parent's code."""
    code = CRASHED
    try:
        os.setpgid(0, 0)
        code = main()
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001  # the last line of defence of a process that ends here
        with suppress(OSError, ValueError):
            traceback.print_exc()
    finally:
        os._exit(code)


def _preload() -> None:
    """Import what commands need, once, and the catalogs that reading would cost each of them."""
    from cluster import i18n

    for name in PRELOADED:
        importlib.import_module(name)
    before = i18n.language()
    for language in i18n.LANGUAGES:
        with suppress(OSError):
            i18n.set_language(language)
            i18n._("passed")
    i18n.set_language(before)


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the sidecar."""
    parser = argparse.ArgumentParser(prog="grader.session.examiner")
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    options = parser.parse_args(argv)
    # Listening first: whoever comes while the imports go on waits for them, and the lab's start does not.
    listener = listen(options.socket)
    _preload()
    from grader.cli import run

    serve(listener, options.home, run)


if __name__ == "__main__":
    main()
