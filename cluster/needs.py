"""What one lab's machine takes of the host, from measurement (docs/benchmarks.md).

Owns the numbers. Whether the host has that much is `cluster.room`'s business, what a machine may take at most
`cluster.sandbox.bounds`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster.spec import ClusterSpec

MB = 1_000_000
# Measured 15 s after READY: 670 to 740 MB with LWS, 890 MB with JobSet and Kueue, 1030 MB with a real node as well.
# The managers of trainer, mpi-operator and training-operator hold 45 to 56 MB each at most while jobs come and go, and
# one inotify instance or none.
_CONTROL_PLANE, _ADDON, _REAL_NODE = 640 * MB, 90 * MB, 150 * MB
_USE = 100 * MB
"""A shell with kubectl, and what the API server grows by while a lab is done."""
_DISK = 300 * MB
"""etcd's log is 128 MB from its first moment; the rest is logs and history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a machine takes once it is in use. `memory` and `disk` in bytes; `tasks` are processes and threads;
    `watchers` inotify instances, of which a user has 128 on most hosts."""

    memory: int
    disk: int
    tasks: int
    watchers: int


def needs(spec: ClusterSpec) -> Needs:
    """What a machine with `spec` takes."""
    addons = len(spec.addons)
    real = spec.real_node is not None
    return Needs(
        memory=_CONTROL_PLANE + addons * _ADDON + real * _REAL_NODE + _USE,
        disk=_DISK,
        tasks=100 + addons * 10 + real * 100,
        watchers=2 + addons * 3 + real * 10,
    )
