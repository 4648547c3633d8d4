"""Whether this host has room for one more machine: memory, disk, processes, inotify instances.

Owns what counts as free, the bounds of cgroups included. What a machine needs is `cluster.needs`'s, what other starts
have been promised `cluster.claims`'s; who is told, and what could be stopped, is the caller's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cluster.i18n import _

if TYPE_CHECKING:
    from pathlib import Path

    from cluster.host import Host
    from cluster.needs import Needs

Thing = Literal["memory", "disk", "tasks", "watchers"]
"""What room is made of; the fields of `Needs`."""

GIB = 1 << 30
_NO_LIMIT = 1 << 60
"""v1 says "no limit" by a number above this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """How much there still is of one thing. `by`: the cgroup, folder or setting that says so; "" for the host itself.
    `remedy`: what makes it more."""

    thing: Thing
    amount: int
    by: str = ""
    remedy: str = ""


def room(folder: Path, host: Host) -> tuple[Free, ...]:
    """How much there is of everything for a session in `folder`."""
    return (free_memory(host), _disk(folder, host), _tasks(host), _watchers(host))


def short(needs: Needs, found: tuple[Free, ...]) -> tuple[Free, ...]:
    """Of what is `found`, that which is too little for a machine with these `needs`."""
    return tuple(free for free in found if free.amount < getattr(needs, free.thing))


def name_of(thing: Thing) -> str:
    """As a person calls it."""
    return {
        "memory": _("memory"),
        "disk": _("disk"),
        "tasks": _("processes and threads"),
        "watchers": _("inotify instances"),
    }[thing]


def amount_of(thing: Thing, amount: int) -> str:
    """With its unit; what is overdrawn is nothing."""
    amount = max(amount, 0)
    return f"{amount / GIB:.1f} GiB" if thing in ("memory", "disk") else str(amount)


def free_memory(host: Host) -> Free:
    """Of the host, and of each cgroup that a session begun from here will be in."""
    words = (line.split() for line in host.read("/proc/meminfo").splitlines())
    free = next((int(line[1]) * 1024 for line in words if line and line[0] == "MemAvailable:"), 0)
    by = ""
    for folder in host.bounding_groups("memory"):
        names = ("memory.max", "memory.high", "memory.limit_in_bytes")
        limits = [int(text) for name in names if (text := host.read(f"{folder}/{name}").strip()).isdecimal()]
        if not limits or min(limits) > _NO_LIMIT:
            continue
        used = int(host.read(f"{folder}/memory.current") or host.read(f"{folder}/memory.usage_in_bytes") or 0)
        stat = dict(line.split() for line in host.read(f"{folder}/memory.stat").splitlines())
        # What only caches files is given back when it is wanted; MemAvailable counts it likewise.
        cached = int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
        left = min(limits) - used + cached
        if left < free:
            free, by = left, str(folder)
    return Free(thing="memory", amount=free, by=by, remedy=_("stop other programs"))


def _disk(folder: Path, host: Host) -> Free:
    remedy = _("make room, or point XDG_STATE_HOME at a larger disk")
    return Free(thing="disk", amount=host.free_disk(folder), by=str(folder), remedy=remedy)


def _tasks(host: Host) -> Free:
    """Of the host, of each cgroup, and of an ordinary user's own limit."""
    remedy = _("stop other programs, or raise that limit")
    fields = host.read("/proc/loadavg").split()
    running = int(fields[3].partition("/")[2]) if len(fields) > 3 else 0
    found = [
        (int(most) - running, name)
        for name in ("kernel.pid_max", "kernel.threads-max")
        if (most := host.read(f"/proc/sys/{name.replace('.', '/')}").strip())
    ]
    found += [
        (int(most) - int(host.read(f"{folder}/pids.current") or 0), str(folder))
        for folder in host.bounding_groups("pids")
        if (most := host.read(f"{folder}/pids.max").strip()).isdecimal()
    ]
    if (limit := host.task_limit()) is not None:
        found.append((limit - host.own_tasks(), "ulimit -u"))
    amount, by = min(found, default=(_NO_LIMIT, ""))
    return Free(thing="tasks", amount=amount, by=by, remedy=remedy)


def _watchers(host: Host) -> Free:
    """Of the user; root's are counted like anybody's."""
    name = "fs.inotify.max_user_instances"
    text = host.read(f"/proc/sys/{name.replace('.', '/')}").strip()
    amount = int(text) - host.own_watchers() if text else _NO_LIMIT
    return Free(thing="watchers", amount=amount, by=name, remedy=f"sysctl -w {name}=1024")
