"""A session's own cgroup: made, entered, shown inside the sandbox, and removed when nothing is left in it.

Owns the difference between cgroup v1 (one folder in each hierarchy, below the caller's own) and v2 (one
folder below the root). Only machines with a real node have one: kubelet makes and leaves `kubepods` folders, and two
kubelets in one cgroup namespace fight over them.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.sandbox import kernel

V2_MAGIC_FILE = "cgroup.controllers"
_ROOT = Path("/sys/fs/cgroup")
_REMOVE_SECONDS = 3.0
_V2_CONTROLLERS = ("cpu", "cpuset", "io", "memory", "hugetlb", "pids")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted cgroup hierarchy. `options` are what mounting it again takes; empty for v2."""

    mount: Path
    options: str
    parent: Path
    """Folder below which sessions get theirs."""

    def folder(self, name: str) -> Path:
        """A session's folder in it."""
        return self.parent / name


def hierarchies() -> list[Hierarchy]:
    """Every cgroup hierarchy of this machine, from /proc/self/{mountinfo,cgroup}."""
    paths: dict[str, str] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _number, controllers, path = line.split(":", 2)
        paths[controllers] = path
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, after = line.split(" - ", 1)
        kind, _source, super_options = after.split(" ", 2)
        mounted_root, mount = before.split(" ")[3:5]
        if kind == "cgroup2":
            # Below the root, since a v2 folder that hands out controllers may hold no process itself.
            found.append(Hierarchy(Path(mount), "", Path(mount)))
        elif kind == "cgroup":
            controllers = ",".join(o for o in super_options.split(",") if o not in ("rw", "ro", "xattr", "noprefix"))
            own = paths.get(controllers, "/")
            below = os.path.relpath(own, mounted_root)
            parent = Path(mount) if below.startswith("..") else Path(mount) / below
            options = f"none,{controllers}" if controllers.startswith("name=") else controllers
            found.append(Hierarchy(Path(mount), options, parent))
    return found


def unified() -> bool:
    """Whether this machine has v2 only."""
    return (_ROOT / V2_MAGIC_FILE).exists()


def join(name: str) -> None:
    """Make the session's folders and move this process into them."""
    for hierarchy in hierarchies():
        folder = hierarchy.folder(name)
        folder.mkdir(exist_ok=True)
        if not hierarchy.options:
            _hand_down(hierarchy.parent)
        for file in ("cpuset.cpus", "cpuset.mems"):  # v1: empty until set, and nobody can join an empty one
            if hierarchy.options and (folder / file).exists():
                (folder / file).write_text((hierarchy.parent / file).read_text())
        (folder / "cgroup.procs").write_text("0")


def mount_inside(root: Path) -> None:
    """Show the session's part of every hierarchy below `root`/sys/fs/cgroup (in a cgroup namespace)."""
    target = root / "sys/fs/cgroup"
    if unified():
        kernel.mount("cgroup2", target, "cgroup2", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        leaf = target / "components"
        leaf.mkdir()
        (leaf / "cgroup.procs").write_text("0")
        _hand_down(target)
        return
    kernel.mount("tmpfs", target, "tmpfs", data="mode=755")
    for hierarchy in hierarchies():
        if hierarchy.mount.parent != _ROOT or not hierarchy.options:
            continue
        folder = target / hierarchy.mount.name
        folder.mkdir()
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("cgroup", folder, "cgroup", flags, hierarchy.options)


def remove(name: str) -> list[Path]:
    """Remove the session's folders everywhere; what could not be removed in time (its processes still end)."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    left = [folder for h in hierarchies() if (folder := h.folder(name)).is_dir()]
    while left:
        for top in left:
            for below, _dirs, _files in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    Path(below).rmdir()
        left = [folder for folder in left if folder.is_dir()]
        if left and time.monotonic() > deadline:
            break
        if left:
            time.sleep(0.02)
    return left


def _hand_down(folder: Path) -> None:
    """Let children of a v2 folder use its controllers."""
    have = set((folder / "cgroup.controllers").read_text().split())
    wanted = " ".join(f"+{name}" for name in _V2_CONTROLLERS if name in have)
    if wanted:
        (folder / "cgroup.subtree_control").write_text(wanted)
