"""A lab's own scripts on a real cluster: set-up before READY, checks in cells, and all that they must not do."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.machine import Layout
from cluster.sandbox.cgroups import SCRIPTS
from tests.cluster.conftest import needs_root, until
from tests.cluster.ordinary import as_ordinary_user
from tests.learner import Learner

pytestmark = needs_root

LABS = Path(__file__).parents[1] / "data" / "labs-with-scripts"
LAB = "lab-scripts"


@pytest.fixture(scope="module")
def learner(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learner]:
    state = tmp_path_factory.mktemp("scripts")
    labs = Path(shutil.copytree(LABS, tmp_path_factory.mktemp("labs"), dirs_exist_ok=True))
    somebody = Learner(state, binaries, {"BATCHLAB_LABS": str(labs)})
    try:
        somebody.grader("start", LAB)
        yield somebody
    finally:
        somebody.grader("stop", "--all")


def said(learner: Learner, step: str, code: int) -> str:
    """What a check of one step says, on one line."""
    return " ".join(learner.grader("check", LAB, "--step", step, codes=(code,)).out.split())


def processes(pattern: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if re.search(pattern, line):
            found.append(line)
    return found


def test_set_up_ran_before_the_learner_came(learner: Learner) -> None:
    work = learner.home(LAB) / "work"
    assert (work / "made" / "state.txt").read_text() == "ready\n"
    assert (work / "made" / "state.txt").stat().st_uid == os.geteuid(), "the learner's own"
    assert (work / "given.txt").read_text() == "from files/\n"
    shown = learner.grader("shell", LAB, "--", "kubectl", "get", "configmap", "stage", "-o", "jsonpath={.data.who}").out
    assert shown == "learner"


def test_failed_and_then_passed(learner: Learner) -> None:
    assert "saw there is no namespace shop" in said(learner, "look", 1)
    learner.grader("shell", LAB, "--", "sh", "-c", "kubectl create namespace shop && echo shop > name.txt")
    assert "PASS" in said(learner, "look", 0)


def test_nothing_of_the_session_or_the_host_is_seen(learner: Learner) -> None:
    text = said(learner, "secrets", 0)
    assert "PASS" in text


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("loop", "check.sh was ended: it took too long"),
        ("chatter", "check.sh was ended: it said more than 1 MiB"),
        ("hog", "check.sh ran out of memory"),
        ("bomb", "check.sh started more processes than it may"),
        ("disk", "check.sh ran into the bounds of its place"),
        ("absent", "check.sh could not run something (exit code 127)"),
        ("change", "check.sh may only look at the cluster, and wants to create namespaces"),
    ],
)
def test_what_a_script_must_not_do_is_no_failure_of_the_learner(learner: Learner, step: str, told: str) -> None:
    before = learner.components(LAB)
    text = said(learner, step, 3)
    assert told in text
    assert "ERR" in text
    assert learner.components(LAB) == before, "the cluster went on"
    # Nothing of it lives on, and its group is gone.
    until(lambda: not processes("batchlab/scripts/check.sh"), 5, "nothing is left of the script")
    groups = [folder / SCRIPTS for folder in learner.groups(LAB) if (folder / SCRIPTS).is_dir()]
    assert groups
    assert [path for group in groups for path in group.iterdir() if path.is_dir()] == []


def test_a_daemon_does_not_outlive_its_check(learner: Learner) -> None:
    assert "PASS" in said(learner, "daemon", 0)
    assert processes("sleep 31337") == []


def test_what_a_check_writes_is_not_the_learners(learner: Learner) -> None:
    assert "PASS" in said(learner, "writes", 0)
    work = learner.home(LAB) / "work"
    assert not (work / "written.txt").exists()
    assert (work / "given.txt").read_text() == "from files/\n"


def test_a_set_up_that_fails_ends_the_start_with_what_it_said(learner: Learner) -> None:
    ran = learner.grader("start", "lab-broken-stage", codes=(3,))
    assert "the lab's 20-second.sh ended with exit code 7" in ran.err
    assert "the stage can't be set: no curtain" in ran.err
    assert learner.status("lab-broken-stage").state == "stopped"


_AS_USER = """
import os, subprocess, sys
from dataclasses import replace
from pathlib import Path
from cluster import local
from cluster.machine import Layout
from cluster.scripts import Ending, Order, Script
from tests.cluster.conftest import machine_config

config = machine_config(Path(sys.argv[1]) / "lab", Path(sys.argv[2]))
config = replace(config, setup=(Script(name="a.sh", text="id -u; kubectl create cm x; echo made > ~/made.txt"),))
local.start(config, lambda event: None)

def run(text, seconds=20.0):
    order = Order(scripts=(Script(name="check.sh", text=text, seconds=seconds),))
    init = local.status(config.home).init_pid
    line = ["nsenter", f"--target={init}", "--user", "--preserve-credentials", "--mount", "--uts", "--ipc", "--net"]
    line += ["--pid", "--", sys.executable, "-P", "-m", "cluster.sandbox.script_cell", str(config.home)]
    done = subprocess.run(line, input=order.to_json(), stdout=subprocess.PIPE, text=True)
    return Ending.from_json(done.stdout)

try:
    made = config.home / "work/made.txt"
    print(made.read_text().strip(), made.stat().st_uid == os.geteuid())
    seen = run(f"id -u; ls {config.home} {Layout(config.home).kubeconfig}; kubectl get cm x -o name")
    print(seen.exit, seen.output.split()[0], "pki\\n" in seen.output, "configmap/x" in seen.output)
    print(run("while :; do :; done", 1.0).cause, run("yes").cause)
    print(run("b() { b | b & }; b; sleep 100", 2.0).cause)
    print("kubeconfig" in run(f"find / -xdev -name '*kubeconfig*' 2>/dev/null | grep -v run/batchlab").output)
    print(run("setsid sleep 31338 >/dev/null 2>&1 & exit 0").exit)
    print("31338" in subprocess.run(["ps", "-e", "-o", "args"], stdout=subprocess.PIPE, text=True).stdout)
finally:
    local.stop(config.home)
"""


def test_an_ordinary_users_scripts(binaries: Path) -> None:
    assert as_ordinary_user(_AS_USER, str(binaries)) == [
        "made True",
        "0 65534 False True",
        "time output",
        "time",
        "False",
        "0",
        "False",
    ]


def test_the_identity_of_scripts_is_none_of_the_learners(learner: Learner) -> None:
    layout = Layout(learner.home(LAB))
    assert layout.scripts_kubeconfig.stat().st_mode & 0o777 == 0o600
    seen = learner.grader("shell", LAB, "--", "sh", "-c", f"ls {layout.home} 2>&1; true").out
    assert "scripts.kubeconfig" not in seen
