"""What can break while a lab is open: each is said, and the application goes on from it by itself."""

from __future__ import annotations

from dataclasses import replace

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.machine import ComponentStatus
from grader.results import State
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import UNREACHABLE, PretendedBackend, verdict
from tests.unit.tui.test_tui_lab import opened, told
from tui.backend.model import Look


def _component(restarts: int) -> tuple[ComponentStatus, ...]:
    return (ComponentStatus(name="kube-apiserver", state="running", pid=1, restarts=restarts, since=0.0),)


def test_a_dead_api_server(drive: Drive, backend: PretendedBackend) -> None:
    """Checks can't be judged: ERR, never FAIL; the restart is said; verdicts come again."""

    async def play(played: Played) -> None:
        await opened(played)
        await told(played, lws_yaml=State.ERROR)
        await played.shows("ERR")
        backend.components = _component(1)
        await played.shows("kube-apiserver ended and was started again")
        await told(played, lws_yaml=State.PASSED)
        await played.shows("PASS")

    backend.components = _component(0)
    drive(play, size=(120, 40))


def test_an_examiner_that_does_not_answer(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        lab = await opened(played)
        backend.looks.put_nowait(Look(problem=UNREACHABLE))
        backend.looks.put_nowait(None)
        await played.shows("the lab's examiner does not answer")
        await played.shows("tried again by itself")
        assert "lws.yaml describes" in played.text, "what was seen before stays"
        await played.until(lambda: backend.asked.count("watch lab-demo") == 2, "it is asked again")
        backend.looks.put_nowait(Look(report=verdict(lab, lws_yaml=State.PASSED)))
        await played.shows("PASS")
        assert "does not answer" not in played.text

    drive(play)


def test_a_killed_sandbox(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        backend.machine = "dead"
        await played.shows("The processes of lab-demo died.")
        await played.shows("g repairs it")
        await played.press("g")
        await played.until(lambda: backend.starts == [False])
        backend.boots.put_nowait(None)
        await played.shows("lab-demo is ready")
        backend.looks.put_nowait(None)
        await played.until(lambda: backend.asked.count("watch lab-demo") >= 2)
        await told(played)
        await played.shows("FAIL")

    drive(play)


def test_a_lab_that_is_stopped_elsewhere(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        backend.machine = "stopped"
        await played.shows("lab-demo is not running")
        await played.shows("g start")
        assert "FAIL" not in played.text

    drive(play)


def test_a_program_that_is_given_up(drive: Drive, backend: PretendedBackend) -> None:
    """etcd that crashed too often stays down: said for as long as it is so, and repaired by the key that starts."""

    async def play(played: Played) -> None:
        await opened(played)
        assert "g start" not in played.text
        note = "exit code 1; given up after 6 crashes"
        backend.components = (ComponentStatus(name="etcd", state="failed", pid=0, restarts=5, since=0.0, note=note),)
        await played.shows("etcd does not run any more: exit code 1;")
        await played.shows("g repairs it")
        assert "FAIL" in played.text, "what was seen before stays"
        await played.press("g")
        await played.until(lambda: backend.starts == [False])
        assert backend.stopped == ["lab-demo"], "a start alone would say that it runs"
        backend.components = ()
        backend.boots.put_nowait(None)
        await played.shows("lab-demo is ready")
        assert "does not run any more" not in played.text

    drive(play, size=(120, 40))


def test_a_disk_that_fills_is_said_before_anything_is_written(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        backend.free = 3 << 20
        said = played.app._notifications  # drawn, it is broken where the folder's length has it
        await played.until(lambda: any("is full: make room" in one.message for one in said))
        await played.shows("the disk is full  checked")
        backend.free = 900 << 20
        await played.until(lambda: "the disk is full  checked" not in played.text)
        backend.free = 0
        await played.shows("the disk is full  checked")

    backend.free = 900 << 20
    drive(play, size=(120, 40))


def test_a_repaired_lab_says_what_is_gone(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played, running=False)
        await played.press("g")
        backend.boots.put_nowait(None)
        await played.shows("apply your files again")

    backend.passed = frozenset({"groups"})
    drive(play, size=(120, 40))


def test_a_full_disk(drive: Drive, backend: PretendedBackend) -> None:
    """Verdicts are still made; that they are not remembered is said once."""

    async def play(played: Played) -> None:
        lab = await opened(played)
        full = "can't use progress.json: No space left on device"
        for _number in range(3):
            backend.looks.put_nowait(Look(report=verdict(lab), notes=(full,)))
        await played.until(backend.looks.empty)
        await played.shows("No space left on device")
        assert len(played.app._notifications) == 1

    drive(play, size=(120, 40))


def test_a_lab_file_that_is_edited(drive: Drive, backend: PretendedBackend) -> None:
    """What is shown is what stands there now; while it is wrong, the last good text stays and the mistake is told."""

    async def play(played: Played) -> None:
        lab = await opened(played)
        edited = replace(lab.steps[0], title="Two groups, three pods each", body="Another text.")
        backend.edited = replace(lab, steps=(edited, *lab.steps[1:]))
        backend.stamp = (2,)
        await played.shows("were changed: they are read again")
        await played.shows("Another text.")
        assert "A LeaderWorkerSet has two numbers" not in played.text
        backend.lab_failure = UsageProblem("lab.md:7:1: unknown key 'chekc'")
        backend.stamp = (3,)
        await played.shows("unknown key 'chekc'")
        assert "Another text." in played.text, "the last good text stays"
        backend.lab_failure, backend.edited = None, None
        backend.stamp = (4,)
        await played.shows("A LeaderWorkerSet has two numbers")

    drive(play, size=(120, 40))


def test_a_lab_that_loses_the_step_one_reads(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        lab = await opened(played)
        await played.press("n", "n")
        await played.shows("step 3 of 3")
        backend.edited = replace(lab, steps=lab.steps[:2])
        backend.stamp = (2,)
        await played.shows("step 2 of 2")
        assert lab.steps[1].title in played.text

    drive(play, size=(120, 40))


def test_a_lab_that_cannot_be_read_at_all(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await played.press("enter")
        await played.shows("lab.md:1:1: it is empty")
        await played.shows("Groups with one fate")

    backend.lab_failure = UsageProblem("lab.md:1:1: it is empty")
    drive(play)


def test_a_state_that_cannot_be_asked_for(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await opened(played)
        real = backend.standing

        async def broken(_lab_id: str) -> object:
            raise EnvironmentProblem("the session folder can't be read")

        backend.standing = broken  # type: ignore[method-assign,assignment]  # broken on purpose
        await played.shows("the session folder can't be read")
        backend.standing = real  # type: ignore[method-assign]  # whole again
        await told(played, lws_yaml=State.PASSED)
        await played.shows("PASS")

    drive(play)
