"""Starts that are cut short, doubled, killed and repaired: each time the machine is whole or gone."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.blackbox.conftest import Learners
from tests.blackbox.person import Person
from tests.blackbox.waiting import stream_of, until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="lab-lws has a real node, and that needs root"),
]


@pytest.fixture
def learner(learner_with: Learners) -> Person:
    """One lab at a time: what the test leaves running is stopped before the next begins."""
    return learner_with()


@pytest.fixture(autouse=True)
def _stop_after(learner: Person) -> object:
    yield
    learner.run("stop", "--all", code=None)


def state_of(person: Person) -> str:
    sessions = person.run("status", "--json").json()["sessions"]
    return sessions[0]["state"] if sessions else "none"


class Traces:
    """What a lab has on the host while it runs, to be gone afterwards. Made before a start."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self._links = self._now()
        self._cgroups: set[Path] = set()

    @staticmethod
    def _now() -> set[Path]:
        return set(Path("/sys/class/net").iterdir())

    def look(self) -> None:
        """Note the lab's cgroups, which only its processes tell."""
        for pid in self._person.process_ids():
            try:
                lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            except OSError:
                continue  # it ended between the two looks
            for line in lines:
                _number, controllers, group = line.split(":", 2)
                names = [part for part in group.split("/") if part.startswith("batchlab-")]
                if names:
                    top = Path("/sys/fs/cgroup") / controllers.removeprefix("name=")
                    self._cgroups.add(top / group.partition(names[0])[0].lstrip("/") / names[0])
        assert any(path.exists() for path in self._cgroups), "a lab with a real node has cgroups"

    def assert_gone(self) -> None:
        """Nothing of it is left."""
        assert self._person.processes() == []
        assert [path for path in self._cgroups if path.exists()] == []
        assert self._now() == self._links
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        assert [line for line in mounts if str(self._person.home) in line] == []


@pytest.mark.parametrize("moment", ["etcd ready", "kube-apiserver ready", "kubelet ready", "lws ready"])
def test_ctrl_c_during_a_start_leaves_nothing(learner: Person, moment: str) -> None:
    traces = Traces(learner)
    starting = learner.begin("start", "lab-lws")
    stream_of(starting, "stderr").read_until(moment)
    traces.look()
    os.killpg(starting.pid, signal.SIGINT)
    said = learner.finish(starting, "start", "lab-lws", code=130)
    assert said.seconds < 15
    traces.assert_gone()
    assert state_of(learner) in ("none", "stopped")


def test_a_second_ctrl_c_does_not_leave_the_rest(learner: Person) -> None:
    traces = Traces(learner)
    starting = learner.begin("start", "lab-lws")
    stream_of(starting, "stderr").read_until("kube-apiserver ready")
    os.killpg(starting.pid, signal.SIGINT)
    os.killpg(starting.pid, signal.SIGINT)
    learner.finish(starting, "start", "lab-lws", code=130)
    traces.assert_gone()


def test_term_during_a_start_leaves_nothing(learner: Person) -> None:
    traces = Traces(learner)
    starting = learner.begin("start", "lab-lws")
    stream_of(starting, "stderr").read_until("etcd ready")
    starting.terminate()
    learner.finish(starting, "start", "lab-lws", code=143)
    traces.assert_gone()


def test_ctrl_c_ends_every_lab_that_is_verified(learner: Person) -> None:
    traces = Traces(learner)
    labs = ["lab-jobset", "lab-lws"]
    verifying = learner.begin("verify", *labs, "--jobs", "2")
    stderr = stream_of(verifying, "stderr")
    solving = [f"] {lab}: solution " for lab in labs]
    read = stderr.read_until(solving[0], 300)
    if solving[1] not in read:
        stderr.read_until(solving[1], 300)
    traces.look()
    os.killpg(verifying.pid, signal.SIGINT)
    os.killpg(verifying.pid, signal.SIGINT)
    said = learner.finish(verifying, "verify", code=130)
    assert said.seconds < 30
    assert {line.split()[0] for line in said.out.splitlines()} <= {*labs}, "parts, and no report"
    traces.assert_gone()


