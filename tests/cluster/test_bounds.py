"""A fork bomb or a memory hog in one lab: that lab's own API goes on, its neighbour notices nothing, and the host
neither. The limits are looked at before anything is let loose; on v1 the tests stand in a bounded group besides.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster.machine import Layout
from cluster.sandbox import cgroups
from cluster.sandbox.bounds import GIB, POD_TASKS, SHELL_TASKS, bounds
from grader.lab.catalogue import load_lab
from tests.cluster.conftest import SandboxApi, needs_root, until
from tests.cluster.ordinary import as_ordinary_user
from tests.learner import Learner

pytestmark = needs_root

NEIGHBOUR, FAKE, REAL = "lab-cohort", "lab-kueue", "lab-jobset"
BOMB = "b() { b | b & }; b; sleep 100"
_AS_USER = """
import os, signal, subprocess, sys, threading, time
from pathlib import Path
from cluster import local
from tests.cluster.conftest import machine_config

config = machine_config(Path(sys.argv[1]) / "lab", Path(sys.argv[2]))

def shell(script):
    return local.desk_command(config.home, ["bash", "-c", script], {"TERM": "dumb"})

def run(script):
    return subprocess.run(shell(script), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()

def tasks():
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += len(list((folder / "task").iterdir())) if folder.stat().st_uid == os.geteuid() else 0
        except OSError:
            continue
    return found

def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, tasks()
        threading.Event().wait(0.05)

local.start(config, lambda event: None)
try:
    print(*run("ulimit -u; ulimit -d; cat /proc/self/oom_score_adj"))
    print(*run("tail /dev/zero; echo $?; dd if=/dev/zero of=/tmp/x bs=1M; echo $?; echo alive"))
    before = tasks()
    bomb = subprocess.Popen(shell(sys.argv[3]), stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: tasks() >= before + 500)
    print(*run("kubectl get --raw=/readyz"), tasks() < before + 700)
    os.killpg(bomb.pid, signal.SIGHUP)
    bomb.wait()
    until(lambda: tasks() < before + 50)
    states = {component.name: component.restarts for component in local.status(config.home).components}
    print(sum(states.values()), "restarts")
finally:
    local.stop(config.home)
print(local.status(config.home).state)
"""
_NET = "batchlab-test-net"
_NET_BOUNDS = {"pids.max": "6000", "memory.limit_in_bytes": str(8 * GIB)}


@pytest.fixture(scope="module", autouse=True)
def _net() -> Iterator[None]:
    """Below it lies all that is started here, where cgroups are v1; on v2 sessions lie elsewhere."""
    entered = []
    for place in cgroups.hierarchies():
        if not {"pids", "memory"} & set(place.options.split(",")):
            continue
        folder = place.parent / _NET
        folder.mkdir(exist_ok=True)
        for name, value in _NET_BOUNDS.items():
            if (folder / name).exists():
                (folder / name).write_text(value)
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        entered.append(folder)
    yield
    for folder in entered:
        (folder.parent / "cgroup.procs").write_text(str(os.getpid()))
    until(lambda: not any((folder / "cgroup.procs").read_text() for folder in entered), what="the net is empty")
    for folder in entered:
        folder.rmdir()


@pytest.fixture(scope="module")
def learner(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learner]:
    """With a lab that nobody touches, and two in which things go wrong: on fake nodes only, and with a real node."""
    somebody = Learner(tmp_path_factory.mktemp("bounds"), binaries)
    try:
        for lab in (NEIGHBOUR, FAKE, REAL):
            somebody.grader("start", lab)
        yield somebody
    finally:
        somebody.grader("stop", "--all")


def api_answers(learner: Learner, lab: str) -> bool:
    """Whether its API is well, asked from the host: a shell may have no room for a process more."""
    return SandboxApi.of(Layout(learner.home(lab)).kubeconfig, learner.status(lab).init_pid).ready()


@contextmanager
def neighbour_untouched(learner: Learner) -> Iterator[Callable[[], None]]:
    """The neighbour's programs and objects, and one of the host's, are the same afterwards. Gives a look at whether
    it answers, as its learner would see it."""
    components, objects = learner.components(NEIGHBOUR), learner.objects(NEIGHBOUR)
    host = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])

    def answers() -> None:
        assert api_answers(learner, NEIGHBOUR)
        learner.grader("check", NEIGHBOUR, codes=(1,))
        assert host.poll() is None

    try:
        answers()
        yield answers
        answers()
        assert learner.components(NEIGHBOUR) == components
        assert learner.objects(NEIGHBOUR) == objects
    finally:
        host.kill()
        host.wait()


def inside(learner: Learner, lab: str, name: str) -> dict[str, int]:
    """What the group of that name in a session may take, and how many processes are in it."""
    found = {}
    for file in ("pids.max", "pids.current", "memory.max", "memory.limit_in_bytes", "cpu.shares", "cpu.weight"):
        for folder in learner.groups(lab):
            if (folder / name / file).exists():
                key = "memory.max" if file.startswith("memory") else file
                found[key] = int((folder / name / file).read_text())
    return found


def assert_bounded(learner: Learner, lab: str) -> None:
    """Before anything is let loose."""
    wanted = bounds(load_lab(lab).cluster)
    for name, bound in (("desk", wanted.desk), ("pods", wanted.pods), (".", wanted.session)):
        if bound is None:
            continue
        found = inside(learner, lab, name)
        assert (found["pids.max"], found["memory.max"] // 4096) == (bound.tasks, bound.memory // 4096), (lab, name)


@contextmanager
def let_loose(learner: Learner, lab: str, script: str) -> Iterator[None]:
    """A script in a shell whose terminal is closed at the end."""
    assert_bounded(learner, lab)
    shell = learner.begin("shell", lab, "--", "bash", "-c", script)
    try:
        yield
    finally:
        os.killpg(shell.pid, signal.SIGHUP)
        shell.wait(30)


@pytest.mark.parametrize("lab", [FAKE, REAL])
def test_a_shell_is_bounded_and_first_to_go_when_the_host_has_no_memory(learner: Learner, lab: str) -> None:
    assert_bounded(learner, lab)
    seen = learner.grader("shell", lab, "--", "cat", "/proc/self/cgroup", "/proc/self/oom_score_adj").out
    assert seen.count(f"/{Layout(learner.home(lab)).cgroup}/desk") >= 1
    assert seen.splitlines()[-1] == "700"
    init = learner.status(lab).init_pid
    assert Path(f"/proc/{init}/oom_score_adj").read_text() == "200\n"
    assert Path("/proc/self/oom_score_adj").read_text() == "0\n"


@pytest.mark.parametrize("lab", [FAKE, REAL])
def test_a_fork_bomb_in_a_shell(learner: Learner, lab: str) -> None:
    before = learner.components(lab)
    with neighbour_untouched(learner) as neighbour_answers:
        with let_loose(learner, lab, BOMB):
            until(lambda: inside(learner, lab, "desk")["pids.current"] >= SHELL_TASKS - 8, what="the bomb is there")
            assert api_answers(learner, lab), "the lab's own"
            learner.grader("check", lab, codes=(1,))
            neighbour_answers()
            refused = learner.grader("shell", lab, "--", "true", codes=(0, 3))
            assert refused.code == 0 or "run 512 processes, as many as they may" in refused.err
        until(lambda: inside(learner, lab, "desk")["pids.current"] == 0, what="it ends with its terminal")
    assert learner.grader("shell", lab, "--", "kubectl", "get", "--raw=/readyz").out == "ok"
    assert learner.components(lab) == before


@pytest.mark.parametrize("lab", [FAKE, REAL])
def test_a_memory_hog_in_a_shell(learner: Learner, lab: str) -> None:
    before = learner.components(lab)
    with neighbour_untouched(learner):
        assert_bounded(learner, lab)
        script = "tail /dev/zero; echo $?; dd if=/dev/zero of=/tmp/x bs=1M 2>/dev/null; echo $?; rm /tmp/x; echo alive"
        ran = learner.grader("shell", lab, "--", "bash", "-c", script)
        assert ran.out.split() == ["137", "1", "alive"], "killed; no space left; and the shell goes on"
        assert api_answers(learner, lab)
    assert learner.components(lab) == before


def test_a_fork_bomb_and_a_memory_hog_in_pods(learner: Learner) -> None:
    run = "kubectl run {} --image=busybox:stable --image-pull-policy=IfNotPresent -- sleep 1000"
    script = f"{run.format('bomb')} && {run.format('hog')} && kubectl wait --for=condition=Ready pod/bomb pod/hog"
    learner.grader("shell", REAL, "--", "bash", "-c", script)
    before = learner.components(REAL)
    goes_off = f"kubectl exec bomb -- sh -c '{BOMB}'"
    with neighbour_untouched(learner) as neighbour_answers, let_loose(learner, REAL, goes_off):
        until(lambda: inside(learner, REAL, "pods")["pids.current"] >= POD_TASKS, what="the bomb is there")
        neighbour_answers()
        assert api_answers(learner, REAL)
        more = f"{run.format('more')} && kubectl wait --for=condition=Ready pod/more --timeout=60s"
        learner.grader("shell", REAL, "--", "bash", "-c", more)
        hog = learner.grader("shell", REAL, "--", *shlex.split("kubectl exec hog -- tail /dev/zero"), codes=(137,))
        assert "exit code 137" in hog.err
        neighbour_answers()
        learner.grader("check", REAL, codes=(1,))
    assert learner.components(REAL) == before


def test_what_went_wrong_is_over_with_a_reset_or_a_stop(learner: Learner) -> None:
    groups = learner.groups(FAKE)
    with neighbour_untouched(learner):
        with let_loose(learner, FAKE, BOMB):
            until(lambda: inside(learner, FAKE, "desk")["pids.current"] >= SHELL_TASKS - 8, what="the bomb is there")
            learner.grader("reset", FAKE)
        assert inside(learner, FAKE, "desk")["pids.current"] == 0
        assert learner.grader("shell", FAKE, "--", "kubectl", "get", "--raw=/readyz").out == "ok"
        with let_loose(learner, FAKE, BOMB):
            until(lambda: inside(learner, FAKE, "desk")["pids.current"] >= SHELL_TASKS - 8, what="the bomb is there")
            learner.grader("stop", FAKE)
        assert learner.status(FAKE).state == "stopped"
        assert [folder for folder in groups if folder.exists()] == []
        # The bomb of the pod still goes on in there.
        learner.grader("stop", REAL)
        assert learner.groups(REAL) == []


def test_a_killed_session_leaves_no_cgroup_whoever_cleans_up(learner: Learner) -> None:
    """The next command may run in another cgroup of v1, as that of another login does."""
    learner.grader("start", FAKE)
    groups = learner.groups(FAKE)
    assert groups
    keeper = learner.status(FAKE).pid
    os.kill(keeper, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while any((folder / "cgroup.procs").read_text() for folder in groups):
        assert time.monotonic() < deadline
    with _another_login() as login:
        learner.grader("stop", FAKE, within=login)
    assert [folder for folder in groups if folder.exists()] == []


@contextmanager
def _another_login() -> Iterator[list[str]]:
    """What runs a command in a group of its own, as a second login is."""
    folders = [place.parent / "batchlab-test-login" for place in cgroups.hierarchies() if place.options]
    for folder in folders:
        folder.mkdir()
        if (folder / "cpuset.cpus").exists():
            for name in ("cpuset.cpus", "cpuset.mems"):
                (folder / name).write_text((folder.parent / name).read_text())
    enter = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs"; shift; done; shift; exec "$@"'
    try:
        yield ["sh", "-ec", enter, "sh", *map(str, folders), "--"]
    finally:
        for folder in folders:
            folder.rmdir()


def test_an_ordinary_users_shell_is_held_back_without_a_cgroup(binaries: Path) -> None:
    """Each process of it in its memory, all of them together in their number; other shells of the lab go on."""
    assert as_ordinary_user(_AS_USER, str(binaries), BOMB) == [
        f"{SHELL_TASKS} {GIB // 1024} 700",
        "1 1 alive",
        "ok True",
        "0 restarts",
        "stopped",
    ]
