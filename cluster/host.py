"""The machine that we run on, looked at: programs, kernel features, room.

Owns the looking, so that tests of `cluster.doctor` put another machine in its place; judges nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from cluster.binaries import golang, packages
from cluster.binaries.cache import BUNDLE_VARIABLE, default_root, locate


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

    def free_disk(self) -> int:
        """Bytes that we may write where binaries are kept."""
        folder = default_root()
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free


def _run(argv: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr
