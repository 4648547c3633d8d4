"""Start, stop, reset and status on a pretended machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent, Layout, MachineConfig
from grader.lab.model import Lab
from grader.progress import load_progress, note_hints, read_book, set_achievements
from grader.session import lifecycle
from grader.session.model import load_session
from grader.session.places import session_home
from tests.unit.session.pretended import PretendedMachines, make_lab


class Ears:
    """Hears boot events."""

    def __init__(self) -> None:
        self.events: list[BootEvent] = []

    def __call__(self, event: BootEvent) -> None:
        self.events.append(event)

    @property
    def notes(self) -> list[str]:
        return [event.detail for event in self.events if event.state == "note"]


@pytest.fixture
def ears() -> Ears:
    return Ears()


@pytest.fixture
def home(state_home: Path) -> Path:
    return state_home / "sessions" / "lab-toy"


# -- start --------------------------------------------------------------------------------------------


def test_a_start_brings_the_machine_up_and_remembers_the_session(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    started = lifecycle.start_session(lab, on_event=ears)

    assert (started.lab, started.home, started.work, started.already) == ("lab-toy", home, home / "work", False)
    assert started.work.is_dir()
    assert machines.states == {home: "running"}
    session, _note = load_session(home)
    assert session is not None
    assert (session.lab, session.workdir) == ("lab-toy", "gsb-toy")
    assert load_progress(home).started == session.started
    assert read_book(home)["lab-toy"].started == session.started
    assert [event.task for event in ears.events if event.state != "host"] == ["etcd", "etcd", "READY"]
    assert [event.task for event in ears.events if event.state == "host"] == [
        *("session", "programs", "session"),
        "session",  # once it is ready, to write it down
    ]


def test_recorder_and_examiner_run_beside_the_cluster(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears, tmp_path: Path
) -> None:
    lifecycle.start_session(lab, on_event=ears)

    [config] = machines.configs
    assert (config.name, config.home, config.workdir, config.namespace) == ("lab-toy", home, "gsb-toy", "toys")
    assert config.binaries == tmp_path / "bin-of-tests"
    recorder, examiner = config.sidecars
    assert recorder.argv[1:] == (
        "-m",
        "grader.history.recorder",
        "--kubeconfig",
        str(home / "grader.kubeconfig"),
        "--database",
        str(home / "history.db"),
        "--socket",
        str(home / "run" / "recorder.sock"),
    )
    assert examiner.argv[1:] == (
        "-m",
        "grader.session.examiner",
        "--socket",
        str(home / "run" / "desk" / "grader.sock"),
        "--home",
        str(home),
    )
    assert [recorder.socket, examiner.socket] == [str(home / "run/recorder.sock"), str(home / "run/desk/grader.sock")]
    # The state folder is looked up in the sandbox, too, and must be the same one there.
    assert recorder.env["XDG_STATE_HOME"] == os.environ["XDG_STATE_HOME"]


def test_a_running_lab_is_left_as_it_is(home: Path, lab: Lab, machines: PretendedMachines, ears: Ears) -> None:
    lifecycle.start_session(lab, on_event=ears)
    again = lifecycle.start_session(lab, on_event=ears)
    assert again.already
    assert machines.calls == ["start"]


@pytest.mark.parametrize("state", ["dead", "starting"])
def test_a_session_whose_processes_died_is_repaired_and_said(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears, state: str
) -> None:
    machines.states[home] = state
    started = lifecycle.start_session(lab, on_event=ears)
    assert not started.already
    assert machines.calls == ["stop", "start"]
    assert ears.notes == ["the processes of this session died or were cut short; cleaning up and starting again"]


def test_a_start_keeps_files_and_progress_and_drops_the_history_of_the_former_cluster(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    lifecycle.start_session(lab, on_event=ears)
    first, _note = load_session(home)
    (home / "work" / "names.txt").write_text("mine")
    (home / "history.db").write_text("of the first cluster")
    set_achievements(home, {"names-match": 5.0})
    lifecycle.stop_session("lab-toy", on_event=ears)
    assert (home / "history.db").exists()  # `report` and a curious author may still look at it

    lifecycle.start_session(lab, on_event=ears)

    assert (home / "work" / "names.txt").read_text() == "mine"
    assert not (home / "history.db").exists()
    assert load_progress(home).achievements == {"names-match": 5.0}
    second, _note = load_session(home)
    assert first is not None
    assert second is not None
    assert second.created == first.created
    assert second.started > first.started


def test_a_damaged_session_file_does_not_stand_in_the_way(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    home.mkdir(parents=True)
    (home / "session.json").write_text("not JSON")
    lifecycle.start_session(lab, on_event=ears)
    [note] = ears.notes
    assert note.startswith(f"{home}/session.json was damaged; it is kept as session.json.damaged-")
    assert load_session(home)[0] is not None


def test_a_real_node_without_root_is_refused_before_anything_happens(
    home: Path, machines: PretendedMachines, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("sys.argv", ["/opt/batchlab/bin/grader"])
    monkeypatch.setattr("shutil.which", lambda name: name)
    for act in (lifecycle.start_session, lifecycle.reset_session):
        with pytest.raises(EnvironmentProblem) as refusal:
            act(make_lab(real=True), on_event=ears)
        assert refusal.value.message == "lab-toy has a node that runs real containers; only root can start it"
        assert refusal.value.advice.endswith("sudo /opt/batchlab/bin/grader start lab-toy")
    assert machines.calls == []
    assert not home.exists()


def test_fake_nodes_need_no_root(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    lifecycle.start_session(lab, on_event=ears)
    assert machines.states == {home: "running"}


def test_a_failed_start_shows_the_log_and_leaves_nothing_running(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    def write_log(config: MachineConfig) -> None:
        Layout(config.home).log("etcd").write_text("starting\ndisk full\n")

    machines.on_start = write_log
    machines.failure = EnvironmentProblem("lab-toy could not start")
    with pytest.raises(EnvironmentProblem) as failure:
        lifecycle.start_session(lab, on_event=ears)
    assert failure.value.message == (
        f"lab-toy could not start\nthe last lines of {home}/logs/etcd.log:\n  starting\n  disk full"
    )
    assert "grader doctor" in failure.value.advice
    assert failure.value.exit_code == 3
    assert machines.states == {}
    assert load_session(home) == (None, "")


def test_a_log_that_the_problem_already_quotes_is_not_said_twice(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    machines.on_start = lambda config: Layout(config.home).log("etcd").write_text("disk full\n")
    machines.failure = EnvironmentProblem("could not start\netcd: disk full", "make room")
    with pytest.raises(EnvironmentProblem) as failure:
        lifecycle.start_session(lab, on_event=ears)
    assert failure.value.message == "could not start\netcd: disk full"
    assert failure.value.advice == "make room"


def test_ctrl_c_during_a_start_stops_everything_even_when_pressed_again(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_again(home: Path) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return machines.stop(home)

    monkeypatch.setattr("cluster.local.stop", press_again)
    machines.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lifecycle.start_session(lab, on_event=ears)
    assert machines.states == {}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_starts_at_once_make_one_machine(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, waits = os.pipe()
    marker = home.parent / "second-is-done"

    def begin_a_second(config: MachineConfig) -> None:
        # While the first start is under way; the child is another process and can only wait for the lock.
        if os.fork() == 0:
            # Our copy of the lock's descriptor would keep it; another command has none.
            os.closerange(3, waits)
            os.closerange(waits + 1, 256)
            machines.states[home] = "running"  # as it will find it
            machines.on_start = None

            def heard(event: BootEvent) -> None:
                os.write(waits, event.detail.encode())

            again = lifecycle.start_session(lab, on_event=heard)
            marker.write_text(str(again.already))
            os._exit(0)
        assert os.read(second, 200).decode() == (
            f"another command (process {os.getpid()}) works on this session; waiting for it"
        )
        assert not marker.exists()

    machines.on_start = begin_a_second
    lifecycle.start_session(lab, on_event=ears)
    os.close(waits)
    assert os.read(second, 200) == b""  # the other has ended
    os.wait()
    assert marker.read_text() == "True"


# -- stop ---------------------------------------------------------------------------------------------


def test_stopping_twice_is_fine(home: Path, lab: Lab, machines: PretendedMachines, ears: Ears) -> None:
    assert lifecycle.stop_session("lab-toy", on_event=ears) is False
    assert not home.exists()
    lifecycle.start_session(lab, on_event=ears)
    (home / "work" / "names.txt").write_text("mine")
    assert lifecycle.stop_session("lab-toy", on_event=ears) is True
    assert lifecycle.stop_session("lab-toy", on_event=ears) is False
    assert (home / "work" / "names.txt").read_text() == "mine"


# -- reset --------------------------------------------------------------------------------------------


def test_a_reset_begins_again_and_keeps_the_files_aside(
    home: Path, lab: Lab, machines: PretendedMachines, ears: Ears
) -> None:
    lifecycle.start_session(lab, on_event=ears)
    created = load_session(home)[0]
    (home / "work" / "names.txt").write_text("mine")
    (home / "history.db").write_text("of the first cluster")
    set_achievements(home, {"names-match": 5.0})
    note_hints(home, "names", 2)

    started = lifecycle.reset_session(lab, on_event=ears)

    assert machines.calls == ["start", "stop", "start"]
    assert ears.notes == ["stopping the running lab"]
    assert started.kept_work is not None
    assert (started.kept_work / "names.txt").read_text() == "mine"
    assert list((home / "work").iterdir()) == []
    assert not (home / "history.db").exists()
    progress = load_progress(home)
    assert progress.achievements == {}
    assert progress.hints == {"names": 2}
    session = load_session(home)[0]
    assert created is not None
    assert session is not None
    assert session.created > created.created


def test_a_stopped_lab_can_be_reset(home: Path, lab: Lab, machines: PretendedMachines, ears: Ears) -> None:
    started = lifecycle.reset_session(lab, on_event=ears)
    assert machines.calls == ["start"]
    assert started.kept_work is None


# -- states -------------------------------------------------------------------------------------------


def test_every_session_is_found_whatever_its_state(state_home: Path, machines: PretendedMachines, ears: Ears) -> None:
    lifecycle.start_session(make_lab(lab_id="lab-a"), on_event=ears)
    lifecycle.start_session(make_lab(lab_id="lab-b"), on_event=ears)
    lifecycle.stop_session("lab-a", on_event=ears)
    machines.states[session_home("lab-b")] = "dead"
    states = lifecycle.session_states(pytest.fail)
    assert [(state.lab, state.machine.state) for state in states] == [("lab-a", "stopped"), ("lab-b", "dead")]
    assert all(state.session is not None for state in states)
