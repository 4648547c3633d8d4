"""Where a benchmark ran, in a few words that make two runs comparable or not."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import psutil

from cluster.sandbox import cgroups

_ROOT = Path(__file__).resolve().parents[2]


def machine() -> dict[str, str]:
    """What a figure depends on besides the code."""
    return {
        "cores": f"{len(os.sched_getaffinity(0))} ({_processor()})",
        "memory": f"{psutil.virtual_memory().total / 1e9:.1f} GB",
        "kernel": platform.release(),
        "cgroups": "v2" if cgroups.unified() else "v1",
        "Python": platform.python_version(),
        "commit": _commit(),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "other machines of ours": str(_others()),
        "user": "root" if os.geteuid() == 0 else "not root",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _commit() -> str:
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        return f"{commit} with changes" if _git("status", "--porcelain", "--untracked-files=no") else commit
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _others() -> int:
    """Machines that run already: they take processor time, and share pages that PSS then counts less."""
    found = 0
    for process in psutil.process_iter(["cmdline", "ppid"]):
        line = process.info["cmdline"] or []
        # PID 1 of a machine is forked from its keeper and has the same command line.
        if "cluster.sandbox.keeper" in line and not _is_keeper(process.info["ppid"]):
            found += 1
    return found


def _is_keeper(pid: int) -> bool:
    try:
        return "cluster.sandbox.keeper" in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False
