"""The cgroup of one run of a lab's scripts: made, looked at, removed.

Owns the folder `scripts/<process id>` in each hierarchy of a session of root's, inside the sandbox. How much it may
take is `cluster.sandbox.bounds`'s.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster.sandbox import cgroups
from cluster.sandbox.bounds import Bound

_REMOVE_SECONDS = 2.0
_MEMORY_FILES = ("memory.events", "memory.oom_control")
_TASK_FILE = "pids.events"


@dataclass(frozen=True, slots=True)
class CellGroup:
    """The group's folders, none where no cgroup bounds this session."""

    folders: tuple[Path, ...] = ()

    def entrances(self) -> tuple[int, ...]:
        """Open files; who writes 0 into each of them is bounded from then on."""
        return tuple(os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for folder in self.folders)

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of it for its memory."""
        return any(self._count(name, "oom_kill") for name in _MEMORY_FILES)

    @property
    def out_of_tasks(self) -> bool:
        """Whether it was refused a process or a thread."""
        return bool(self._count(_TASK_FILE, "max"))

    def _count(self, name: str, key: str) -> int:
        for folder in self.folders:
            with contextlib.suppress(FileNotFoundError):
                words = (folder / name).read_text().split()
                found = dict(zip(words[::2], words[1::2], strict=False))
                if key in found:
                    return int(found[key])
        return 0


@contextmanager
def cell_group(bound: Bound) -> Iterator[CellGroup]:
    """A group of its own for this process's cell; what an earlier one left is removed with it."""
    parents = [top / cgroups.SCRIPTS for top in (cgroups.ROOT, *_below(cgroups.ROOT))]
    made = []
    for parent in parents:
        if not parent.is_dir():
            continue
        _sweep(parent)
        folder = parent / str(os.getpid())
        if (parent / cgroups.V2_MAGIC_FILE).exists():
            cgroups.hand_down(parent)
        folder.mkdir(exist_ok=True)
        cgroups.fill_cpuset(folder)
        cgroups.limit(folder, bound)
        made.append(folder)
    try:
        yield CellGroup(tuple(made))
    finally:
        deadline = time.monotonic() + _REMOVE_SECONDS
        while any(folder.is_dir() for folder in made) and time.monotonic() < deadline:
            for folder in made:
                with contextlib.suppress(OSError):  # its last process is still on its way out
                    folder.rmdir()
            time.sleep(0.005)


def _below(root: Path) -> list[Path]:
    try:
        return sorted(path for path in root.iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _sweep(parent: Path) -> None:
    for path in _below(parent):
        with contextlib.suppress(OSError):  # another run of this moment
            path.rmdir()
