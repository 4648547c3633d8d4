"""The preview: a lab while it is written, anew whenever a file is saved."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cluster import i18n
from grader.author import preview
from grader.report.model import make_report
from grader.results import Finding, Result, State
from tests.unit.tui.conftest import Played
from tests.unit.tui.pretended import PretendedBackend
from tui import marks
from tui.backend.model import Look
from tui.preview import screen
from tui.preview.app import PreviewApp
from tui.preview.screen import PreviewScreen

EXAMPLE = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"
Drive = Callable[..., None]


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "labs" / "lab-hello"))


@pytest.fixture
def drive(backend: PretendedBackend, lab: Path, state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    monkeypatch.setattr("tui.preview.app.labs_dir", lambda: lab.parent)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(state_home / "config"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(screen, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(screen, "VALUES_SECONDS", 0.05)

    def run(play: Callable[[Played], Awaitable[None]], *, size: tuple[int, int] = (120, 40)) -> None:
        async def main() -> None:
            app = PreviewApp(backend, "lab-hello")
            async with app.run_test(size=size, notifications=True) as pilot:
                played = Played(app, pilot, backend)
                await played.until(lambda: isinstance(app.screen, PreviewScreen) and app.screen.lab, "a first look")
                await played.rest()
                await play(played)

        try:
            asyncio.run(main())
        finally:
            i18n.set_language("en")
            marks.use_ascii(on=False)

    return run


def change(lab: Path, old: str, new: str, file: str = "lab.md") -> None:
    text = (lab / file).read_text()
    assert old in text
    (lab / file).write_text(text.replace(old, new))


def test_text_hints_and_what_each_check_expects(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await played.shows("A pod is the smallest thing")
        assert "no mistakes" in played.text
        await played.press("n")
        await played.shows("1. Run a pod")
        assert "Hint 2 of 2" in played.text
        assert "Pod hello: status.phase = Running" in played.text
        assert "no session" in played.text
        await played.press("h")
        await played.until(lambda: "Hint 1" not in played.text)
        await played.press("n")
        await played.shows("pod.spec.nodeName }}")
        await played.press("a")
        await played.until(lambda: "pod.spec.nodeName" not in played.text)
        await played.press("p", "p")
        await played.shows("A pod is the smallest thing")

    drive(play)


def test_a_saved_file_is_shown_at_once_at_the_same_step(drive: Drive, lab: Path) -> None:
    async def play(played: Played) -> None:
        await played.press("n")
        await played.shows("1. Run a pod")
        change(lab, "## Run a pod {#run}", "## Run two pods {#run}")
        await played.shows("1. Run two pods")
        change(lab, "says: the pod hello runs", "says: the pod hello is up")
        await played.shows("the pod hello is up")

    drive(play)


def test_mistakes_are_told_and_the_last_good_text_stays(drive: Drive, lab: Path) -> None:
    async def play(played: Played) -> None:
        await played.press("n")
        change(lab, "  within: 20", "  witin: 20")
        await played.shows("lab-hello/lab.md:")
        assert "unknown key 'witin'" in played.text.replace("\n", " ")
        assert "below is the text as it could last be read" in played.text
        assert "1. Run a pod" in played.text
        change(lab, "  witin: 20", "  within: 20")
        await played.shows("no mistakes")
        assert "witin" not in played.text

    drive(play)


def test_the_other_language(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await played.press("n", "L")
        await played.shows("파드를 띄운다")

    drive(play)


def test_what_a_running_session_finds_with_its_time(drive: Drive, lab: Path, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await played.press("n")
        read = preview.read_preview(lab).lab
        assert read is not None
        results = [
            Result(
                check=check.id,
                step=step.number,
                step_id=step.id,
                says=check.says,
                state=State.FAILED,
                finding=Finding(saw="it is Pending"),
                read=("Pod hello/hello: 1, now, resourceVersion 812",),
                seconds=0.125,
            )
            for step in read.steps
            for check in step.checks
        ]
        report = make_report(read, [replace(one) for one in results], at=0.0, seconds=0.1)
        await backend.looks.put(Look(report=report))
        await played.shows("failed: it is Pending")
        assert "resourceVersion 812" in played.text
        assert "0.125 s" in played.text

    drive(play)


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 12)])
def test_there_is_room_for_both(drive: Drive, size: tuple[int, int]) -> None:
    async def play(played: Played) -> None:
        await played.press("n")
        await played.shows("Run a pod")
        assert played.screen.query_one("#author").size.height >= 3

    drive(play, size=size)
