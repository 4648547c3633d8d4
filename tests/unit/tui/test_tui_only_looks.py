"""The board that is served: whatever is pressed, clicked or chosen there, nothing is changed and nobody is asked to."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from cluster import i18n
from grader.board.feed import SessionFeed
from grader.session import lifecycle
from tests import histories
from tui.board import app as board_app
from tui.board.app import BoardApp
from tui.board.screen import BoardScreen
from tui.keys import KEYS
from tui.screens.lab import LabScreen
from tui.timeline.screen import TimelineScreen

ALLOWED = {
    "BoardScreen",
    "TimelineScreen",
    "DetailScreen",
    "HelpScreen",
    "JumpScreen",
    "CommandPalette",
    "SystemModalScreen",
}


@pytest.fixture
def served(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BoardApp]:
    """The application of a viewer of lab-demo, over a kept history."""
    from grader.lab.parse import parse_lab
    from tests.unit.tui.pretended import LABS

    lab, _problems = parse_lab(LABS / "lab-demo", "en")
    assert lab is not None
    monkeypatch.setattr(board_app, "load_lab", lambda _id, _language, _values: lab)
    home = state_home / "sessions" / "lab-demo"
    (home / "work").mkdir(parents=True)
    histories.written(home / "history.db", histories.load("lab-lws"))
    for name in ("stop_session", "start_session", "reset_session"):
        monkeypatch.setattr(lifecycle, name, lambda *_words, **_more: pytest.fail("a board asked for that"))
    monkeypatch.setattr(SessionFeed, "why", lambda _self, _ref: "nothing is wrong")
    yield BoardApp("lab-demo")
    i18n.set_language("en")
    assert list((home / "work").iterdir()) == []


def _played(app: BoardApp, play: object) -> None:
    async def main() -> None:
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await pilot.pause()
            await play(pilot)  # type: ignore[operator]

    asyncio.run(main())


def _names(app: BoardApp) -> set[str]:
    return {type(screen).__name__ for screen in app.screen_stack}


def test_no_key_leads_elsewhere(served: BoardApp) -> None:
    """Every letter, sign and key of the table but those that leave, on the board and on the timeline."""
    leave = {"q", "ctrl+q"}
    keys = {*string.ascii_letters, *string.digits, *"!$%&()*+-./:;<=>?@[]_{|}~", "enter", "tab", "escape", "delete"}
    keys |= {key for place in KEYS.values() for one in place for key in one.keys.split(",")}

    async def play(pilot: Pilot[None]) -> None:
        for place in (BoardScreen, TimelineScreen):
            for key in sorted(keys - leave):
                if place is TimelineScreen and isinstance(served.screen, BoardScreen):
                    await pilot.press("t")
                await pilot.press(key)
                assert _names(served) <= ALLOWED, key
                while not isinstance(served.screen, BoardScreen | place):
                    await pilot.press("escape")

    _played(served, play)


def test_the_palette_offers_nothing_that_leads_elsewhere(served: BoardApp) -> None:
    async def play(pilot: Pilot[None]) -> None:
        for command in list(served.get_system_commands(served.screen)):
            if command.callback != served.action_quit:
                found = command.callback()
                if found is not None:
                    await found
                await pilot.pause()
                assert _names(served) <= ALLOWED, command.title
                while len(served.screen_stack) > 1:
                    await pilot.press("escape")
                    await pilot.pause()

    _played(served, play)


def test_whatever_is_called_nothing_of_a_lab_opens(served: BoardApp) -> None:
    async def play(pilot: Pilot[None]) -> None:
        served.open_lab("lab-demo")
        served.open_report()
        served.open_article("pods")
        served.stop_lab("lab-demo")
        served.shell_instead("lab-demo")
        served.open_link("lab:lab-demo")
        await pilot.pause()
        assert isinstance(served.screen, BoardScreen)
        assert not any(isinstance(one, LabScreen) for one in served.screen_stack)
        with pytest.raises(AttributeError):
            served.backend.shell_command("lab-demo")

    _played(served, play)


def test_the_timeline_writes_nothing(served: BoardApp) -> None:
    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("t")
        await pilot.pause()
        assert isinstance(served.screen, TimelineScreen)
        await pilot.press("e")
        await pilot.pause()

    _played(served, play)
