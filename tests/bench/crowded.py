"""The application's board with 200 pods that change all the time: the answer to a key, and the memory of a viewer.

Needs no cluster: the pods are made up, so that their number is what is said.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import psutil
from textual import events

from tests.bench.figures import Figure, Report
from tests.unit.tui.boards import many, pod
from tests.unit.tui.pretended import PretendedBackend
from tui.app import LearnerApp
from tui.board.screen import BoardScreen
from tui.settings import Settings

if TYPE_CHECKING:
    from tests.bench.ground import Ground
    from tests.unit.tui.boards import PretendedFeed

PART = "board"
PODS, CHANGED, KEYS = 200, 20, 40
SECONDS = 60.0
_KEY = Figure(
    id="board.key", part=PART, title=f"a key on the board, {PODS} pods, {CHANGED} changing", unit="s", target=0.05
)
_LOOK = Figure(id="board.look", part=PART, title="from a change to the board that shows it", unit="s")
_MEMORY = Figure(id="board.memory", part=PART, title="memory (RSS) of a board", unit="MB", target=150.0)


def measure(ground: Ground, report: Report, runs: int) -> None:
    """Play it `runs` times."""
    for number in range(1, runs + 1):
        ground.say(f"board {number}/{runs}")
        asyncio.run(asyncio.wait_for(_play(report), SECONDS))


async def _play(report: Report) -> None:
    app = LearnerApp(PretendedBackend(), settings=Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        feed = many(PODS)
        screen = BoardScreen("lab-bench", "", feed)
        await app.push_screen(screen)
        while screen.shown is None:
            await pilot.pause()
        await pilot.press("4")
        for turn in range(KEYS):
            _stir(feed, turn)
            screen._tick()  # the next look is drawn while the key is answered
            report.add(_KEY, await _answer(app, screen, "jk"[turn % 2]))
        for turn in range(5):
            _stir(feed, KEYS + turn)
            began = time.perf_counter()
            await screen._look()
            await _drawn(screen)
            report.add(_LOOK, time.perf_counter() - began)
        report.add(_MEMORY, psutil.Process().memory_info().rss / 1e6)


def _stir(feed: PretendedFeed, turn: int) -> None:
    phase = "Running" if turn % 2 else "Failed"
    feed.store.apply(pod(number, version=turn + 2, phase=phase) for number in range(0, PODS, PODS // CHANGED))


async def _answer(app: LearnerApp, screen: BoardScreen, key: str) -> float:
    """Seconds from a key until the cursor is drawn in its new row."""
    before, began = screen.table.row, time.perf_counter()
    app.post_message(events.Key(key, key))
    while screen.table.row == before:  # the application tells nobody that it has answered
        await _turn()
    await _drawn(screen)
    return time.perf_counter() - began


async def _turn() -> None:
    """Until everything that is ready now has run once."""
    turn = asyncio.Event()
    asyncio.get_running_loop().call_soon(turn.set)
    await turn.wait()


async def _drawn(screen: BoardScreen) -> None:
    drawn = asyncio.Event()
    screen.call_after_refresh(drawn.set)
    await drawn.wait()
