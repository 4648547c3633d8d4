"""What a running machine weighs: the memory and the processor time of its processes, as /proc has them.

Owns which process belongs to which component. Needs to be the user who runs the machine, or root.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import Layout
from cluster.sandbox import cgroups

if TYPE_CHECKING:
    from cluster.machine import MachineStatus

_MB = 1e6
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes (10⁶ bytes). `pss` shares what several processes map among them, `rss` counts it for each;
    `own` is what nobody else can share: the part of `pss` that no file is behind."""

    pss: float = 0.0
    rss: float = 0.0
    own: float = 0.0

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.pss + other.pss, self.rss + other.rss, self.own + other.own)


def memory(home: Path) -> dict[str, Memory]:
    """Of every component of the machine in `home` (with the processes it started), the supervisor and the
    keeper. EnvironmentProblem where /proc doesn't tell."""
    status = _running(home)
    found: dict[str, Memory] = {}
    for pid, name in _owners(status).items():
        try:
            sizes = _rollup(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended between the two looks
        except PermissionError as error:
            raise EnvironmentProblem(f"/proc/{pid}/smaps_rollup: {error.strerror}") from error
        found[name] = found.get(name, Memory()) + sizes
    return found


def tmpfs(home: Path) -> float | None:
    """Megabytes of the sandbox's tmpfs, which no process maps; None where it has no memory cgroup."""
    for folder in cgroups.recorded(Layout(home).cgroups):
        try:
            lines = (folder / "memory.stat").read_text().splitlines()
        except OSError:
            continue
        stat = dict(line.split() for line in lines)
        # v1 counts only the folder's own processes under the plain name; kubelet's pods are below it.
        return int(stat.get("total_shmem", stat.get("shmem", "0"))) / _MB
    return None


def processor(home: Path) -> dict[str, float]:
    """Seconds of processor time that each of the same has used, ended and collected children's included."""
    found: dict[str, float] = {}
    for pid, name in _owners(_running(home)).items():
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.NoSuchProcess:
            continue
        used = times.user + times.system + times.children_user + times.children_system
        found[name] = found.get(name, 0.0) + used
    return found


def _running(home: Path) -> MachineStatus:
    status = local.status(home)
    if status.state != "running":
        raise EnvironmentProblem(f"the machine in {home} is {status.state}")
    return status


def _family(keeper: int) -> list[psutil.Process]:
    process = psutil.Process(keeper)
    return [process, *process.children(recursive=True)]


def _owners(status: MachineStatus) -> dict[int, str]:
    """Host process id → what it belongs to."""
    components = {component.pid: component.name for component in status.components}
    owners = {status.pid: "keeper", status.init_pid: "supervisor"}
    # Parents come before their children in psutil's answer.
    for process in _family(status.pid):
        if process.pid in owners:
            continue
        try:
            name, parent = process.name(), owners.get(process.ppid(), "")
            own = components.get(_pid_inside(process.pid))
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            continue
        owners[process.pid] = own or (name if parent in ("", "keeper", "supervisor") else parent)
    return owners


def _pid_inside(pid: int) -> int:
    """A process's id as the sandbox's PID 1 sees it; 0 on the host."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            numbers = line.split()[1:]
            return int(numbers[1]) if len(numbers) > 1 else 0
    return 0


def _rollup(pid: int) -> Memory:
    sizes: dict[str, int] = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        key, value = line.split(":", 1)
        sizes[key] = int(value.split()[0])  # kB, as ever
    pss, rss, own = (sizes.get(key, 0) * _KIB / _MB for key in ("Pss", "Rss", "Pss_Anon"))
    return Memory(pss, rss, own)
