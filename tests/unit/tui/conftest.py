"""What the tests of the application share: a pretended backend, and a way to play the application with keys."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from cluster import i18n
from tests.unit.tui.pretended import PretendedBackend
from tui import marks, session
from tui.app import LearnerApp
from tui.screens.base import LearnerScreen
from tui.settings import Settings

DEADLINE = 30.0
SHORT = frozenset({"begin", "read", "view", "look", "check", "stop lab-demo"})
"""Groups of workers that end by themselves, soon; the others wait for what a test does."""


@dataclass
class Played:
    """An application that is being played."""

    app: LearnerApp
    pilot: Pilot[None]
    backend: PretendedBackend

    async def press(self, *keys: str) -> None:
        """Each key, and what comes of it."""
        for key in keys:
            await self.pilot.press(key)
            await self.rest()

    async def rest(self) -> None:
        """Until nothing moves any more: what was asked in a thread has been answered, and that has been drawn."""
        await self.pilot.pause()
        await self.until(
            lambda: not any(one.group in SHORT and not one.is_finished for one in self.app.workers),
            "what was asked is answered",
        )
        await self.pilot.pause()

    async def until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Let the application go on until the condition holds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + DEADLINE
        while not condition():
            assert loop.time() < end, f"not in {DEADLINE} s: {what or condition}\n{self.text}"
            await self.pilot.pause(0.02)

    async def shows(self, text: str) -> None:
        """Wait until `text` is on the screen."""
        await self.until(lambda: text in self.text, text)

    @property
    def screen(self) -> LearnerScreen:
        """What is in front."""
        assert isinstance(self.app.screen, LearnerScreen)
        return self.app.screen

    @property
    def text(self) -> str:
        """The screen as lines of text, without blanks at their ends."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"

    @property
    def svg(self) -> str:
        """The screen as a picture, without the number that differs each time, and without fonts from elsewhere."""
        picture = re.sub(r"terminal-\d+-", "terminal-", self.app.export_screenshot(title="Batchlab"))
        picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
        return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


Play = Callable[[Played], Awaitable[None]]
Drive = Callable[..., None]


@pytest.fixture
def backend() -> PretendedBackend:
    return PretendedBackend()


@pytest.fixture
def drive(backend: PretendedBackend, state_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    """Run a play on an application of its own: `drive(play, size=(80, 24), language="en", ascii_only=False)`."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for name in ("POLL_SECONDS", "AGAIN_SECONDS"):
        monkeypatch.setattr(session, name, 0.2)
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)

    def run(
        play: Play,
        *,
        size: tuple[int, int] = (80, 24),
        language: str = "en",
        ascii_only: bool = False,
        settings: Settings | None = None,
    ) -> None:
        i18n.set_language(language)

        async def main() -> None:
            app = LearnerApp(backend, ascii_only=ascii_only, settings=settings)
            async with app.run_test(size=size, notifications=True) as pilot:
                played = Played(app, pilot, backend)
                await played.until(lambda: app.screen.query("#shelves Option") or backend.asked, "a first look")
                await played.rest()
                await play(played)

        try:
            asyncio.run(main())
        finally:
            i18n.set_language("en")
            marks.use_ascii(on=False)

    return run
