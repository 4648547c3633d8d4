"""How many labs a machine can prove side by side.

Owns that estimate; knows nothing of how they are proved.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from cluster.host import Host
from cluster.needs import needs
from cluster.paths import state_dir
from cluster.room import room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.lab.model import Lab

_SPARE = 1 << 30
"""Bytes that are left to everybody else."""


def jobs_for(labs: Sequence[Lab], host: Host, cores: int | None = None) -> int:
    """One lab for each core, as far as there is room for all of them; at least 1, at most one for each lab.

    `cores`: those that this process may use, unless said.
    """
    wanted = [asdict(needs(lab.cluster)) for lab in labs]
    fit: list[int] = []
    for free in room(state_dir(), host) if wanted else ():
        spare = _SPARE if free.thing == "memory" else 0
        fit.append((free.amount - spare) // max(one[free.thing] for one in wanted))
    return max(1, min(len(labs), usable_cores(host) if cores is None else cores, *fit))


def usable_cores(host: Host) -> int:
    """Cores that this process may use: a container may be given the time of fewer than it sees. At least 1."""
    cores = len(os.sched_getaffinity(0))
    quota, _space, period = host.read("/sys/fs/cgroup/cpu.max").strip().partition(" ")
    if not period:
        folder = "/sys/fs/cgroup/cpu"
        quota, period = (host.read(f"{folder}/cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
    if quota.isdecimal() and period.isdecimal() and int(period):
        cores = min(cores, int(quota) // int(period))
    return max(1, cores)
