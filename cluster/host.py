"""The machine that we run on, looked at: programs, kernel features, room.

Owns the looking, so that tests of `cluster.doctor` put another machine in its place; judges nothing.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from pathlib import Path

from cluster.binaries import golang, packages
from cluster.binaries.cache import BUNDLE_VARIABLE, default_root, locate
from cluster.sandbox import cgroups


class Host:
    """The machine as it is; tests put another one in its place."""

    def is_root(self) -> bool:
        """Whether we may do what only root may."""
        return os.geteuid() == 0

    def missing(self, purpose: packages.Purpose) -> tuple[packages.Package, ...]:
        """Debian packages whose content is not there."""
        return packages.missing(purpose)

    def go(self) -> tuple[str, str]:
        """Path and own version of Go (nothing is fetched to find out); empty strings without one."""
        path = golang.find_go()
        return (path, golang.go_version(path, Path("/"), fetch=False)) if path else ("", "")

    def go_may_fetch(self) -> bool:
        """Whether Go is allowed to fetch the version that go.mod asks for."""
        path = golang.find_go()
        return bool(path) and _run([path or "", "env", "GOTOOLCHAIN"])[1].strip() not in ("local", "path", "")

    def binaries(self) -> Path | None:
        """The folder of binaries that labs would use without building."""
        return locate()

    def has_bundle(self) -> bool:
        """Whether a bundle is named in the environment."""
        return bool(os.environ.get(BUNDLE_VARIABLE))

    def try_out(self, argv: list[str]) -> tuple[bool, str]:
        """Run a trial; whether it worked, and the last line of what it said."""
        code, said = _run(argv)
        return code == 0, (said.strip().splitlines() or [""])[-1]

    def read(self, path: str) -> str:
        """A file of /proc or /sys; empty if there is none."""
        try:
            return Path(path).read_text()
        except OSError:
            return ""

    def can_make_cgroup(self, folder: str) -> bool:
        """Whether a cgroup can be made in `folder` (it is removed again)."""
        probe = Path(folder) / f"batchlab-doctor-{os.getpid()}"
        try:
            probe.mkdir()
            probe.rmdir()
        except OSError:
            return False
        return True

    def bounding_groups(self, controller: str) -> list[Path]:
        """The cgroup folders whose bounds by `controller` hold for a session begun from here."""
        try:
            return cgroups.bounding(controller, root=self.is_root())
        except OSError:
            return []

    def task_limit(self) -> int | None:
        """How many processes and threads this user may have; None where nothing says so."""
        soft, _hard = resource.getrlimit(resource.RLIMIT_NPROC)
        return None if self.is_root() or soft == resource.RLIM_INFINITY else soft

    def own_tasks(self) -> int:
        """How many of them this user has."""
        return sum(len(_entries(folder / "task")) for folder in _own_processes())

    def own_watchers(self) -> int:
        """How many inotify instances this user has."""
        opened = (link for folder in _own_processes() for link in _entries(folder / "fd"))
        return sum(_leads_to(link).endswith("inotify") for link in opened)

    def free_disk(self, folder: Path | None = None) -> int:
        """Bytes that we may write in `folder`, or where it would be made; where binaries are kept if None."""
        folder = folder or default_root()
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free


def _own_processes() -> list[Path]:
    user = os.geteuid()
    return [folder for folder in _entries(Path("/proc")) if folder.name.isdecimal() and _owner(folder) == user]


def _owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:  # it ended meanwhile
        return -1


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _leads_to(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _run(argv: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr
