"""How much a session may take at most, and of it the learner's shells and the pods: so that a fork bomb or a memory
hog harms its own lab only, and leaves that lab's API server answering where it began in a shell or a pod.

Owns the numbers and how an ordinary user's shell is held, which no cgroup holds. How cgroups are written is
`cluster.sandbox.cgroups`'s.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.needs import needs

if TYPE_CHECKING:
    from cluster.spec import ClusterSpec

GIB = 1 << 30
SHELL_TASKS = 512
"""Processes and threads of all shells of a lab; kubectl alone has ten threads."""
POD_TASKS = 512
"""Of one pod."""
_ALL_POD_TASKS, _CLUSTER_TASKS = 1024, 1024
_SHELL_MEMORY, _POD_MEMORY = 1 * GIB, 2 * GIB
_SHELL_PART, _POD_PART = 8, 4
"""At most one part in so many of the host's memory, on small hosts."""
SCRIPT_MEMORY, SCRIPT_TASKS = 1 * GIB, 256
"""Of what one script of a lab starts. The part of memory that shells may have at most holds for it, too."""
SCRIPT_FILE = 64 << 20
"""Bytes of a file that a script writes."""
_GROWTH = 2
"""The cluster's own programs may take so many times what they need: a learner may fill the API server."""
_USUAL_WEIGHT, _LESSER_WEIGHT = 100, 25
TMPFS = "256m"
"""What fits into each tmpfs of a shell: a full one is said, where a group without memory would lose its shell."""
CLUSTER_OOM_SCORE, SHELL_OOM_SCORE = 200, 700
"""Where the host itself runs out of memory, labs go before its own programs, and shells before clusters."""
OOM_SCORE = Path("/proc/self/oom_score_adj")
_COUNTED_SINCE = (5, 14)
"""Linux that counts RLIMIT_NPROC for each user namespace, not over everything that the user runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The most that a group of processes may take: bytes of memory and of swap besides, processes with their
    threads, and a share of the processors in relation to its siblings (100 is usual) while they are all wanted."""

    memory: int
    swap: int
    tasks: int
    weight: int = _USUAL_WEIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of a session as a whole, and in it of the learner's shells (`desk`), the real node's pods, the lab's scripts."""

    session: Bound
    desk: Bound
    pods: Bound | None
    scripts: Bound
    """Of the scripts that checks and the start of a lab run, and of each of them."""


def bounds(spec: ClusterSpec, host_memory: int | None = None) -> Bounds:
    """Of a session with `spec`, on a host with that many bytes of memory (this one's if None)."""
    memory = host_memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    own = _GROWTH * needs(spec).memory
    shells = Bound(memory=min(_SHELL_MEMORY, memory // _SHELL_PART), swap=0, tasks=SHELL_TASKS, weight=_LESSER_WEIGHT)
    pods = None
    if spec.real_node is not None:
        pods = Bound(memory=min(_POD_MEMORY, memory // _POD_PART), swap=0, tasks=_ALL_POD_TASKS, weight=_LESSER_WEIGHT)
    scripts = Bound(memory=min(SCRIPT_MEMORY, memory // _SHELL_PART), swap=0, tasks=SCRIPT_TASKS, weight=_LESSER_WEIGHT)
    parts = [part for part in (shells, pods, scripts) if part]
    session = Bound(
        memory=own + sum(part.memory for part in parts),
        swap=own,
        tasks=_CLUSTER_TASKS + sum(part.tasks for part in parts),
    )
    return Bounds(session=session, desk=shells, pods=pods, scripts=scripts)


def counts_tasks(release: str | None = None) -> bool:
    """Whether RLIMIT_NPROC holds back a user namespace by itself. `release`: Linux's (this one's if None)."""
    return tuple(map(int, re.findall(r"\d+", release or os.uname().release)[:2])) >= _COUNTED_SINCE


def holding_back(release: str | None = None) -> list[str]:
    """What an ordinary user's command is put behind, inside the shell's own user namespace: there every process
    may have so much data, and all of them together may be so many. `release`: Linux's (this one's if None)."""
    tasks = [f"--nproc={SHELL_TASKS}"] if counts_tasks(release) else []
    return ["prlimit", *tasks, f"--data={_SHELL_MEMORY}", "--"]


def offer_to_the_oom_killer(score: int) -> None:
    """Have this process and its children taken before others when memory runs out. Never lowers a score."""
    OOM_SCORE.write_text(str(max(score, int(OOM_SCORE.read_text()))))
