"""Somebody who uses the `grader` of this checkout with a state folder of their own, and what their sessions are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import local
from cluster.api import Api
from cluster.machine import Layout, MachineStatus
from cluster.sandbox import cgroups
from tests.cluster.conftest import SandboxApi

_ROOT = Path(__file__).resolve().parents[2]
_GRADER = [sys.executable, "-P", "-c", "from grader.cli import main; main()"]


@dataclass
class Learner:
    """`state` is everything that is theirs; `binaries` the cluster's programs."""

    state: Path
    binaries: Path

    def line(self, *words: str) -> tuple[list[str], dict[str, str]]:
        """The command line of `grader WORDS`, and its environment."""
        own = {
            "XDG_STATE_HOME": str(self.state),
            "BATCHLAB_BIN_DIR": str(self.binaries),
            "PYTHONPATH": str(_ROOT),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }
        return [*_GRADER, *words], {**os.environ, **own}

    def grader(self, *words: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run it to its end, which must be one of `codes`."""
        line, env = self.line(*words)
        ran = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300, env=env)
        assert ran.returncode in codes, f"grader {' '.join(words)}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Run it as the job of a terminal of its own."""
        line, env = self.line(*words)
        return subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
            start_new_session=True,
        )

    def home(self, lab: str) -> Path:
        """Its session folder."""
        return self.state / "batchlab" / "sessions" / lab

    def status(self, lab: str) -> MachineStatus:
        """Its machine."""
        return local.status(self.home(lab))

    def components(self, lab: str) -> dict[str, tuple[int, int, float]]:
        """Name → (process id, restarts, since) of each of its programs, all of which run."""
        document = json.loads(self.grader("status", lab, "--json").stdout)
        found = document["sessions"][0]["components"]
        assert {one["state"] for one in found} == {"running"}, found
        return {one["name"]: (one["pid"], one["restarts"], one["since"]) for one in found}

    def api(self, lab: str) -> Api:
        """Its API, as the learner."""
        return SandboxApi.of(Layout(self.home(lab)).kubeconfig, self.status(lab).init_pid)

    def objects(self, lab: str) -> dict[str, str]:
        """What is in its cluster: uid by kind, namespace and name."""
        api = self.api(lab)
        found: dict[str, str] = {}
        for kind in ("Namespace", "Node", "Pod", "ServiceAccount", "ConfigMap"):
            for one in api.list("v1", kind):
                meta: dict[str, Any] = one["metadata"]
                found[f"{kind}/{meta.get('namespace', '')}/{meta['name']}"] = meta["uid"]
        return found

    def groups(self, lab: str, controller_file: str) -> list[Path]:
        """Its cgroup folders that have a file of that name."""
        return [path for path in cgroups.recorded(Layout(self.home(lab)).cgroups) if (path / controller_file).exists()]
