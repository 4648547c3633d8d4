"""Starts that are under way on this host, whoever's: the memory they have been promised and not taken yet.

Twenty learners start their labs in the same minute, and each of them would see the same memory free. So each start
holds a claim: a socket whose name, in the abstract namespace, is seen by every user and is gone with the process that
holds it, however that ends. A claim asks, it does not guard: whoever wants to may name one that means nothing.
"""

from __future__ import annotations

import os
import re
import socket
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX = "batchlab-start"
_SOCKETS = Path("/proc/net/unix")


@contextmanager
def claim(memory: int) -> Iterator[int]:
    """Claim so many bytes for a machine that this process is about to start; gives how many bytes those who claimed
    before have yet to take."""
    now = time.monotonic_ns()
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(f"\0{_PREFIX}-{now}-{os.getpid()}-{memory}")
        earlier = ((int(pid), int(size)) for at, pid, size in _claims() if int(at) < now)
        yield sum(max(0, size - _taken(pid)) for pid, size in earlier)


def _claims() -> list[tuple[str, str, str]]:
    """Nanoseconds since the host started, process id, bytes."""
    try:
        return re.findall(rf"@{_PREFIX}-(\d+)-(\d+)-(\d+)$", _SOCKETS.read_text(errors="replace"), re.MULTILINE)
    except OSError:
        return []


def _taken(pid: int) -> int:
    """Bytes that the machine has which process `pid` starts: its children's."""
    import psutil  # takes longer than all the rest, and mostly nobody else is starting

    try:
        family = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return 0
    taken = 0
    for process in family:
        try:
            taken += process.memory_info().rss
        except psutil.Error:
            continue
    return taken
