"""Commands that checks run, and that each of them ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from cluster.machine import MachineConfig
from cluster.spec import ClusterSpec
from grader.checks.world import Execution
from grader.session import executor
from grader.session.executor import SessionExecutor, run_limited


def test_a_command_tells_its_exit_code_and_what_it_said() -> None:
    done = run_limited(["sh", "-c", "echo out; echo err >&2; exit 3"], 10)
    assert (done.exit, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_command_that_takes_too_long_is_ended_with_its_children() -> None:
    done = run_limited(["sh", "-c", "echo begun; sleep 100 & sleep 100"], 0.3)
    assert (done.exit, done.stdout) == (None, "begun\n")


def test_a_command_that_says_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "MOST_OUTPUT", 1000)
    done = run_limited(["yes"], 10)
    assert done.exit is None
    assert 1000 < len(done.stdout) < 200_000


def test_a_program_that_is_not_there_is_no_failure_of_the_learner() -> None:
    with pytest.raises(EnvironmentProblem, match="can't run no-such-program: No such file or directory"):
        run_limited(["no-such-program"], 1)


def test_bytes_that_are_no_text_do_not_matter() -> None:
    assert run_limited(["printf", r"a\377b"], 10).stdout == "a\ufffdb"


@pytest.fixture
def said(tmp_path: Path) -> SessionExecutor:
    """An executor whose kubectl prints its arguments."""
    kubectl = tmp_path / "programs" / "bin" / "kubectl"
    kubectl.parent.mkdir(parents=True)
    kubectl.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    kubectl.chmod(0o755)
    home = tmp_path / "lab-toy"
    home.mkdir()
    config = MachineConfig(name="lab-toy", home=home, binaries=tmp_path / "programs", spec=ClusterSpec())
    (home / "machine.json").write_text(config.to_json())
    return SessionExecutor(home)


def test_a_pod_is_entered_with_the_learners_identity(said: SessionExecutor, tmp_path: Path) -> None:
    done = said.execute(["cat", "/x"], namespace="toys", pod="toy-0", container="main", seconds=10)
    assert json.loads(done.stdout) == [
        f"--kubeconfig={tmp_path}/lab-toy/kubeconfig",
        "--namespace",
        "toys",
        "exec",
        "toy-0",
        "--container=main",
        "--",
        "cat",
        "/x",
    ]


def test_without_a_pod_it_is_the_learners_place(said: SessionExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[str]] = []

    def note(command: list[str], _seconds: float) -> Execution:
        lines.append(list(command))
        return Execution(exit=0, stdout="")

    monkeypatch.setattr(executor, "run_limited", note)
    said.execute(["ls"], namespace="toys", pod="", container="", seconds=10)
    assert lines[0][1:4] == ["-P", "-m", "cluster.sandbox.desk"]
    assert lines[0][-2:] == ["--", "ls"]
