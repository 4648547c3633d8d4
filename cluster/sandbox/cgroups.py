"""A session's own cgroup: made, bounded, entered, shown inside the sandbox, and removed when nothing is left in it.

Owns the difference between cgroup v1 (one folder in each hierarchy, below the caller's own) and v2 (one folder below
the root). Root's sessions have one; an ordinary user may make none. In it lie `desk` for the learner's shells,
`scripts` for those of the lab (`cluster.sandbox.cell_group`), `pods` for a real node's kubelet (two of them in one
cgroup namespace would fight over `kubepods`) and, on v2, where only leaves hold processes, `components`. How much each
may take is `cluster.sandbox.bounds`'s.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.sandbox import kernel

if TYPE_CHECKING:
    from cluster.sandbox.bounds import Bound, Bounds

V2_MAGIC_FILE = "cgroup.controllers"
BOUNDING = ("cpu", "memory", "pids")
"""The controllers that bound a session."""
PODS = "pods"
SCRIPTS = "scripts"
_DESK, _COMPONENTS = "desk", "components"
ROOT = Path("/sys/fs/cgroup")
_REMOVE_SECONDS = 3.0
_V2_CONTROLLERS = ("cpu", "cpuset", "io", "memory", "hugetlb", "pids")
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted cgroup hierarchy. `options` are what mounting it again takes; empty for v2."""

    mount: Path
    options: str
    parent: Path
    """Folder below which root's sessions get theirs."""
    own: Path
    """Folder that this process is in, as far as it can be seen."""

    def folder(self, name: str) -> Path:
        """A session's folder in it, for a session that is begun from here."""
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
            found.append(Hierarchy(Path(mount), "", Path(mount), _seen(mount, mounted_root, paths.get("", "/"))))
        elif kind == "cgroup":
            controllers = ",".join(o for o in super_options.split(",") if o not in ("rw", "ro", "xattr", "noprefix"))
            own = _seen(mount, mounted_root, paths.get(controllers, "/"))
            options = f"none,{controllers}" if controllers.startswith("name=") else controllers
            found.append(Hierarchy(Path(mount), options, own, own))
    return found


def bounding(controller: str, *, root: bool) -> list[Path]:
    """The folders whose bounds by `controller` hold for a session of root's, or of an ordinary user's, that is begun
    from here: the innermost first."""
    for place in hierarchies():
        has = place.options.split(",") if place.options else (place.mount / V2_MAGIC_FILE).read_text().split()
        if controller in has:
            inner = place.parent if root else place.own
            return [folder for folder in (inner, *inner.parents) if folder.is_relative_to(place.mount)]
    return []


def _seen(mount: str, mounted_root: str, path: str) -> Path:
    """Where a group is below a mount of its hierarchy; the mount itself where that shows another part of it."""
    below = os.path.relpath(path, mounted_root)
    return Path(mount) if below.startswith("..") else Path(mount) / below


def unified() -> bool:
    """Whether this machine has v2 only."""
    return (ROOT / V2_MAGIC_FILE).exists()


def join(name: str, record: Path, bound: Bound) -> tuple[str, ...]:
    """Make the session's folders, bound them, and move this process into them.

    `record` is told first where they are, since the next command may run in another cgroup of v1 and would look
    elsewhere. Returns those of BOUNDING that can't be had here.
    """
    places = hierarchies()
    record.write_text("".join(f"{place.folder(name)}\n" for place in places))
    lacking = set(BOUNDING)
    for place in places:
        folder = place.folder(name)
        try:
            folder.mkdir(exist_ok=True)
            if not place.options:
                hand_down(place.parent)
            fill_cpuset(folder)
            bounded = limit(folder, bound)
            (folder / "cgroup.procs").write_text("0")
        except OSError:  # a container's that may only be read
            continue
        lacking -= bounded
    return tuple(sorted(lacking))


