"""Somebody who uses the `grader` of this checkout with a state folder of their own, and what their sessions are.

Knows the product as its users do: the command, and what the host shows of its processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import Layout, MachineStatus
from cluster.sandbox import cgroups

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).resolve().parents[1]
_GRADER = [sys.executable, "-P", "-c", "from grader.cli import main; main()"]
_OBJECTS = "namespaces,nodes,pods,serviceaccounts,configmaps,services"


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ended."""

    code: int
    out: str
    err: str
    seconds: float
    """From nothing to its exit code."""


@dataclass
class Learner:
    """`state` is everything that is theirs; `binaries` the cluster's programs."""

    state: Path
    binaries: Path
    more: dict[str, str] = field(default_factory=dict)
    """Further environment variables."""

    def grader(self, *words: str, codes: tuple[int, ...] = (0,), within: Sequence[str] = ()) -> Ran:
        """Run `grader WORDS` to its end. EnvironmentProblem where its exit code is none of `codes`.

        `within`: a command line in front, which runs the rest of it.
        """
        began = time.perf_counter()
        ran = subprocess.run(
            [*within, *_GRADER, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=self.environment,
        )
        seconds = time.perf_counter() - began
        if ran.returncode not in codes:
            last = "\n".join((ran.stdout + ran.stderr).splitlines()[-12:])
            raise EnvironmentProblem(f"exit code {ran.returncode}: grader {' '.join(words[:5])}\n{last}")
        return Ran(ran.returncode, ran.stdout, ran.stderr, seconds)

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        """Run it as the job of a terminal of its own, which nobody reads."""
        nobody = subprocess.DEVNULL
        return subprocess.Popen(
            [*_GRADER, *words], stdin=nobody, stdout=nobody, stderr=nobody, env=self.environment, start_new_session=True
        )

    @property
    def environment(self) -> dict[str, str]:
        """What their commands are told."""
        own = {
            "XDG_STATE_HOME": str(self.state),
            "BATCHLAB_BIN_DIR": str(self.binaries),
            "PYTHONPATH": str(_ROOT),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }
        return {**os.environ, **own, **self.more}

    def home(self, lab: str) -> Path:
        """Its session folder."""
        return self.state / "batchlab" / "sessions" / lab

    def status(self, lab: str) -> MachineStatus:
        """Its machine."""
        return local.status(self.home(lab))

    def components(self, lab: str) -> dict[str, tuple[int, int, float]]:
        """Name → (process id, restarts, since) of each of its programs; EnvironmentProblem where one does not run."""
        document = json.loads(self.grader("status", lab, "--json").out)
        found = document["sessions"][0]["components"]
        if ill := [one["name"] for one in found if one["state"] != "running"]:
            raise EnvironmentProblem(f"{lab}: {', '.join(ill)}")
        return {one["name"]: (one["pid"], one["restarts"], one["since"]) for one in found}

    def objects(self, lab: str) -> dict[str, str]:
        """What is in its cluster: uid by kind, namespace and name."""
        ran = self.grader("shell", lab, "--", "kubectl", "get", _OBJECTS, "--all-namespaces", "--output=json")
        found = {}
        for one in json.loads(ran.out)["items"]:
            meta = one["metadata"]
            found[f"{one['kind']}/{meta.get('namespace', '')}/{meta['name']}"] = meta["uid"]
        return found

    def groups(self, lab: str) -> list[Path]:
        """Its cgroup folders that there are."""
        return [path for path in cgroups.recorded(Layout(self.home(lab)).cgroups) if path.exists()]

    def kill(self, lab: str) -> None:
        """`kill -9` of every process of it, none of which has time to notice the others' end."""
        keeper = psutil.Process(self.status(lab).pid)
        processes = [keeper, *keeper.children(recursive=True)]
        for act in (psutil.Process.suspend, psutil.Process.kill):
            for process in processes:
                try:
                    act(process)
                except psutil.NoSuchProcess:  # one that ended by itself, as a probe does
                    continue
        psutil.wait_procs(processes, timeout=60)
