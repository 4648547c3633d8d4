"""Commands that checks run: in a pod, or where the learner works.

Owns how they are run from inside the sandbox and that they end; knows nothing of what is expected of them.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.machine import Layout, MachineConfig
from grader.checks.world import Execution

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_OUTPUT = 1024 * 1024
"""Bytes of each stream that are kept; a command that says more is ended."""


class SessionExecutor:
    """`grader.checks.world.Executor` for the session in `home`."""

    def __init__(self, home: Path) -> None:
        self._layout = Layout(home)
        self._config = MachineConfig.read(self._layout.machine)

    def execute(self, argv: Sequence[str], *, namespace: str, pod: str, container: str, seconds: float) -> Execution:
        """Run it and wait at most `seconds`; `exit` is None where it ran out of time or of room."""
        return run_limited(self._command(argv, namespace, pod, container), seconds)

    def _command(self, argv: Sequence[str], namespace: str, pod: str, container: str) -> list[str]:
        if not pod:
            desk = [sys.executable, "-P", "-m", "cluster.sandbox.desk", str(self._layout.home)]
            return [*desk, "--", *argv]
        kubectl = [str(self._config.binaries / "bin" / "kubectl"), f"--kubeconfig={self._layout.kubeconfig}"]
        chosen = [f"--container={container}"] if container else []
        # The learner's identity: the grader's own may only read, and exec is more than reading.
        return [*kubectl, "--namespace", namespace, "exec", pod, *chosen, "--", *argv]


def run_limited(command: Sequence[str], seconds: float) -> Execution:
    """Run `command` in a process group of its own, and end the group when time or room runs out."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise EnvironmentProblem(
            _("can't run {program}: {why}").format(program=command[0], why=error.strerror)
        ) from error
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        streams = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
        out, err = streams.values()
        ended = _collect(streams, time.monotonic() + seconds)
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    return Execution(
        exit=code if ended else None,
        stdout=out.decode(errors="replace"),
        stderr=err.decode(errors="replace"),
    )


def _collect(streams: dict[int, bytearray], deadline: float) -> bool:
    """Fill the buffers until both streams end; False where time or room ran out first."""
    still_open = set(streams)
    while still_open:
        left = deadline - time.monotonic()
        readable = select.select(list(still_open), [], [], max(left, 0.0))[0]
        if not readable:
            return False
        for stream in readable:
            chunk = os.read(stream, 65536)
            if not chunk:
                still_open.discard(stream)
            streams[stream] += chunk
            if len(streams[stream]) > MOST_OUTPUT:
                return False
    return True