def mount_inside(root: Path, bounds: Bounds) -> None:
    """Show the session's part of every hierarchy below `root`/sys/fs/cgroup (in a cgroup namespace), and make the
    folders in it that have bounds of their own."""
    target = root / "sys/fs/cgroup"
    if unified():
        kernel.mount("cgroup2", target, "cgroup2", _QUIET)
        leaf = target / _COMPONENTS
        leaf.mkdir()
        (leaf / "cgroup.procs").write_text("0")
        hand_down(target)
        _divide(target, bounds)
        return
    kernel.mount("tmpfs", target, "tmpfs", data="mode=755")
    for hierarchy in hierarchies():
        if hierarchy.mount.parent != ROOT or not hierarchy.options:
            continue
        folder = target / hierarchy.mount.name
        folder.mkdir()
        kernel.mount("cgroup", folder, "cgroup", _QUIET, hierarchy.options)
        _divide(folder, bounds)


def enter_desk() -> None:
    """Move this process, inside the sandbox, to where the learner's shells are bounded. EnvironmentProblem where
    they are so many already that no other could do anything."""
    for top in (ROOT, *ROOT.iterdir()):
        folder = top / _DESK
        if not folder.is_dir():
            continue
        if (folder / "pids.max").exists():
            most = int((folder / "pids.max").read_text())
            if int((folder / "pids.current").read_text()) >= most:
                raise EnvironmentProblem(
                    _("the shells of this lab run {count} processes, as many as they may").format(count=most),
                    _("close the shell that runs too many, or stop the lab and start it again: files stay"),
                )
        (folder / "cgroup.procs").write_text("0")


def remove(name: str, record: Path) -> list[Path]:
    """Remove the session's folders everywhere; what could not be removed in time (its processes still end)."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    folders = {place.folder(name) for place in hierarchies()} | recorded(record)
    left = [folder for folder in sorted(folders) if folder.is_dir()]
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
    if not left:
        record.unlink(missing_ok=True)
    return left


def recorded(record: Path) -> set[Path]:
    """Where the session's folders were made, as far as they may be ours."""
    try:
        paths = {Path(line) for line in record.read_text().splitlines()}
    except FileNotFoundError:
        return set()
    return {path for path in paths if path.name.startswith("batchlab-")}


def _divide(top: Path, bounds: Bounds) -> None:
    """In one hierarchy: the folder of pods in each, as kubelet wants it; that of shells where it bounds something."""
    parts = ((_DESK, bounds.desk, False), (PODS, bounds.pods, True), (SCRIPTS, bounds.scripts, False))
    for name, bound, everywhere in parts:
        folder = top / name
        if bound is None:
            continue
        folder.mkdir()
        fill_cpuset(folder)
        if not limit(folder, bound) and not everywhere:
            folder.rmdir()


def limit(folder: Path, bound: Bound) -> set[str]:
    """Bound a group by the controllers that it has; which of BOUNDING these are."""
    settings = {
        "cpu": {"cpu.weight": bound.weight, "cpu.shares": bound.weight * 1024 // 100},
        # v1 first has no limit of both; then the limit of both must not be the lower one.
        "memory": {
            "memory.max": bound.memory,
            "memory.swap.max": bound.swap,
            "memory.limit_in_bytes": bound.memory,
            "memory.memsw.limit_in_bytes": bound.memory + bound.swap,
        },
        "pids": {"pids.max": bound.tasks},
    }
    done = set()
    for controller, files in settings.items():
        for name, value in files.items():
            if (folder / name).exists():
                (folder / name).write_text(str(value))
                done.add(controller)
    return done


def fill_cpuset(folder: Path) -> None:
    """v1: empty until set, and nobody can join an empty one."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        file = folder / name
        if file.exists() and not (folder / V2_MAGIC_FILE).exists():
            file.write_text((folder.parent / name).read_text())


def hand_down(folder: Path) -> None:
    """Let children of a v2 folder use its controllers, each of them that can be handed down."""
    for name in set((folder / V2_MAGIC_FILE).read_text().split()) & set(_V2_CONTROLLERS):
        with contextlib.suppress(OSError):  # a container's folder that holds processes itself, real-time tasks
            (folder / "cgroup.subtree_control").write_text(f"+{name}")
