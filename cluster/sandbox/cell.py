"""A cell inside the sandbox: a process that can compute and answer, and nothing else.

Owns what a process gives up when it enters one: the sight of every file but programs and the folders it is shown,
the network, other processes, every capability and, where it can be another one, its user; and the right to more than
a little memory, time and files. What it is asked, and by whom, is the caller's business.
"""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cluster.sandbox import kernel, rootfs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NOBODY = 65534
"""User and group in the cell, where the caller may become somebody else: the host's root may, an ordinary user not."""
MEMORY = 256 << 20
"""Bytes of address space beyond what the process has when it enters."""
PROCESSOR_SECONDS = 15
FILES = 64
LARGEST_FILE = 8 << 20
_TMP = "8m"
_REFUSED = (
    *("unshare", "setns", "mount", "socket", "clone3", "ptrace", "process_vm_readv", "process_vm_writev", "bpf"),
    *("add_key", "keyctl", "request_key", "io_uring_setup", "userfaultfd", "perf_event_open", "open_by_handle_at"),
    "kexec_load",
)
"""Calls that no computation needs, and by which the kernel itself would be attacked."""
_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def run_in_cell(task: Callable[[], None], *, base: Path, shown: Sequence[Path], talk: int) -> int:
    """Fork a process that enters a cell and runs `task` there; its process id, to be waited for.

    `base`: a folder to mount on, unseen by others. `shown`: folders to be read in there. `talk`: the descriptor that
    stays open, alone. Whoever kills that process ends everything in the cell. Where no cell can be made the process
    ends with code 1 and `task` is not run: nothing ever runs half confined. To be called where there are no threads.
    """
    warden = os.fork()
    if warden == 0:
        _become_warden(task, base, shown, talk)
    return warden


def _become_warden(task: Callable[[], None], base: Path, shown: Sequence[Path], talk: int) -> NoReturn:
    """The process between: the first of a pid namespace must be forked by one that has made it."""
    status = 1
    try:
        kernel.die_with_parent(signal.SIGKILL)
        kernel.unshare(_NAMESPACES)
        inmate = os.fork()
        if inmate == 0:
            _become_inmate(task, base, shown, talk)
        os.close(talk)
        status = os.waitstatus_to_exitcode(os.waitpid(inmate, 0)[1])
    finally:
        os._exit(status if 0 <= status <= 255 else 1)


def _become_inmate(task: Callable[[], None], base: Path, shown: Sequence[Path], talk: int) -> NoReturn:
    status = 1
    try:
        memory = _address_space() + MEMORY  # while there is a /proc to ask
        becomes_nobody = _may_become(NOBODY)
        rootfs.enter(rootfs.bare(base, shown, size=_TMP))
        os.chdir("/")
        _keep_only(talk)
        _limit(memory)
        kernel.empty_bounding_set()
        if becomes_nobody:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        kernel.give_up_capabilities()
        kernel.hide_from_others()
        kernel.die_with_parent(signal.SIGKILL)  # a change of user has cleared it
        kernel.refuse_calls(_REFUSED)
        task()
        status = 0
    finally:
        os._exit(status)


def _keep_only(talk: int) -> None:
    """Close every descriptor but that one; the standard streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, talk)
    os.closerange(talk + 1, min(most, 1 << 20))


def _limit(memory: int) -> None:
    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, PROCESSOR_SECONDS),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(what, (value, value))


def _address_space() -> int:
    """Bytes of address space this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _may_become(user: int) -> bool:
    """Whether this is root where there is such a user: an ordinary user's sandbox knows one user only."""
    spans = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return os.geteuid() == 0 and any(first <= user < first + count for first, _outside, count in spans)
