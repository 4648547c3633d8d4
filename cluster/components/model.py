"""What a component and its readiness probe are, as data.

Owns `Component` and the probes' parameters; knows nothing of processes (`cluster.supervisor`) or of how a
probe is carried out (`cluster.supervisor.probes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HttpProbe:
    """Ready when a GET of `url` answers 200. `identity`: kubeconfig whose authority and identity are used."""

    url: str
    identity: Path | None = None
    insecure: bool = False
    """The server's certificate is its own (kcm, scheduler): encrypted, not verified. Loopback only."""


@dataclass(frozen=True, slots=True)
class SocketProbe:
    """Ready when a connection is accepted: a path (unix) or host:port (tcp)."""

    address: str


Probe = HttpProbe | SocketProbe


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One long-running program.

    `needs` names the components and steps that come first. `files` are configuration files written before
    anything starts. `mounts` are (source, target) binds that only this program sees. `before` names steps
    that are carried out again each time the program is about to be started after a crash. `awaited`: READY waits for
    it.
    """

    name: str
    argv: tuple[str, ...]
    ready: Probe
    needs: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: dict[Path, str] = field(default_factory=dict)
    mounts: tuple[tuple[Path, Path], ...] = ()
    before: tuple[str, ...] = ()
    watches_files: bool = True
    """False for a program whose files never change here: inotify is refused to it, since a user has 128 instances
    of it on most hosts, and twelve machines would want more."""
    awaited: bool = True
    deadline: float = 120.0
    """Seconds from launch in which it must become ready."""
