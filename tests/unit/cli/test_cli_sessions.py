"""start, stop, reset, shell, status: what runs machines."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent, ComponentStatus, MachineConfig, MachineStatus
from grader.cli.boot_display import BootDisplay
from grader.cli.shell import RC_FILE, desk_environment
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader
from tests.unit.cli.test_cli_learn import begin
from tests.unit.conftest import Golden
from tests.unit.session.pretended import PretendedMachines

# -- start --------------------------------------------------------------------------------------------


def test_a_start_says_what_is_ready_and_what_to_do(
    grader: Grader, machines: PretendedMachines, state_home: Path
) -> None:
    ran = grader("start", "lab-toy")
    assert ran.code == 0
    assert ran.err == "  0.5 s  etcd ready\n"
    assert ran.out == (
        "lab-toy is ready after 1.5 s\n"
        f"  your files   {state_home}/sessions/lab-toy/work\n"
        "  go there     grader shell lab-toy\n"
        "  what to do   grader show lab-toy\n"
    )


def test_a_running_lab_is_said_to_run(grader: Grader, machines: PretendedMachines) -> None:
    grader("start", "lab-toy")
    ran = grader("start", "lab-toy")
    assert ran.code == 0
    assert ran.out.startswith("lab-toy is already running\n")


def test_a_failed_start_says_what_failed_and_ends_with_3(grader: Grader, machines: PretendedMachines) -> None:
    machines.failure = EnvironmentProblem("lab-toy could not start")
    machines.on_start = lambda config: (config.home / "logs/etcd.log").write_text("disk full\n")
    ran = grader("start", "lab-toy")
    assert (ran.code, ran.out) == (3, "")
    log = session_home("lab-toy") / "logs"
    assert ran.err == (
        "  0.4 s  etcd failed\n"
        "grader: lab-toy could not start\n"
        f"the last lines of {log}/etcd.log:\n"
        "  disk full\n"
        f"        nothing was left running; `grader doctor` looks at the machine, the logs are in {log}\n"
    )


def test_ctrl_c_during_a_start_is_130(grader: Grader, machines: PretendedMachines) -> None:
    machines.failure = KeyboardInterrupt()
    assert grader("start", "lab-toy").code == 130
    assert machines.states == {}


def test_a_dry_run_prints_and_starts_nothing(
    grader: Grader, machines: PretendedMachines, monkeypatch: pytest.MonkeyPatch, state_home: Path, tmp_path: Path
) -> None:
    def told(config: MachineConfig, snapshots: Path | None) -> str:
        return f"run {config.name} with {config.binaries}, {'warm or cold' if snapshots else 'cold'}\n"

    monkeypatch.setattr(local, "dry_run", told)
    monkeypatch.setattr("cluster.binaries.cache.locate", lambda _bin_dir: tmp_path / "programs")
    ran = grader("start", "lab-toy", "--dry-run")
    assert (ran.code, ran.out) == (0, f"run lab-toy with {tmp_path}/programs, warm or cold\n")
    assert grader("start", "lab-toy", "--dry-run", "--cold").out.endswith(", cold\n")
    assert machines.calls == []
    assert not state_home.exists()


def test_programs_are_taken_from_where_the_user_says(
    grader: Grader, machines: PretendedMachines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[object] = []

    def ensure(*args: object) -> Path:
        asked.extend(args[:2])
        return tmp_path

    monkeypatch.setattr("cluster.binaries.cache.ensure", ensure)
    grader("start", "lab-toy", "--bin-dir", "/mine", "--from-bundle", "/theirs.tar.gz")
    assert asked == [Path("/mine"), Path("/theirs.tar.gz")]


class _Terminal:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def test_on_a_terminal_one_line_is_rewritten() -> None:
    terminal = _Terminal()
    display = BootDisplay(terminal)  # type: ignore[arg-type]  # as much of a stream as it needs
    for event in (
        BootEvent(task="etcd", state="started", seconds=0.1),
        BootEvent(task="kwok", state="started", seconds=0.2),
        BootEvent(task="etcd", state="ready", seconds=0.6),
        BootEvent(task="keys", state="host", seconds=4000.0),
        BootEvent(task="kwok", state="note", seconds=0.7, detail="exit code 1; restarting"),
        BootEvent(task="session", state="note", seconds=0.7, detail="stopping the running lab"),
        BootEvent(task="READY", state="ready", seconds=2.0),
    ):
        display(event)
    new = "\r\x1b[K"
    assert terminal.text == (
        f"{new}  0.1 s  0 ready; starting etcd"
        f"{new}  0.2 s  0 ready; starting etcd, kwok"
        f"{new}  0.6 s  1 ready; starting kwok"
        f"{new}grader: kwok: exit code 1; restarting\n"
        "grader: stopping the running lab\n"
    )
    assert display.seconds == 2.0
    assert display.took == {"etcd": pytest.approx(0.5)}


# -- stop ---------------------------------------------------------------------------------------------


def test_stopping_what_runs_and_what_does_not(grader: Grader, machines: PretendedMachines) -> None:
    grader("start", "lab-toy")
    assert grader("stop").out == "lab-toy stopped\n"
    for again in (["lab-toy"], [], ["--all"]):
        assert grader("stop", *again).code == 0
    assert grader("stop", "lab-toy").out == "lab-toy was not running\n"
    assert grader("stop").out == "no lab runs\n"
    assert grader("stop", "--all").out == "no lab runs\n"


def test_stopping_all_stops_the_dead_too(grader: Grader, machines: PretendedMachines) -> None:
    grader("start", "lab-toy")
    begin()
    machines.states[session_home("lab-toy")] = "dead"
    assert grader("stop", "--all").out == "lab-toy stopped\n"


# -- reset --------------------------------------------------------------------------------------------


def test_a_reset_says_where_the_files_went(grader: Grader, machines: PretendedMachines) -> None:
    grader("start", "lab-toy")
    home = session_home("lab-toy")
    (home / "work" / "hello.txt").write_text("hello")
    ran = grader("reset")
    assert ran.code == 0
    [kept] = home.glob("work.before-reset-*")
    assert ran.out.splitlines()[:2] == [
        "lab-toy begins again, ready after 1.5 s",
        f"  earlier work {kept}",
    ]
    assert ran.err.startswith("grader: stopping the running lab\n")


# -- shell --------------------------------------------------------------------------------------------


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the process became instead of ending."""
    became: list[list[str]] = []

    class Became(SystemExit):
        pass

    def exec_(_file: str, argv: list[str]) -> None:
        became.append(argv)
        raise Became(0)

    monkeypatch.setattr("os.execvp", exec_)
    monkeypatch.setattr(local, "desk_command", lambda home, argv, _env: ["enter", home.name, *argv])
    return became


