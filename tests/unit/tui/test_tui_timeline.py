"""The timeline, played with keys: what it shows, what the cursor tells, zoom, following, export."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.history.model import Gap
from grader.timeline.model import Timeline
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.timelines import PretendedTimeline, recorded
from tui.timeline.chart import Chart
from tui.timeline.screen import TimelineScreen


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local times are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def opened(played: Played, feed: PretendedTimeline, folder: Path | None = None) -> TimelineScreen:
    """A timeline of `feed` in front, with its first look drawn."""
    screen = TimelineScreen("lab-demo", "One group, one fate", feed, folder)
    await played.app.push_screen(screen)
    await played.until(lambda: screen.shown is not None, "a first look")
    await played.rest()
    return screen


async def looked(played: Played, screen: TimelineScreen, feed: PretendedTimeline) -> None:
    before = feed.looks
    screen._tick()
    await played.until(lambda: feed.looks > before and not screen._looking, "another look")
    await played.rest()


def chart(screen: TimelineScreen) -> Chart:
    return screen.query_one(Chart)


def told(played: Played) -> list[str]:
    """What stands below the chart."""
    lines = played.text.splitlines()
    rule = max(number for number, line in enumerate(lines) if line.startswith(("───", "---")))
    return [" ".join(line.split()) for line in lines[rule + 1 : -1] if line.strip()]


class TestLooks:
    def test_a_gap_is_seen(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            feed.gaps = (Gap("Pod", 1_796_046_576.0, 1_796_046_578.0, "expired"),)
            await opened(played, feed)
            assert "░░" in played.text
            assert "not recorded from 13:49:36 to 13:49:38" in played.text

        drive(play, size=(120, 40))

    def test_nothing_yet(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played, PretendedTimeline([]))
            await played.shows("no pod has been seen yet")
            await played.press("down", "left", "n", "p", "plus", "0", "f", "home", "enter")

        drive(play)


class TestCursor:
    def test_tells_what_happened_at_that_moment(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.press("down")
            assert "object 2 of 2 in this place" in told(played)[0]
            for _n in range(30):
                if "ended with exit code 1" in " ".join(told(played)[1:4]):
                    break
                await played.press("p")
            assert told(played)[0].startswith("13:49:38.")
            assert "llm-0-1 Running" in told(played)[0]
            assert "object 1 of 2" in told(played)[0]
            for _n in range(5):
                if "engine was started again (restart 1)" in " ".join(told(played)[1:4]):
                    break
                await played.press("n")
            assert "engine was started again (restart 1)" in " ".join(told(played)[1:4])
            assert chart(screen).at > 1_796_046_578.0

        drive(play, size=(100, 30))

    def test_tells_what_was_said_of_a_group(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played, recorded("lab-lws", "infer"))
            await played.press("up")
            assert "LeaderWorkerSet llm · group 0" in told(played)[0]
            await played.press("p", "p", "p", "p", "p", "p", "p")
            assert "RecreateGroupOnPodRestart" in " ".join(told(played))

        drive(play, size=(100, 30))

    def test_between_two_lives_there_is_nobody(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.press("down")
            gone = next(life.gone for _group, row in timeline(screen).rows for life in row.lives if life.gone)
            chart(screen).go_to((gone or 0) + 0.05)
            await played.rest()
            assert "not there" in told(played)[0]

        drive(play, size=(100, 30))

    def test_a_click_takes_it_along(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.pilot.click(Chart, offset=(40, 8))
            await played.rest()
            line = chart(screen).line
            assert line.row is not None
            assert line.row.label == "llm-1-1"
            assert chart(screen).at < timeline(screen).end - 2
            assert not chart(screen).follows

        drive(play, size=(100, 30))

    def test_stays_where_it_is_while_time_goes_on(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            feed.live = True
            screen = await opened(played, feed)
            await played.press("down", "p", "p")
            before = chart(screen).at
            feed.more = 100.0
            await looked(played, screen, feed)
            assert chart(screen).at == before
            assert chart(screen).line.row is not None

        drive(play, size=(100, 30))


def timeline(screen: TimelineScreen) -> Timeline:
    assert screen.shown is not None
    return screen.shown


class TestZoom:
    def test_closer_and_everything(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.press("p", "p")
            whole, at = chart(screen).window, chart(screen).at
            await played.press("plus", "plus")
            assert chart(screen).window.span == pytest.approx(whole.span / 4)
            assert chart(screen).window.start <= at < chart(screen).window.end
            assert chart(screen).at == at
            await played.press("minus")
            assert chart(screen).window.span == pytest.approx(whole.span / 2)
            await played.press("0")
            assert chart(screen).window == whole

        drive(play, size=(100, 30))

    def test_moving_past_the_edge_takes_the_window_along(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await opened(played, recorded("lab-lws", "infer"))
            await played.press("plus", "plus", "plus", "home")
            assert chart(screen).window.start == pytest.approx(timeline(screen).start)
            await played.press("end")
            assert chart(screen).window.end >= chart(screen).at

        drive(play, size=(100, 30))

    def test_following_keeps_the_end_in_sight(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            feed.live = True
            screen = await opened(played, feed)
            await played.press("plus", "plus", "f")
            assert "following" in played.text
            for more in (30.0, 60.0):
                feed.more = more
                await looked(played, screen, feed)
                assert chart(screen).at == timeline(screen).end
                assert chart(screen).window.start < chart(screen).at < chart(screen).window.end
            await played.press("left")
            assert "following" not in played.text

        drive(play, size=(100, 30))


class TestExport:
    def test_writes_both_forms_of_what_is_shown(self, drive: Drive, tmp_path: Path) -> None:
        async def play(played: Played) -> None:
            await opened(played, recorded("lab-lws", "infer"), tmp_path)
            await played.press("e")
            await played.shows("written to")

        drive(play, size=(100, 30))
        (picture,) = tmp_path.glob("timeline-*.svg")
        (text,) = tmp_path.glob("timeline-*.txt")
        assert "recreated 1×" in picture.read_text()
        assert "RecreateGroupOnPodRestart" in text.read_text()

    def test_that_fails_is_said(self, drive: Drive, tmp_path: Path) -> None:
        async def play(played: Played) -> None:
            await opened(played, recorded("lab-lws", "infer"), tmp_path / "gone")
            await played.press("e")
            await played.shows("can't write")

        drive(play, size=(100, 30))

    def test_has_no_key_where_nothing_may_be_written(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played, recorded("lab-lws", "infer"))
            assert "export" not in played.text
            await played.press("e")

        drive(play, size=(160, 30))


class TestSilence:
    def test_a_history_that_goes_and_comes(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            feed = recorded("lab-lws", "infer")
            screen = await opened(played, feed)
            feed.trouble = EnvironmentProblem("there is no history at x")
            await looked(played, screen, feed)
            await played.shows("there is no history at x")
            assert "llm-0-1" in played.text
            feed.trouble = None
            await looked(played, screen, feed)
            assert "there is no history" not in played.text

        drive(play, size=(100, 30))

    def test_a_terminal_that_is_resized(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played, recorded("lab-cohort", "team-a"))
            for size in ((60, 16), (39, 11), (200, 60), (80, 24)):
                await played.pilot.resize_terminal(*size)
                await played.rest()
                assert len(played.text.splitlines()) == size[1]
            assert "JobSet six" in played.text

        drive(play, size=(120, 40))

    def test_the_feed_is_let_go(self, drive: Drive) -> None:
        feed = recorded("lab-lws", "infer")

        async def play(played: Played) -> None:
            await opened(played, feed)
            await played.press("escape")
            await played.until(lambda: feed.closed, "the end of the feed")

        drive(play)


def test_the_language_changes_at_once(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await opened(played, recorded("lab-lws", "infer"))
        await played.press("L")
        await played.shows("그룹 0")
        await played.shows("준비됨")

    drive(play, size=(100, 30))


def test_many_rows_scroll_with_the_cursor(drive: Drive) -> None:
    async def play(played: Played) -> None:
        screen = await opened(played, recorded("lab-cohort", "team-a"))
        rows = [row.label for _group, row in timeline(screen).rows]
        for _n in range(60):
            await played.press("down")
        line = chart(screen).line
        assert line.row is not None
        assert line.row.label == rows[-1]
        assert rows[-1] in played.text
        for _n in range(60):
            await played.press("up")
        assert "JobSet six" in played.text

    drive(play)
