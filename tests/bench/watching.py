"""What `grader check --watch` costs while nothing happens, and how soon it answers to what does."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil

from cluster.errors import EnvironmentProblem
from grader.history.store import HistoryReader
from grader.session.places import history_file, work_folder
from tests.bench import load
from tests.bench.figures import Figure, Report
from tests.bench.ground import LAB, Ground, command
from tests.bench.idle import rest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PART = "watch"
_FILE = Figure(id="watch.file", part=PART, title="from a saved file to the new verdict", unit="s", target=1.0)
_CLUSTER = Figure(
    id="watch.cluster", part=PART, title="from a change of the cluster to the new verdict", unit="s", target=1.0
)
_PATIENCE = 30.0
_NAME = "lws.yaml"
_SET = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: llm, namespace: infer}}
spec:
  replicas: {replicas}
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    workerTemplate: {{spec: {{containers: [{{name: engine, image: "busybox:stable"}}]}}}}
"""
_APPLY = "kubectl apply -f - >/dev/null <<'END'\n{manifest}END\n"
_PATCH = "kubectl patch lws llm --type=merge -p '{patch}' >/dev/null"


def measure(ground: Ground, report: Report, runs: int, seconds: float) -> None:
    """Watch a lab of which one step is half done: save a file, change the cluster, then leave it alone."""
    if os.geteuid() != 0:
        raise EnvironmentProblem(f"{LAB} has a real node, and that needs root")
    ground.say(f"watch: starting {LAB}")
    ground.grader("start", LAB)
    ground.grader("reset", LAB)  # another part may have solved it, and what has passed is not looked at again
    home = ground.home
    ground.say(f"watch: {seconds:g} s without a watch, twice")
    rest(seconds)
    without = _used(home, seconds)
    with _watch() as verdicts:
        verdicts.until(f"{_NAME} does not exist")
        for number in range(1, runs + 1):
            ground.say(f"watch {number}/{runs}: a file")
            began = time.monotonic()
            # Another wrong number each time: what passed once would not be looked at again.
            _write(home, number + 2)
            verdicts.until(f"spec.replicas is {number + 2}")
            report.add(_FILE, time.monotonic() - began)
        _write(home, 2)
        verdicts.until("there is no LeaderWorkerSet")
        # Without replicas it has no pods, so that nothing changes but what is patched.
        _play(ground, _APPLY.format(manifest=_SET.format(replicas=0)))
        verdicts.until("spec.replicas is 0")
        for number in range(1, runs + 1):
            ground.say(f"watch {number}/{runs}: the cluster")
            _play(ground, _PATCH.format(patch=json.dumps({"spec": {"leaderWorkerTemplate": {"size": number + 2}}})))
            verdicts.until(f"spec.leaderWorkerTemplate.size is {number + 2}")
            report.add(_CLUSTER, time.time() - _changed_at(home))
        ground.say(f"watch: {seconds:g} s with a watch, twice")
        rest(seconds)
        within = _used(home, seconds, verdicts.process)
    title = f"processor when idle, with a real node and a watch, over {seconds:g} s"
    report.add(Figure(id="watch.cpu", part=PART, title=title, unit="% core"), within)
    title = "of it, what the watch adds, in whatever process"
    report.add(Figure(id="watch.added", part=PART, title=title, unit="% core", target=3.0), within - without)
    ground.grader("stop", LAB)


def _write(home: Path, replicas: int) -> None:
    """As an editor saves: a watch sees the old file or the new one, never half of it."""
    path = work_folder(home) / _NAME
    new = path.with_suffix(".new")
    new.write_text(_SET.format(replicas=replicas), encoding="utf-8")
    new.replace(path)


def _play(ground: Ground, script: str) -> None:
    ground.grader("shell", LAB, "--", "bash", "-ec", script)


def _changed_at(home: Path) -> float:
    """When the recorder heard of the latest change of the set: it is there milliseconds after it was made."""
    with HistoryReader(history_file(home)) as history:
        return max(change.at for change in history.changes("LeaderWorkerSet", name="llm"))


def _used(home: Path, seconds: float, *others: psutil.Process) -> float:
    """Percent of a core that the machine and `others` use in the next `seconds`."""

    def now() -> float:
        times = [other.cpu_times() for other in others]
        return sum(load.processor(home).values()) + sum(each.user + each.system for each in times)

    before, began = now(), time.monotonic()
    rest(seconds)
    return (now() - before) / (time.monotonic() - began) * 100


class _Verdicts:
    """What a `grader check --watch` prints."""

    def __init__(self, process: psutil.Process, output: int) -> None:
        self.process = process
        self._output = output

    def until(self, words: str) -> None:
        """Read on to the verdict that says `words`, however its lines are broken; others may come before it, since
        more changes than ours. EnvironmentProblem where it does not come."""
        deadline, told = time.monotonic() + _PATIENCE, ""
        while words not in " ".join(told.split()):
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._output], [], [], left)[0] or not (text := os.read(self._output, 65536)):
                raise EnvironmentProblem(f"grader check --watch did not say in {_PATIENCE:g} s that {words}: {told}")
            told += text.decode()


@contextmanager
def _watch() -> Iterator[_Verdicts]:
    watch = subprocess.Popen(command("check", LAB, "--watch"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert watch.stdout is not None
    try:
        yield _Verdicts(psutil.Process(watch.pid), watch.stdout.fileno())
    finally:
        watch.terminate()
        watch.wait()
        watch.stdout.close()
