"""The real backend, on a host with a toy lab, articles about it, and machines that only pretend to run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent, MachineConfig
from grader.cli import run as grader
from grader.content import catalogue as content
from grader.lab import catalogue
from grader.report import make_report, render_json
from grader.results import Result, State
from grader.session.examiner import listen, serve
from grader.session.places import examiner_socket, session_home
from grader.session.values import keep_values
from tests.unit.session.pretended import PretendedMachines, pretend
from tui import cli
from tui.backend import asking
from tui.backend.real import RealBackend

UNIT = Path(__file__).parents[1]
Command = Callable[[Sequence[str]], int]


@pytest.fixture
def host(state_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PretendedMachines:
    """The toy lab as the only one, and an empty state folder."""
    del state_home
    monkeypatch.delenv("BATCHLAB_INSIDE", raising=False)
    monkeypatch.setattr(catalogue, "labs_dir", lambda: UNIT / "cli" / "labs")
    monkeypatch.setattr(content, "content_dir", lambda: UNIT / "content" / "example")
    return pretend(monkeypatch, tmp_path / "bin-of-tests")


def test_the_catalogue_is_courses_then_the_rest(host: PretendedMachines) -> None:
    found = asyncio.run(RealBackend().catalogue())
    kinds = {entry.id: entry.kind for shelf in found.shelves for entry in shelf.entries}
    assert kinds["lab-toy"] == "lab"
    assert kinds["pods"] == "article"
    assert found.shelves[0].is_course
    assert found.next in kinds


def test_a_lab_is_read_again_when_its_values_are_drawn(state_home: Path) -> None:
    backend = RealBackend()
    before = asyncio.run(backend.lab("lab-jobset"))
    stamp = asyncio.run(backend.standing("lab-jobset")).stamp
    assert before.examples == {"workers"}
    assert "an example" in before.step("toobig").body
    keep_values(session_home("lab-jobset"), {"workers": 6})
    after = asyncio.run(backend.lab("lab-jobset"))
    assert asyncio.run(backend.standing("lab-jobset")).stamp != stamp
    assert (after.values, after.examples) == ({"workers": 6}, frozenset())
    assert "with 6 workers" in after.step("toobig").body
    assert "an example" not in after.step("toobig").body


def test_an_article_that_is_opened_is_read(host: PretendedMachines) -> None:
    backend = RealBackend()
    assert asyncio.run(backend.article("pods")).id == "pods"
    entry = asyncio.run(backend.catalogue()).entry("pods")
    assert entry is not None
    assert entry.done


def test_a_start_tells_what_happens_and_a_stop_ends_it(host: PretendedMachines) -> None:
    async def play() -> list[BootEvent]:
        backend, told = RealBackend(), list[BootEvent]()
        lab = await backend.lab("lab-toy")
        started = await backend.start(lab, told.append, lambda _event: None)
        assert started.lab == "lab-toy"
        assert (await backend.standing("lab-toy")).machine.state == "running"
        entry = (await backend.catalogue()).entry("lab-toy")
        assert entry is not None
        assert entry.machine == "running"
        assert await backend.stop("lab-toy")
        assert (await backend.standing("lab-toy")).machine.state == "stopped"
        return told

    told = asyncio.run(play())
    assert [(event.task, event.state) for event in told if event.task == "etcd"] == [
        ("etcd", "started"),
        ("etcd", "ready"),
    ]


def test_a_start_that_nobody_waits_for_is_ended(host: PretendedMachines) -> None:
    begun, ended = threading.Event(), threading.Event()

    def hangs(_config: MachineConfig) -> None:
        begun.set()
        assert ended.wait(10), "it was never ended"
        raise EnvironmentProblem("the machine is gone")

    host.on_start = hangs
    real_stop = host.stop

    async def play() -> None:
        backend = RealBackend()
        lab = await backend.lab("lab-toy")
        work = asyncio.create_task(backend.start(lab, lambda _event: None, lambda _event: None))
        await asyncio.to_thread(begun.wait, 10)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert (await backend.standing("lab-toy")).machine.state == "stopped"

    def stop(home: Path) -> bool:
        ended.set()
        return real_stop(home)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "stop", stop)
        asyncio.run(play())
    assert not host.states


def test_hints_are_counted_as_those_of_the_command(host: PretendedMachines, capsys: pytest.CaptureFixture[str]) -> None:
    async def play() -> list[int]:
        backend = RealBackend()
        lab = await backend.lab("lab-toy")
        await backend.start(lab, lambda _event: None, lambda _event: None)
        return [await backend.hint(lab, "hello") for _number in range(3)]

    assert asyncio.run(play()) == [1, 2, 2]
    assert grader(["hint", "lab-toy", "hello"]) == 0
    assert "hint 2 of 2" in capsys.readouterr().out


class TestExaminer:
    @pytest.fixture
    def answering(self, host: PretendedMachines) -> Iterator[Callable[[Command], None]]:
        """Set what the examiner of the toy lab writes, by a program of a test's own."""
        del host
        home = session_home("lab-toy")
        examiner_socket(home).parent.mkdir(parents=True)

        def answer(command: Command) -> None:
            listener = listen(examiner_socket(home))
            if (child := os.fork()) == 0:
                serve(listener, home, command)
            listener.close()
            children.append(child)

        children: list[int] = []
        yield answer
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    @staticmethod
    def _document(*states: State) -> str:
        lab = catalogue.load_lab("lab-toy")
        results = [
            Result(check=check.id, step=step.number, step_id=step.id, says=check.says, state=state)
            for step, state in zip(lab.steps, states, strict=True)
            for check in step.checks
        ]
        return render_json(make_report(lab, results, at=1_700_000_000.0, seconds=0.1))

    def test_a_watch_yields_each_verdict_and_ends(self, answering: Callable[[Command], None]) -> None:
        texts = [self._document(State.FAILED, State.SKIPPED), self._document(State.PASSED, State.PASSED)]
        lines = "".join(json.dumps(json.loads(text)) + "\n" for text in texts)

        def command(argv: Sequence[str]) -> int:
            assert argv[2:] == ["check", "--watch", "--json"]
            sys.stdout.write(lines)
            return 0

        async def play() -> list[int]:
            backend = RealBackend()
            lab = await backend.lab("lab-toy")
            return [look.report.steps_passed async for look in backend.watch(lab) if look.report]

        answering(command)
        assert asyncio.run(play()) == [0, 2]

    def test_what_cannot_be_judged_is_said(self, answering: Callable[[Command], None]) -> None:
        def command(_argv: Sequence[str]) -> int:
            sys.stderr.write("grader: the recorder does not answer\n        try again\n")
            return 3

        async def play() -> list[str]:
            backend = RealBackend()
            lab = await backend.lab("lab-toy")
            looks = [look async for look in backend.watch(lab)] + [await backend.check(lab)]
            return [f"{look.problem.message}: {look.problem.advice}" for look in looks if look.problem]

        answering(command)
        assert asyncio.run(play()) == ["the recorder does not answer: try again"] * 2

    @pytest.mark.usefixtures("host")
    def test_nobody_there_is_said(self) -> None:
        async def play() -> str:
            backend = RealBackend()
            lab = await backend.lab("lab-toy")
            [look] = [look async for look in backend.watch(lab)]
            assert look.problem is not None
            return look.problem.message

        assert "does not answer" in asyncio.run(play())


def test_a_complaint_is_a_message_and_what_to_do() -> None:
    found = asking.complaint("noise\ngrader: it broke\n        mend it\n        or leave\n")
    assert (found.message, found.advice) == ("it broke", "mend it or leave")
    assert asking.complaint("Traceback\nKeyError: x\n").message == "KeyError: x"
    assert asking.complaint("").message == "the lab's examiner gave no answer"
    assert asking.notes("grader: one\nnoise\ngrader: two\n") == ["one", "two"]


class TestCommand:
    def test_has_a_page_of_help(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.run(["--help"]) == 0
        assert "--no-tmux" in capsys.readouterr().out

    @pytest.mark.parametrize("words", [["--theme", "pink"], ["--asci"], ["lab-a", "lab-b"]])
    def test_refuses_what_it_does_not_know(self, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.run(words) == 2
        assert capsys.readouterr().err.startswith("grader: ")

    def test_does_not_run_inside_a_lab(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("BATCHLAB_INSIDE", "lab-toy")
        assert cli.run([]) == 2
        assert "does not run inside a lab" in capsys.readouterr().err
