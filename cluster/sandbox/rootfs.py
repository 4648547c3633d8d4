"""A root file system of its own over the host's: what is written in it never reaches the host.

Owns the two ways to make one, and entering it. With root: an overlay over `/`. In a user namespace the kernel
refuses an overlay over `/` (its submounts are locked), so there it is a tmpfs with the host's programs bound
read-only. The same builder serves the sandbox and, in it, the learner's place.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cluster.paths import data_dir
from cluster.sandbox import kernel

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
HOST_ETC = Path("/run/batchlab/etc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A folder or file shown inside."""

    source: Path
    target: Path
    read_only: bool = True


def program_folders() -> list[Path]:
    """Folders that this very interpreter and our packages run from, outermost only."""
    named = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2], data_dir("vm-images"))
    # By both names, where a name is a link: what is bound at the one holds the link, and that leads to the other.
    candidates = {path for name in named for path in (name.absolute(), name.resolve())}
    kept: list[Path] = []
    for folder in sorted(candidates):
        if not any(folder.is_relative_to(other) for other in (Path("/usr"), *kept)):
            kept.append(folder)
    return kept


def build(
    base: Path,
    *,
    privileged: bool,
    lower: Path,
    kmsg: bool = False,
    size: str = "",
    etc: Iterable[str] | None = None,
) -> Path:
    """Mount a new root below `base` (a folder) and return it; `enter` makes it `/`.

    `lower` is the file system it starts from. `size`: how much each tmpfs in it holds ("256m"). `etc`: without an
    overlay, the only entries of /etc that are shown (None: all). Call in a mount namespace of one's own, with a pid
    namespace already entered (its /proc is mounted).
    """
    kernel.mount("none", Path("/"), flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base.mkdir(parents=True, exist_ok=True)
    limit = f",size={size}" if size else ""
    kernel.mount("tmpfs", base, "tmpfs", data=f"mode=755{limit}")
    root = base / "root"
    root.mkdir()
    if privileged:
        for name in ("upper", "work"):
            (base / name).mkdir()
        layers = f"lowerdir={lower},upperdir={base}/upper,workdir={base}/work"
        kernel.mount("overlay", root, "overlay", data=layers)
    else:
        kernel.mount("tmpfs", root, "tmpfs", data=f"mode=755{limit}")
        _bind_programs(root)
    _mount_kernel_views(root)
    _make_devices(root / "dev", limit, kmsg=kmsg)
    for name in ("run", "tmp"):
        (root / name).mkdir(exist_ok=True)
        kernel.mount("tmpfs", root / name, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=1777{limit}")
    if etc is not None:
        sources = [Path("/etc", name) for name in etc]
        add(root, [Bind(source=source, target=source) for source in sources if source.exists()])
    elif not privileged:
        _link_etc(root)
    return root


def bare(base: Path, shown: Iterable[Path], *, size: str) -> Path:
    """Mount below `base` a root that holds the host's programs, our own, and the folders `shown`, all to be read only.

    It has no /etc, no /proc, no device but /dev/null, and nothing in it can be written but /tmp, of `size`. Else as
    `build`.
    """
    kernel.mount("none", Path("/"), flags=kernel.MS_REC | kernel.MS_PRIVATE)
    base.mkdir(parents=True, exist_ok=True)
    kernel.mount("tmpfs", base, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m")
    root = base / "root"
    root.mkdir()
    kernel.mount("tmpfs", root, "tmpfs", kernel.MS_NOSUID, "mode=755,size=1m")
    _bind_programs(root)
    for name in ("run", "tmp"):
        (root / name).mkdir(exist_ok=True)
    # Before the folders that are shown: one of them may lie in it.
    kernel.mount("tmpfs", root / "tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=1777,size={size}")
    add(root, [Bind(source=folder, target=folder) for folder in (*program_folders(), *shown)])
    (root / "dev").mkdir(exist_ok=True)
    (root / "dev/null").touch()
    kernel.bind(Path("/dev/null"), root / "dev/null")
    return root


def add(root: Path, binds: list[Bind]) -> None:
    """Show folders and files of the present root in `root`."""
    for bind in binds:
        target = root / bind.target.relative_to("/")
        if bind.source.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
        kernel.bind(bind.source, target, read_only=bind.read_only)


def cover(root: Path, paths: Iterable[Path]) -> None:
    """Hide folders and files of `root`: what is there is seen as empty. What is not there stays so."""
    for path in paths:
        target = root / path.relative_to("/")
        if target.is_symlink():
            continue  # an entry of a linked /etc: an ordinary user's, who may read no more than before
        if target.is_dir():
            kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755")
        elif target.is_file():
            kernel.bind(Path("/dev/null"), target)


def enter(root: Path) -> None:
    """Make `root` this process's `/` and forget the former one."""
    old = root / "run" / "former-root"
    old.mkdir()
    os.chdir(root)
    kernel.pivot_root(root, old)
    os.chdir("/")
    kernel.unmount(Path("/run/former-root"))
    Path("/run/former-root").rmdir()


def _bind_programs(root: Path) -> None:
    for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt"):
        host = Path("/", name)
        if host.is_symlink():
            (root / name).symlink_to(host.readlink())
        elif host.is_dir():
            (root / name).mkdir()
            kernel.bind(host, root / name, recursive=True, read_only=True)
    for name in ("proc", "sys", "dev", "etc", "root", "home", "var", "var/tmp", "var/lib", "mnt", "srv"):
        (root / name).mkdir(exist_ok=True)
    (root / "var/run").symlink_to("/run")


def _link_etc(root: Path) -> None:
    # A writable /etc whose entries are the host's: links, because there are hundreds of them.
    host_etc = root / HOST_ETC.relative_to("/")
    host_etc.mkdir(parents=True)
    kernel.bind(Path("/etc"), host_etc, recursive=True, read_only=True)
    for entry in Path("/etc").iterdir():
        (root / "etc" / entry.name).symlink_to(HOST_ETC / entry.name)


def _mount_kernel_views(root: Path) -> None:
    kernel.mount("proc", root / "proc", "proc", QUIET)
    try:
        kernel.mount("sysfs", root / "sys", "sysfs", QUIET)
    except PermissionError:  # a user namespace below a container whose /sys is partly covered
        kernel.bind(Path("/sys"), root / "sys", recursive=True, read_only=True)


def _make_devices(dev: Path, limit: str, *, kmsg: bool) -> None:
    kernel.mount("tmpfs", dev, "tmpfs", kernel.MS_NOSUID, "mode=755")
    for name in (*_DEVICES, *(("kmsg",) if kmsg else ())):
        (dev / name).touch()
        kernel.bind(Path("/dev", name), dev / name)
    (dev / "pts").mkdir()
    kernel.mount(
        "devpts",
        dev / "pts",
        "devpts",
        kernel.MS_NOSUID | kernel.MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=620",
    )
    (dev / "ptmx").symlink_to("pts/ptmx")
    (dev / "shm").mkdir()
    kernel.mount("tmpfs", dev / "shm", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=1777{limit}")
    for name, target in (
        ("fd", "self/fd"),
        ("stdin", "self/fd/0"),
        ("stdout", "self/fd/1"),
        ("stderr", "self/fd/2"),
    ):
        with contextlib.suppress(FileExistsError):
            (dev / name).symlink_to(f"/proc/{target}")
