"""Whether this host's cgroups will do for a session with a real node, which kubelet and runc divide further.

Owns the judgement and its remedy; makes nothing that stays. How they are used is `cluster.sandbox.cgroups`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _

if TYPE_CHECKING:
    from cluster.host import Host

CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
"""What kubelet and runc need of cgroups."""
_TOP = "/sys/fs/cgroup"


def look(host: Host) -> tuple[str, str]:
    """What there is, and what to do if it won't do ("" if it will)."""
    unified = host.read(f"{_TOP}/cgroup.controllers").split()
    if unified:
        version, places = "v2", dict.fromkeys(unified, _TOP)
    else:
        version, places = "v1", _v1_mounts(host.read("/proc/mounts"))
    if absent := [name for name in CONTROLLERS if name not in places]:
        detail = _("{version} without {controllers}").format(version=version, controllers=", ".join(absent))
        return detail, _("start the kernel with these controllers, or mount them")
    if closed := sorted({places[name] for name in CONTROLLERS if not host.can_make_cgroup(places[name])}):
        detail = _("{version}, but nothing can be made in {folders}").format(version=version, folders=", ".join(closed))
        return detail, _("in a container: run it privileged, with a writable /sys/fs/cgroup")
    if unified and (kept := _kept_back(host)):
        detail = _("v2, but {controllers} can't be handed down: this container's group holds processes itself").format(
            controllers=", ".join(kept)
        )
        return detail, f"mkdir {_TOP}/init && xargs -n1 < {_TOP}/cgroup.procs > {_TOP}/init/cgroup.procs"
    return f"{version}: {', '.join(CONTROLLERS)}", ""


def _kept_back(host: Host) -> list[str]:
    """Controllers that v2 won't let the groups below have: only the root of all may hold processes beside them."""
    if not host.read(f"{_TOP}/cgroup.type") or not host.read(f"{_TOP}/cgroup.procs").strip():
        return []
    handed_down = host.read(f"{_TOP}/cgroup.subtree_control").split()
    return [name for name in CONTROLLERS if name not in handed_down]


def _v1_mounts(mounts: str) -> dict[str, str]:
    """Controller → where it is mounted, from /proc/mounts."""
    found: dict[str, str] = {}
    for fields in (line.split() for line in mounts.splitlines()):
        if len(fields) > 3 and fields[2] == "cgroup":
            found |= dict.fromkeys(fields[3].split(","), fields[1])
    return found
