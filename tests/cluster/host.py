"""A picture of the host, to be compared before and after: what a lab machine must leave as it found it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import psutil

WATCHED_FOLDERS = ("/etc", "/run", "/var/lib", "/var/run", "/opt", "/usr/local/bin", "/sys/fs/bpf")
HOME_FOLDERS = (".kube", ".config")
"""Of the home only these and its top level: what else lies there is nobody's business, and a million files."""
_NAMESPACES = ("net", "pid", "mnt", "uts", "ipc", "cgroup", "user")


@dataclass(frozen=True)
class Host:
    """Everything of the host that a machine of ours could have touched."""

    processes: frozenset[str]
    mounts: frozenset[str]
    cgroups: frozenset[str]
    links: frozenset[str]
    namespaces: frozenset[str]
    firewall: str
    files: frozenset[str]


def picture(*, outside: Path, marks: tuple[str, ...], cgroup: str) -> Host:
    """The host now. `outside`: the session's folder is not looked at; `marks`: words in our command lines;
    `cgroup`: the session's (those of other sessions come and go as they like)."""
    return Host(
        processes=frozenset(_processes(marks)),
        mounts=frozenset(line.split(" ", 3)[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()),
        cgroups=frozenset(_folders(Path("/sys/fs/cgroup"), cgroup)),
        links=frozenset(path.name for path in Path("/sys/class/net").iterdir()),
        namespaces=frozenset(_namespaces(marks)),
        firewall=_read("/proc/net/ip_tables_names") + _read("/proc/net/ip6_tables_names"),
        files=frozenset(_files(outside)),
    )


def _processes(marks: tuple[str, ...]) -> list[str]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if any(mark in line for mark in marks) and process.pid != os.getpid():
            found.append(line)
    return found


def _namespaces(marks: tuple[str, ...]) -> set[str]:
    """Namespaces other than this process's own that hold a process of ours."""
    own = {str(Path(f"/proc/self/ns/{name}").readlink()) for name in _NAMESPACES}
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        if not any(mark in " ".join(process.info["cmdline"] or []) for mark in marks):
            continue
        for name in _NAMESPACES:
            try:
                found.add(str(Path(f"/proc/{process.pid}/ns/{name}").readlink()))
            except OSError:
                continue  # it ended between the two looks
    return found - own


def _folders(top: Path, own: str) -> list[str]:
    """Folders of the session, and of a kubelet that escaped it."""
    found = []
    for folder, dirs, _files in os.walk(top):
        dirs[:] = [name for name in dirs if not name.startswith("batchlab-") or name == own]
        if own in folder or "kubepods" in folder:
            found.append(folder)
    return found


def _files(outside: Path) -> list[str]:
    found = [str(path) for path in Path.home().iterdir()]
    tops = [Path(name) for name in WATCHED_FOLDERS] + [Path.home() / name for name in HOME_FOLDERS]
    for top in tops:
        for folder, dirs, files in os.walk(top):
            here = Path(folder)
            dirs[:] = [d for d in dirs if here / d != outside and d not in (".cache", "__pycache__", ".pytest_cache")]
            for name in files:
                try:
                    status = (here / name).lstat()
                except OSError:
                    continue
                found.append(f"{here / name} {status.st_size} {status.st_mtime_ns}")
    return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
