"""The board, played with keys: what it shows at each size, what is chosen, and what is said of a silent cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from textual.widgets import Static

from cluster.errors import EnvironmentProblem
from grader.board.feed import Trust
from tests.unit.tui.boards import AT, PretendedFeed, deleted, many, pod, recorded
from tests.unit.tui.conftest import Drive, Played
from tui.board.detail import DetailScreen
from tui.board.screen import BoardScreen
from tui.board.table import Table


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local times are UTC, and it is always the same moment."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(BoardScreen, "clock", staticmethod(lambda: AT))
    yield
    monkeypatch.undo()
    time.tzset()


async def opened(played: Played, feed: PretendedFeed) -> BoardScreen:
    """A board of `feed` in front, with its first look drawn."""
    screen = BoardScreen("lab-demo", "One group, one fate", feed)
    await played.app.push_screen(screen)
    await played.until(lambda: screen.shown is not None, "a first look")
    await played.rest()
    return screen


async def looked(played: Played, screen: BoardScreen, feed: PretendedFeed) -> None:
    """A look that began after now has been drawn."""
    before = feed.looks
    screen._tick()
    await played.until(lambda: feed.looks > before and not screen._looking, "another look")
    await played.rest()


def shown(screen: BoardScreen, name: str) -> list[str]:
    """The names in the first column of a table."""
    return [row.cells[0].text.strip() for row in screen.query_one(f"#{name}", Table).rows]


class TestChoosing:
    def test_words_and_escape(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-cohort", "team-a"))
            await played.press("slash", *"owner")
            assert all("owner" in name for name in shown(screen, "pods"))
            assert shown(screen, "nodes") == []
            await played.press("enter")
            assert isinstance(screen.focused, Table)
            await played.shows("filter: owner")
            await played.press("escape")
            assert shown(screen, "nodes") == ["gpu-a", "gpu-b"]
            assert played.app.screen is screen

        drive(play, size=(120, 40))

    def test_faults_only(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-cohort", "team-a"))
            await played.press("f")
            assert shown(screen, "groups") == ["job/extra"]
            assert shown(screen, "queues") == ["team-a", "job/extra"]
            assert shown(screen, "pods") == []
            await played.shows("only what waits or is broken")
            await played.press("f")
            assert len(shown(screen, "pods")) == 8

        drive(play, size=(120, 40))

    def test_tables_by_number_and_tab(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-cohort", "team-a"))
            await played.press("4")
            assert screen.table.pane.name == "pods"
            await played.shows("base-7lmdf")
            assert "job/extra" not in played.text, "one table at a time in a narrow terminal"
            await played.press("tab")
            assert screen.table.pane.name == "events"
            await played.press("tab", "tab", "shift+tab")
            assert screen.table.pane.name == "nodes"

        drive(play)

    def test_one_table_on_a_wide_screen(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-cohort", "team-a"))
            await played.press("3", "z")
            assert screen.query_one("#pods").region.size.area == 0
            assert screen.query_one("#queues").size.width > 100
            await played.press("escape")
            assert screen.query_one("#pods").region.size.area > 0

        drive(play, size=(120, 40))

    def test_a_lab_without_queues_has_no_such_table(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            assert screen.query_one("#queues").region.size.area == 0
            await played.press("2", "tab")
            assert screen.table.pane.name == "pods"

        drive(play, size=(120, 40))

    def test_the_cursor_stays_on_its_row(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = many(6, nodes=2)
            screen = await opened(played, feed)
            await played.press("4", "j", "j", "down")
            assert screen.table.row is not None
            before = screen.table.row.key
            feed.store.apply([deleted(pod(0, 2))])
            await looked(played, screen, feed)
            assert screen.table.row.key == before
            assert len(screen.table.rows) == 5

        drive(play)


class TestObjects:
    def test_enter_describes(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.press("4", "enter")
            await played.until(lambda: isinstance(played.app.screen, DetailScreen), "a page")
            await played.shows("Pod infer/llm-0")
            await played.shows("Scheduled: Successfully assigned")
            assert "phase: Running" in str(played.app.screen.query_one("#text", Static).content)
            await played.press("escape")
            assert played.screen is screen

        drive(play, size=(120, 40))

    def test_why_is_asked_and_told(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            await opened(played, feed)
            await played.press("4", "w")
            await played.shows("nothing is wrong")
            await played.press("q")
            feed.trouble = EnvironmentProblem("the lab's examiner does not answer", "wait a moment")
            await played.press("w")
            await played.shows("wait a moment")

        drive(play, size=(120, 40))

    def test_the_board_goes_on_while_why_is_asked(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            screen = await opened(played, feed)
            answer = threading.Event()
            feed.answered = answer
            try:
                await played.press("4", "w")
                await played.shows("one moment")
                before = feed.looks
                await screen._look()
                assert feed.looks > before
                assert "one moment" in played.text
            finally:
                answer.set()
            await played.shows("nothing is wrong")

        drive(play, size=(120, 40))

    def test_a_second_click_describes(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.pilot.click("#pods", offset=(4, 3), times=2)
            await played.until(lambda: isinstance(played.app.screen, DetailScreen), "a page")
            assert screen.table.row is not None
            assert screen.table.row.ref.name == "llm-0-1"

        drive(play, size=(120, 40))


class TestSilence:
    @pytest.mark.parametrize("trust", [trust for trust in Trust if trust is not Trust.LIVE])
    def test_is_said_over_what_was_seen_last(self, drive: Drive, trust: Trust) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            screen = await opened(played, feed)
            feed.trust = trust
            await looked(played, screen, feed)
            assert screen.shown is not None
            assert screen.shown.says.split(";")[0] in " ".join(played.text.split())
            assert "llm-0-1" in played.text
            feed.trust = Trust.LIVE
            await looked(played, screen, feed)
            assert screen.query_one("#trust").region.size.area == 0

        drive(play, size=(120, 40))

    def test_a_feed_that_fails_is_asked_again(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            feed.trouble = EnvironmentProblem("the history can't be read: disk I/O error")
            screen = BoardScreen("lab-demo", "t", feed)
            await played.app.push_screen(screen)
            await played.shows("disk I/O error")
            feed.trouble = None
            await looked(played, screen, feed)
            await played.shows("llm-0-1")
            assert "disk I/O error" not in played.text

        drive(play, size=(120, 40))

    def test_nothing_yet(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played, PretendedFeed())
            await played.shows("nothing yet")

        drive(play)


class TestSizes:
    def test_a_terminal_that_is_resized(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-cohort", "team-a"))
            for size in ((80, 24), (39, 11), (200, 60), (60, 16), (120, 40)):
                await played.pilot.resize_terminal(*size)
                await played.rest()
                lines = played.text.splitlines()
                assert len(lines) == size[1]
                if size == (39, 11):
                    assert "too small" in played.text
                else:
                    assert "team-a" in played.text or screen.table.pane.name != "queues"
            assert "gpu-b" in played.text

        drive(play, size=(120, 40))


class TestMany:
    def test_only_what_changed_is_drawn_again(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = many(200)
            screen = await opened(played, feed)
            await played.press("4")
            table = screen.table
            assert len(table.rows) == 200
            before = table.drawn_cells
            await looked(played, screen, feed)
            assert table.drawn_cells == before, "nothing changed"
            feed.store.apply([pod(0, version=2, phase="Failed")])
            await looked(played, screen, feed)
            assert 0 < table.drawn_cells - before < table.size.width
            await played.shows("Error")

        drive(play, size=(120, 40))

    def test_looks_do_not_pile_up(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = many(200)
            screen = await opened(played, feed)
            before = feed.looks
            for _n in range(20):
                screen._tick()
            await played.until(lambda: not screen._looking)
            assert feed.looks <= before + 2

        drive(play)


def test_the_feed_is_let_go(drive: Drive) -> None:
    feed = recorded("lab-lws", "infer")

    async def play(played: Played) -> None:
        await opened(played, feed)
        await played.press("escape")
        await played.until(lambda: feed.closed, "the end of the feed")

    drive(play)


def test_the_language_changes_at_once(drive: Drive) -> None:
    async def play(played: Played) -> None:
        screen = await opened(played, recorded("lab-lws", "infer"))
        await played.press("4", "L")
        await played.shows("파드")
        assert screen.table.pane.name == "pods"
        assert len(screen.table.rows) == 4

    drive(play)
