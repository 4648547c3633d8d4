"""The driver of a real session: scripts, files and checks, with the machine pretended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.errors import EnvironmentProblem
from grader.progress import load_progress
from grader.report import make_report, render_json
from grader.results import Result, State
from grader.session.places import examiner_socket
from grader.verify import driver as module
from grader.verify.driver import SessionDriver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.unit.verify.conftest import Scene


class Machine:
    """Stands in for the session functions; the learner's place is the work folder on this host."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, scene: Scene, home: Path) -> None:
        self.home = home
        self.log: list[str] = []
        self.argvs: list[list[str]] = []
        self.remembered: list[Mapping[str, float]] = []
        self.lab = scene.lab()
        self.start_problem: EnvironmentProblem | None = None
        self.said: str | None = None
        for name in ("start_session", "stop_session", "reset_session", "ask"):
            monkeypatch.setattr(module, name, getattr(self, name))
        monkeypatch.setattr("cluster.local.desk_command", self.desk_command)

    def start_session(self, *_args: Any, home: Path, **_more: Any) -> None:
        self.log.append("start")
        (home / "work").mkdir(parents=True)
        if self.start_problem:
            raise self.start_problem

    def stop_session(self, *_args: Any, **_more: Any) -> bool:
        self.log.append("stop")
        return True

    def reset_session(self, *_args: Any, **_more: Any) -> None:
        self.log.append("reset")

    def desk_command(self, home: Path, argv: list[str], env: dict[str, str]) -> list[str]:
        words = [f"{key}={value}" for key, value in env.items()]
        return ["env", "-i", f"--chdir={home / 'work'}", f"PATH={os.environ['PATH']}", *words, *argv]

    def ask(self, path: Path, argv: Sequence[str], *, streams: Sequence[int]) -> int:
        self.argvs.append(list(argv))
        assert path == examiner_socket(self.home)
        self.remembered.append(load_progress(self.home).achievements)
        steps = [argv[argv.index("--step") + 1]] if "--step" in argv else [step.id for step in self.lab.steps]
        results = [
            Result(check=check.id, step=step.number, step_id=step.id, says=check.says, state=State.PASSED)
            for step in self.lab.steps
            if step.id in steps
            for check in step.checks
        ]
        said = render_json(make_report(self.lab, results, at=1.0, seconds=1.0)) if self.said is None else self.said
        os.write(streams[1], said.encode())
        os.write(streams[2], b"grader: a note\n")
        return 0


@pytest.fixture
def home(state_home: Path) -> Path:
    return state_home / "verify" / "lab-x"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, scene: Scene, home: Path) -> Machine:
    return Machine(monkeypatch, scene, home)


def drive(machine: Machine) -> SessionDriver:
    return SessionDriver(machine.lab, lambda _event: None)


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "01-one.sh"
    path.write_text(text)
    return path


def test_own_folder_started_stopped_and_gone(machine: Machine, home: Path) -> None:
    (home / "work").mkdir(parents=True)
    (home / "work" / "stale").write_text("from a verification that was killed")
    with drive(machine):
        assert machine.log == ["stop", "start"]
        assert list((home / "work").iterdir()) == []
    assert machine.log == ["stop", "start", "stop"]
    assert not home.exists()


def test_start_that_fails_leaves_nothing_running_and_no_lock(machine: Machine) -> None:
    machine.start_problem = EnvironmentProblem("no")
    with pytest.raises(EnvironmentProblem, match="no"), drive(machine):
        pass
    assert machine.log == ["stop", "start", "stop"]
    machine.start_problem = None
    with drive(machine):
        pass


def test_two_at_once_are_refused(machine: Machine) -> None:
    with drive(machine):
        with pytest.raises(EnvironmentProblem, match="lab-x is being verified by another process"), drive(machine):
            pass
        # The first one's lab was not touched.
        assert machine.log == ["stop", "start"]


def test_folder_is_kept_where_something_failed(machine: Machine, home: Path) -> None:
    machine.said = ""
    with drive(machine) as driver, pytest.raises(EnvironmentProblem):
        driver.check(None, {})
    assert home.is_dir()


def test_script_runs_at_the_learners_place(machine: Machine, home: Path, tmp_path: Path) -> None:
    text = 'set -eu\npwd > here.txt\necho "$0 $LANG"\ncat\necho problem >&2\nexit 3\n'
    with drive(machine) as driver:
        code, output = driver.run_script(script(tmp_path, text))
        assert (home / "work" / "here.txt").read_text() == f"{home / 'work'}\n"
    assert code == 3
    assert output == "01-one.sh C.UTF-8\nproblem\n"