def test_a_lab_whose_verification_is_killed_does_not_run_on(learner: Person) -> None:
    traces = Traces(learner)
    verifying = learner.begin("verify", "lab-lws", "--json")
    stream_of(verifying, "stderr").read_until("lab-lws: solution ", 300)
    traces.look()
    (member,) = Path(f"/proc/{verifying.pid}/task/{verifying.pid}/children").read_text().split()
    os.kill(int(member), signal.SIGKILL)
    document = learner.finish(verifying, "verify", code=3).json()
    *done, broken = (part for part in document["parts"] if part["outcome"] != "not run")
    assert [(part["phase"], part["outcome"]) for part in done] == [("text", "ok"), ("start", "ok")]
    assert (broken["phase"], broken["outcome"], broken["fault"]) == ("solution", "error", "environment")
    assert broken["problems"] == ["the process that proved it ended: SIGKILL"]
    assert document["parts"].index(broken) == len(done), "nothing is told as done that came after it"
    traces.assert_gone()


def test_kill_of_the_starting_command_is_repaired_by_the_next(learner: Person) -> None:
    starting = learner.begin("start", "lab-lws")
    stream_of(starting, "stderr").read_until("kube-apiserver ready")
    starting.kill()
    starting.communicate()
    assert state_of(learner) in ("starting", "running", "dead")
    said = learner.run("start", "lab-lws", timeout=300)
    assert "lab-lws is ready" in said.out or "already running" in said.out
    assert state_of(learner) == "running"


def test_two_starts_at_once_make_one_lab(learner: Person) -> None:
    both = [learner.begin("start", "lab-lws") for _ in range(2)]
    said = [learner.finish(one, "start", "lab-lws", timeout=300) for one in both]
    assert sorted(one.out.splitlines()[0].split(" after ")[0] for one in said) == [
        "lab-lws is already running",
        "lab-lws is ready",
    ]
    (waited,) = [one.err for one in said if "already" in one.out]
    assert re.search(r"another command \(process \d+\) works on this session; waiting for it", waited)
    keepers = [line for line in learner.processes() if "cluster.sandbox.keeper" in line]
    assert len({*keepers}) == 1
    assert learner.run("stop").out == "lab-lws stopped\n"
    assert learner.processes() == []
    assert learner.run("stop", "lab-lws").out == "lab-lws was not running\n"
    assert learner.run("stop").out == "no lab runs\n"


def test_a_killed_keeper_is_told_and_repaired(learner: Person) -> None:
    traces = Traces(learner)
    learner.run("start", "lab-lws", timeout=300)
    (session,) = learner.run("status", "--json").json()["sessions"]
    work = Path(session["work"])
    (work / "mine.txt").write_text("mine\n")
    traces.look()
    os.kill(session["pid"], signal.SIGKILL)
    until(lambda: not learner.processes(), what="the kernel ends what the keeper held")
    said = learner.run("status")
    assert "died" in said.out
    assert state_of(learner) == "dead"
    for command in ("check", "shell"):
        refused = learner.run(command, "lab-lws", code=3)
        assert refused.err == "grader: the processes of lab-lws died\n        repair it: grader start lab-lws\n"
    repaired = learner.run("start", "lab-lws", timeout=300)
    assert "died or were cut short" in repaired.err
    assert repaired.out.startswith("lab-lws is ready after ")
    assert state_of(learner) == "running"
    assert (work / "mine.txt").read_text() == "mine\n"
    assert learner.run("shell", "lab-lws", "--", "cat", "mine.txt").out == "mine\n"
    learner.run("stop", "--all")
    traces.assert_gone()


def test_reset_begins_again_and_keeps_the_files(learner: Person) -> None:
    learner.run("start", "lab-lws", timeout=300)
    (session,) = learner.run("status", "--json").json()["sessions"]
    work = Path(session["work"])
    learner.run("shell", "lab-lws", "--", "bash", "-c", "echo mine > mine.txt; kubectl create configmap mine")
    (work.parent / "session.json").write_text("not json")
    said = learner.run("reset", "lab-lws", timeout=300)
    kept = re.search(r"^  earlier work (.+)$", said.out, re.MULTILINE)
    assert kept is not None, said
    assert (Path(kept[1]) / "mine.txt").read_text() == "mine\n"
    assert list(work.iterdir()) == []
    gone = learner.run("shell", "lab-lws", "--", "kubectl", "get", "configmap", "mine", code=1)
    assert "NotFound" in gone.err
    assert list(work.parent.glob("session.json.damaged-*")), said
