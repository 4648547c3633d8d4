"""PID 1 of a cell: runs scripts that nobody trusts, one after the other, and leaves nothing of them alive.

Owns what a script may take while it runs (time, output, what the kernel's limits hold) and its end: everything that
it started dies with it. Knows nothing of how the cell was furnished. Runs in the cell's own root, so it imports
nothing that is not loaded already.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.sandbox import bounds, kernel
from cluster.scripts import Cause, Ending, Script

NOBODY = 65534
"""The user and group of scripts: the one that owns nothing, here and on the host."""
MOST_OUTPUT = 1 << 20
"""Bytes that a script may say; one that says more is ended."""
KEPT_OUTPUT = 16 << 10
"""How much of the end of it is kept."""
_DRAIN_SECONDS = 2.0
_SHELL = "/bin/bash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What an inmate needs to know of its cell. `group`: open `cgroup.procs` files that bound it, none where no cgroup
    can be had. `maps_user`: a user namespace has to make it nobody, since it has no other user to become."""

    scripts_folder: Path
    work: Path
    env: Mapping[str, str]
    group: tuple[int, ...]
    maps_user: bool


def run_all(cell: Cell, scripts: Sequence[Script]) -> Ending:
    """Run each to its end, until one is not good; the ending of the last that ran."""
    ending = Ending(script="", exit=0)
    for script in scripts:
        ending = _run(cell, script)
        if not ending.good:
            break
    return ending


def _run(cell: Cell, script: Script) -> Ending:
    reader, writer = os.pipe2(os.O_CLOEXEC)
    # Flushed, so that no buffer is written twice.
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _become(cell, script, writer)
    os.close(writer)
    handle = os.pidfd_open(child)
    said = bytearray()
    try:
        cause = _listen(reader, handle, said, time.monotonic() + script.seconds)
        _end_everything()
        if not cause:
            _listen(reader, None, said, time.monotonic() + _DRAIN_SECONDS)
        _pid, status = os.waitpid(child, 0)
    finally:
        os.close(handle)
        os.close(reader)
    _reap()
    code = os.waitstatus_to_exitcode(status)
    text = bytes(said[-KEPT_OUTPUT:]).decode(errors="replace")
    return Ending(
        script=script.name, exit=None if cause else (code if code >= 0 else 128 - code), cause=cause, output=text
    )


def _listen(reader: int, handle: int | None, said: bytearray, deadline: float) -> Cause:
    """Take what is said until the process of `handle` ends (None: until nobody is left who could speak)."""
    told = 0
    watch = [reader] if handle is None else [reader, handle]
    while watch:
        left = deadline - time.monotonic()
        ready = select.select(watch, [], [], max(left, 0.0))[0]
        if not ready:
            return "time"
        if reader in ready:
            chunk = os.read(reader, 65536)
            if not chunk:
                watch.remove(reader)
            told += len(chunk)
            said += chunk
            del said[: -2 * KEPT_OUTPUT]
            if told > MOST_OUTPUT:
                return "output"
        elif handle in ready or handle is None:
            return ""
    return ""


def _end_everything() -> None:
    """As PID 1 this reaches every process of the cell but this one, whatever session it made itself."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reap() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _become(cell: Cell, script: Script, writer: int) -> None:
    """Never returns: this fork becomes the script."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        for target, source in enumerate((nothing, writer, writer)):
            os.dup2(source, target)
        for descriptor in cell.group:
            os.write(descriptor, b"0")
        bounds.offer_to_the_oom_killer(bounds.SHELL_OOM_SCORE)
        if cell.maps_user:
            _map_to_nobody()
        _limit(alone=cell.maps_user)
        if not cell.maps_user:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        kernel.gain_nothing()
        os.chdir(cell.work)
        os.closerange(3, 4096)
        for number in (signal.SIGPIPE, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        path = str(cell.scripts_folder / script.name)
        own = script.text.startswith("#!")
        os.execve(path if own else _SHELL, [path] if own else [_SHELL, path], dict(cell.env))  # noqa: S606
    except BaseException as error:  # noqa: BLE001  # this fork must never return into its parent's code
        os.write(2, f"{script.name}: {error}\n".encode())
    os._exit(126)


def _map_to_nobody() -> None:
    """In a namespace of its own the ordinary user becomes nobody: no power over what the cell is made of."""
    kernel.unshare(kernel.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{NOBODY} 0 1"), ("gid_map", f"{NOBODY} 0 1")):
        Path("/proc/self", name).write_text(text)


def _limit(*, alone: bool) -> None:
    """The kernel's own limits of each process; `alone`: no cgroup bounds all of them together."""
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: bounds.SCRIPT_FILE, resource.RLIMIT_NOFILE: 1024}
    if alone:
        limits[resource.RLIMIT_DATA] = bounds.SCRIPT_MEMORY
        if bounds.counts_tasks():
            limits[resource.RLIMIT_NPROC] = bounds.SCRIPT_TASKS
    for what, most in limits.items():
        hard = resource.getrlimit(what)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (bound, bound))
