"""Windows of time in cells, and the ticks below them."""

from __future__ import annotations

import itertools
import time

import pytest

from grader.timeline.scale import Window, clock, ticks
from tests.unit.timeline.conftest import T0


def test_a_moment_belongs_to_the_cell_whose_time_it_is_in() -> None:
    window = Window(T0, 60, 30)
    assert [window.cell(T0 + at) for at in (-0.1, 0, 1.9, 2, 59.9, 60)] == [-1, 0, 0, 1, 29, 30]
    assert window.times(1) == (T0 + 2, T0 + 4)


@pytest.mark.parametrize("cell", range(24))
def test_every_cell_begins_in_itself(cell: int) -> None:
    window = Window(T0, 7.7, 24)
    assert window.cell(window.times(cell)[0]) == cell


def test_zooming_keeps_the_moment_under_the_cursor() -> None:
    window = Window(T0, 60, 60)
    closer = window.zoomed(0.5, T0 + 40)
    assert closer.span == 30
    assert closer.cell(T0 + 40) == window.cell(T0 + 40)


def test_there_is_an_end_to_zooming() -> None:
    window = Window(T0, 60, 60)
    for _n in range(50):
        window = window.zoomed(0.5, T0)
    assert window.per_cell == pytest.approx(0.02)


def test_a_window_stays_within_what_there_is() -> None:
    window = Window(T0, 10, 10)
    assert window.moved(-5).within(T0, T0 + 60).start == T0
    assert window.moved(99).within(T0, T0 + 60).end == T0 + 60
    assert window.zoomed(100, T0).within(T0, T0 + 60) == Window(T0, 60, 10)


class TestTicks:
    def test_stand_at_round_times_and_do_not_touch(self) -> None:
        found = ticks(Window(T0, 60, 60))  # from 10:53:20
        assert [(tick.cell, tick.label) for tick in found] == [
            (10, "10:53:30"),
            (25, "10:53:45"),
            (40, "10:54:00"),
        ]

    def test_of_hours_have_no_seconds(self) -> None:
        assert [tick.label for tick in ticks(Window(T0, 3 * 3600, 40))] == ["11:00", "12:00", "13:00"]

    def test_of_less_than_a_second_have_tenths(self) -> None:
        assert [tick.label for tick in ticks(Window(T0, 1, 40))] == ["10:53:20.0", "10:53:20.5"]

    @pytest.mark.parametrize("width", [1, 5, 24, 80, 300])
    @pytest.mark.parametrize("span", [0.5, 3, 100, 3600, 900_000])
    def test_always_fit(self, width: int, span: float) -> None:
        found = ticks(Window(T0, span, width))
        for tick in found:
            assert tick.cell >= 0
            assert tick.cell + len(tick.label) <= width
        for one, other in itertools.pairwise(found):
            assert other.cell - one.cell >= len(one.label) + 2

    def test_stand_at_full_hours_of_local_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "Asia/Kathmandu")  # 5 h 45 min ahead
        time.tzset()
        assert [tick.label for tick in ticks(Window(T0, 2 * 3600, 40))] == ["17:00", "17:30", "18:00"]


def test_a_time_of_day_can_be_fine() -> None:
    assert (clock(T0 + 0.1234), clock(T0 + 0.1234, fine=True)) == ("10:53:20", "10:53:20.123")