def _enter(grader: Grader, *words: str) -> None:
    with pytest.raises(SystemExit):
        grader("shell", *words)


def test_a_shell_is_bash_with_our_settings(
    grader: Grader, machines: PretendedMachines, entered: list[list[str]]
) -> None:
    grader("start", "lab-toy")
    _enter(grader, "lab-toy")
    _enter(grader)
    assert entered == [["enter", "lab-toy", "bash", "--rcfile", str(RC_FILE), "-i"]] * 2
    assert RC_FILE.is_file()


def test_one_command_is_run_as_it_is(grader: Grader, machines: PretendedMachines, entered: list[list[str]]) -> None:
    grader("start", "lab-toy")
    _enter(grader, "lab-toy", "--", "kubectl", "get", "pods", "--help")
    _enter(grader, "--", "sh", "-c", "exit 3", "--", "x")
    assert entered == [
        ["enter", "lab-toy", "kubectl", "get", "pods", "--help"],
        ["enter", "lab-toy", "sh", "-c", "exit 3", "--", "x"],
    ]


def test_a_shell_of_a_stopped_lab_says_how_to_start_it(
    grader: Grader, machines: PretendedMachines, entered: list[list[str]]
) -> None:
    ran = grader("shell", "lab-toy")
    assert (ran.code, entered) == (3, [])
    assert ran.err == "grader: lab-toy is not running\n        start it: grader start lab-toy\n"
    machines.states[session_home("lab-toy")] = "dead"
    assert "repair it: grader start lab-toy" in grader("shell", "lab-toy").err


def test_a_shell_takes_the_look_of_the_terminal_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LC_TIME", "ko_KR.UTF-8")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    environment = desk_environment("lab-toy")
    assert environment["BATCHLAB_INSIDE"] == "lab-toy"
    assert environment["TERM"] == "xterm-256color"
    assert environment["LC_TIME"] == "ko_KR.UTF-8"
    assert "AWS_SECRET_ACCESS_KEY" not in environment


