"""Running Go: finding it, asking its version, one build, and what its failures mean.

Owns the environment of a build and the reading of Go's complaints; knows nothing of which programs there are.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.binaries.lock import version_numbers
from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TICK = 1.0
"""Seconds between two calls of `on_tick` while a program runs."""

SHOWN_LINES = 15
_USUAL_PLACE = "/usr/local/go/bin"


def find_go() -> str | None:
    """`go` on PATH, in the Python environment we run from (PyPI has Go too), or where its archive puts it."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("go", path=os.pathsep.join((os.environ.get("PATH", os.defpath), beside, _USUAL_PLACE)))


def go_version(go: str, folder: Path, *, fetch: bool = True) -> str:
    """The Go that builds the module in `folder`, for example `go1.26.8`; empty if `go` can't say.

    A Go older than go.mod asks for fetches the right one here, if it is allowed to and `fetch` is true.
    """
    env = dict(os.environ) if fetch else os.environ | {"GOTOOLCHAIN": "local"}
    told = subprocess.run(
        [go, "env", "GOVERSION"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() if told.returncode == 0 else ""


def require_go(wanted: str, folder: Path) -> tuple[str, str]:
    """Path and version of a Go that is at least `wanted`; EnvironmentProblem says how to get one."""
    from cluster.binaries.packages import go_remedy

    go = find_go()
    if go is None:
        raise EnvironmentProblem(
            _("Go is not installed: building the cluster's programs needs {version} or newer").format(version=wanted),
            go_remedy(wanted),
        )
    version = go_version(go, folder)
    if version_numbers(version) < version_numbers(wanted):
        found = version or go_version(go, Path("/"), fetch=False) or _("of unknown version")
        raise EnvironmentProblem(
            _("{path} ({found}) is too old: building the cluster's programs needs Go {version}").format(
                path=go, found=found, version=wanted
            ),
            go_remedy(wanted),
        )
    return go, version


def build_environment(goarch: str, scratch: Path, *, cgo: bool) -> dict[str, str]:
    """The caller's environment (GOFLAGS, GOPROXY, GOCACHE, CC… count) with what a build of ours fixes."""
    return os.environ | {
        "CGO_ENABLED": "1" if cgo else "0",
        "GOOS": "linux",
        "GOARCH": goarch,
        "GOWORK": "off",  # a go.work above a checkout of ours is about other things
        "GOTMPDIR": str(scratch),  # so that what a killed Go leaves behind is swept with the rest
    }


def run(argv: Sequence[str], *, cwd: Path, env: dict[str, str], log: Path, on_tick: Callable[[], None]) -> int:
    """Run `argv` with all its output in `log` and return its exit code.

    Its whole process group is killed when we are interrupted, and the program itself when we are killed.
    """
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*_tied_to_us(), *argv],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        try:
            while True:
                try:
                    return process.wait(timeout=TICK)
                except subprocess.TimeoutExpired:
                    on_tick()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def _tied_to_us() -> list[str]:
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def last_lines(log: Path, count: int = SHOWN_LINES) -> str:
    """The end of what a program said, for a message."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if not line.startswith("go: downloading")]
    return "\n".join(f"    {line}" for line in lines[-count:])


def advice_for(output: str) -> str:
    """What to do about a failed build, by what Go or the C compiler said; empty if we don't know."""
    rules = (
        (r"seccomp\.h|libseccomp|lseccomp", _("install libseccomp-dev (apt-get install libseccomp-dev)")),
        (r"pkg-config.*not found", _("install pkg-config (apt-get install pkg-config)")),
        (r"(?:gcc|cc)\W.*not found|C compiler", _("install a C compiler (apt-get install gcc libc6-dev)")),
        (
            r"cannot find -lc\b|stdlib\.h|Scrt1\.o",
            _("install the C library's headers (apt-get install libc6-dev)"),
        ),
        (r"No space left|no space left", _("make room: the Go caches need about 9 GB")),
        (
            r"signal: killed|cannot allocate memory",
            _("memory ran out: stop other programs, or set GOFLAGS=-p=1"),
        ),
        (
            r"checksum mismatch|SECURITY ERROR",
            _("a module differs from the pinned one: don't use it; look at GOPROXY"),
        ),
        (
            r"dial tcp|i/o timeout|proxyconnect|TLS handshake|: 40[0-9] |: 50[0-9] ",
            _("Go modules could not be fetched: look at the network and GOPROXY, or use a bundle"),
        ),
        (
            r"requires go >= |toolchain not available",
            _("this Go is too old and may not fetch a newer one (GOTOOLCHAIN)"),
        ),
    )
    return next((advice for pattern, advice in rules if re.search(pattern, output)), "")