def test_only_the_end_of_the_output_is_kept(machine: Machine, tmp_path: Path) -> None:
    with drive(machine) as driver:
        _code, output = driver.run_script(script(tmp_path, "seq 100000; printf '\\xff'"))
    assert len(output) <= module.OUTPUT_BYTES
    assert output.endswith("99999\n100000\n\ufffd")


def test_script_that_hangs_is_ended_with_all_it_started(
    machine: Machine, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SCRIPT_SECONDS", 0.5)
    with drive(machine) as driver:
        code, output = driver.run_script(script(tmp_path, "sleep 600 & echo $! > child; echo begun; wait"))
        child = int((home / "work" / "child").read_text())
    assert code == 124
    assert output == "begun\n\nit was ended after 0 s"
    assert gone(child)


def test_background_jobs_end_with_their_script(machine: Machine, home: Path, tmp_path: Path) -> None:
    with drive(machine) as driver:
        code, _output = driver.run_script(script(tmp_path, "sleep 600 & echo $! > child"))
        child = int((home / "work" / "child").read_text())
    assert code == 0
    assert gone(child)


def gone(pid: int) -> bool:
    """Whether a process is dead; the kernel needs a moment after the kill."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
    os.kill(pid, signal.SIGKILL)
    return False


def test_check_asks_as_a_learner_with_exactly_these_achievements(machine: Machine) -> None:
    with drive(machine) as driver:
        results = driver.check(None, {"a": 5.0})
        assert [result.check for result in results] == ["a", "b", "c", "d"]
        assert machine.argvs == [["--lang", "en", "check", "--json"]]
        results = driver.check(["one", "three"], {})
        assert [result.check for result in results] == ["a", "c", "d"]
        assert machine.argvs[1:] == [
            ["--lang", "en", "check", "--json", "--step", "one"],
            ["--lang", "en", "check", "--json", "--step", "three"],
        ]
    assert machine.remembered == [{"a": 5.0}, {}, {}]


def test_check_without_a_verdict_is_the_machines_problem(machine: Machine) -> None:
    machine.said = ""
    with drive(machine) as driver, pytest.raises(EnvironmentProblem, match=r"no verdict\ngrader: a note"):
        driver.check(None, {})


def test_work_folder_comes_back_as_it_was(machine: Machine, home: Path) -> None:
    work = home / "work"
    with drive(machine) as driver:
        (work / "names.txt").write_text("right")
        os.utime(work / "names.txt", ns=(1_111_111_111_222_333_444, 1_111_111_111_222_333_444))
        (work / "sub").mkdir()
        (work / "sub" / "x").write_text("x")
        (work / "link").symlink_to("names.txt")
        (work / ".hidden").write_text("h")
        os.mkfifo(work / "pipe")
        inode = work.stat().st_ino
        driver.snapshot_work()
        (work / "names.txt").write_text("wrong")
        (work / "new.txt").write_text("new")
        (work / "sub" / "x").unlink()
        (work / "link").unlink()
        (work / ".hidden").unlink()
        driver.restore_work()
        assert (work / "names.txt").read_text() == "right"
        assert (work / "names.txt").stat().st_mtime_ns == 1_111_111_111_222_333_444
        assert sorted(path.name for path in work.iterdir()) == [".hidden", "link", "names.txt", "pipe", "sub"]
        assert (work / "link").is_symlink()
        assert (work / "pipe").is_fifo()
        assert (work / "sub" / "x").read_text() == "x"
        # The folder itself is mounted in the sandbox: another one in its place would not be seen there.
        assert work.stat().st_ino == inode


def test_a_second_snapshot_takes_the_place_of_the_first(machine: Machine, home: Path) -> None:
    with drive(machine) as driver:
        (home / "work" / "a").write_text("1")
        driver.snapshot_work()
        (home / "work" / "a").unlink()
        (home / "work" / "b").write_text("2")
        driver.snapshot_work()
        driver.restore_work()
        assert [path.name for path in (home / "work").iterdir()] == ["b"]


def test_lock_goes_with_a_process_that_is_killed(machine: Machine, home: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from grader.verify.driver import _only_one\n"
        "with _only_one(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(EnvironmentProblem, match="another process"), drive(machine):
            pass
        other.kill()
    with drive(machine):
        pass


def test_a_lab_that_is_kept_runs_on_and_its_folder_stays(machine: Machine, home: Path) -> None:
    with drive(machine) as driver:
        stopped = machine.log.count("stop")
        assert driver.keep() == str(home)
    assert machine.log.count("stop") == stopped
    assert home.is_dir()
    with drive(machine):  # the next one clears it away, and nobody holds the lock
        assert machine.log.count("stop") == stopped + 1


def test_answers_without_a_history_are_the_machines_problem(machine: Machine) -> None:
    with drive(machine) as driver:
        with pytest.raises(EnvironmentProblem, match="there is no history"):
            driver.answers()
        assert driver.failed