def test_the_settings_of_the_shell_hold(tmp_path: Path) -> None:
    """bash reads them without a complaint; the prompt names the lab; completion loads at the first TAB."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, function in (("kubectl", "__start_kubectl"), ("grader", "_grader_completion")):
        script = f"#!/bin/sh\necho '{function}() {{ :; }}; complete -F {function} {name}'\n"
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    asked = (
        '__desk_prompt; echo "$PS1"; false; __desk_prompt; echo "$PS1"; alias k;'
        " __desk_complete_kubectl; echo $?; complete -p k;"
        " __desk_complete_grader; echo $?; complete -p grader"
    )
    done = subprocess.run(
        ["bash", "--noprofile", "--rcfile", str(RC_FILE), "-i", "-c", asked],
        env={"PATH": f"{programs}:/usr/bin:/bin", "BATCHLAB_INSIDE": "lab-toy", "TERM": "dumb", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.splitlines() == [
        r"(lab-toy) \w \$ ",
        r"(lab-toy) \w [1] \$ ",
        "alias k='kubectl'",
        "124",
        "complete -o default -F __start_kubectl k",
        "124",
        "complete -F _grader_completion grader",
    ]


# -- status -------------------------------------------------------------------------------------------

COMPONENTS = (
    ComponentStatus(name="etcd", state="running", pid=12, restarts=0, since=1_800_000_000.0),
    ComponentStatus(
        name="kube-apiserver", state="running", pid=40, restarts=2, since=1_800_000_500.0, note="ended by signal 9"
    ),
    ComponentStatus(name="kwok", state="restarting", pid=0, restarts=0, since=1_800_000_500.0),
)
NODES = [
    {"name": "gpu-a", "ready": True, "real": False, "gpus": 4},
    {"name": "lab", "ready": False, "real": True, "gpus": 4},
]


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch, grader: Grader) -> Path:
    """A toy lab that runs, as the supervisor and the examiner tell it."""
    monkeypatch.setenv("TZ", "UTC")
    home = begin(passed=1)
    status = MachineStatus(
        state="running",
        pid=77,
        since=1_800_000_000.0,
        components=COMPONENTS,
        notes=("kube-apiserver: ended by signal 9; restarting", "kube-apiserver: running again"),
    )
    monkeypatch.setattr(local, "status", lambda _home: status)
    monkeypatch.setattr("grader.session.examined.examined_json", lambda *_args: {"sessions": [{"nodes": NODES}]})
    return home


def test_one_session_is_told_in_full(grader: Grader, running: Path, golden: Golden) -> None:
    ran = grader("status")
    assert (ran.code, ran.err) == (0, "")
    golden("cli/status.txt", ran.out.replace(str(running), "<session>"))
    assert grader("status", "lab-toy").out == ran.out


def test_the_state_as_data(grader: Grader, running: Path) -> None:
    document = json.loads(grader("status", "--json").out)
    assert document["schema"] == "batchlab/status/v1"
    [session] = document["sessions"]
    assert session["progress"] == {"passed": 1, "total": 2}
    assert session["components"][1] == {
        "name": "kube-apiserver",
        "state": "running",
        "pid": 40,
        "restarts": 2,
        "since": "2027-01-15T08:08:20.000Z",
        "note": "ended by signal 9",
    }
    assert session["nodes"] == NODES
    assert session["folder"] == str(running)


def test_an_examiner_that_is_silent_costs_the_nodes_only(
    grader: Grader, running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_args: object) -> None:
        raise EnvironmentProblem("the lab's examiner does not answer")

    monkeypatch.setattr("grader.session.examined.examined_json", silent)
    ran = grader("status")
    assert (ran.code, ran.err) == (0, "grader: the lab's examiner does not answer\n")
    assert "kube-apiserver" in ran.out
    assert "gpu-a" not in ran.out


def test_several_sessions_are_one_line_each(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, machines: PretendedMachines
) -> None:
    begin(passed=1)
    other = session_home("lab-other")
    other.mkdir()
    (other / "lock").touch()
    machines.states = {other: "dead"}
    ran = grader("status")
    assert ran.out.splitlines() == [
        "lab-other             died; start it again to repair it",
        "lab-toy               stopped                   1 of 2 steps",
    ]


def test_nothing_was_started(grader: Grader, machines: PretendedMachines) -> None:
    assert grader("status").out == "no lab was started yet; `grader list` shows the labs\n"
    assert grader("status", "lab-toy").err == "grader: lab-toy was never started\n"
