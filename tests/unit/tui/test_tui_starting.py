"""A lab that starts: what is told, what a failure says, and a start that is given up."""

from __future__ import annotations

import pytest

from cluster.binaries.progress import BuildEvent
from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend
from tests.unit.tui.test_tui_lab import opened
from tui.session import Boot

EVENTS = (
    BootEvent(task="launch", state="host", seconds=15000.0),
    BootEvent(task="etcd", state="started", seconds=0.1),
    BootEvent(task="containerd", state="started", seconds=0.2),
    BootEvent(task="etcd", state="ready", seconds=0.9),
    BootEvent(task="kube-apiserver", state="started", seconds=1.0),
)


async def starting(played: Played) -> None:
    await opened(played, running=False)
    await played.press("g")
    await played.until(lambda: played.backend.starts)


def test_says_what_is_ready_and_what_is_waited_for(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await starting(played)
        await played.shows("lab-demo starts")
        for event in EVENTS:
            backend.boots.put_nowait(event)
        await played.shows("waits for  kube-apiserver")
        assert "waits for  containerd" in played.text
        assert "1 ready" in played.text
        assert "etcd 0.8" in played.text
        assert "A model that is too large" in played.text, "the text can be read meanwhile"
        backend.boots.put_nowait(BootEvent(task="READY", state="ready", seconds=8.0))
        backend.boots.put_nowait(None)
        await played.shows("lab-demo is ready")
        await played.shows("step 1 of 3")
        assert "starts" not in played.text

    drive(play)


def test_programs_that_are_built_first_are_told(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await starting(played)
        backend.boots.put_nowait(BuildEvent(task="kube-apiserver", state="running", index=3, total=14, seconds=61.0))
        await played.shows("3 of 14 programs: kube-apiserver, 61 s")
        backend.boots.put_nowait(None)
        await played.shows("step 1 of 3")

    drive(play)


def test_a_failure_says_the_log_and_what_to_do(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await starting(played)
        backend.boots.put_nowait(BootEvent(task="etcd", state="failed", seconds=2.0))
        backend.boots.put_nowait(None)
        await played.shows("g tries again")
        for text in ("etcd: it ended", "panic: no space left", "grader doctor"):
            assert text in played.text
        backend.start_failure = None
        await played.press("g")
        backend.boots.put_nowait(None)
        await played.shows("step 1 of 3")
        assert backend.starts == [False, False]

    backend.start_failure = EnvironmentProblem(
        "lab-demo could not start\netcd: it ended\nthe last lines of /logs/etcd.log:\n  panic: no space left on device",
        "nothing was left running; `grader doctor` looks at the machine",
    )
    drive(play)


def test_can_be_given_up(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await starting(played)
        await played.shows("z give up")
        await played.press("z")
        await played.until(lambda: backend.given_up == 1)
        await played.shows("lab-demo is not running")
        await played.press("g")
        await played.until(lambda: len(backend.starts) == 2)
        backend.boots.put_nowait(None)
        await played.shows("step 1 of 3")

    drive(play)


@pytest.mark.parametrize(("answer", "left"), [("y", True), ("n", False), ("escape", False)])
def test_leaving_meanwhile_is_asked_about(drive: Drive, backend: PretendedBackend, answer: str, left: bool) -> None:
    async def play(played: Played) -> None:
        await starting(played)
        await played.press("q")
        await played.shows("Leave, and end the start?")
        await played.press(answer)
        await played.until(lambda: played.app._exit is left)
        assert backend.given_up == int(left)

    drive(play)


def test_begin_again_asks_and_says_where_the_files_are(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await played.press("X")
        await played.shows("Begin lab-demo again?")
        await played.press("escape")
        assert backend.starts == []
        await played.press("X", "y")
        await played.until(lambda: backend.starts == [True])
        backend.boots.put_nowait(None)
        await played.shows("your earlier files are in /kept")
        await played.shows("step 1 of 3")

    drive(play, size=(120, 40))


def test_stop_asks(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await played.press("Z", "n")
        assert backend.stopped == []
        await played.press("Z", "y")
        await played.until(lambda: backend.stopped == ["lab-demo"])
        await played.shows("is not running")

    drive(play)


def test_going_back_leaves_it_running(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        await played.press("escape")
        await played.shows("Groups with one fate")
        assert backend.stopped == []
        assert backend.machine == "running"

    drive(play)


class TestBoot:
    def test_times_are_those_of_the_machine(self) -> None:
        boot = Boot()
        for event in EVENTS:
            boot.take(event)
        assert set(boot.waiting) == {"containerd", "kube-apiserver"}
        assert boot.ready == {"etcd": pytest.approx(0.8)}
        assert boot.seconds == 1.0, "the host's clock is another"
        assert boot.host == "launch"

    def test_notes_are_shown_until_something_starts(self) -> None:
        boot = Boot()
        boot.take(BootEvent(task="session", state="note", seconds=0.0, detail="another command works here"))
        assert boot.note == "another command works here"
        boot.take(EVENTS[1])
        assert boot.note == ""
