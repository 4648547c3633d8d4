"""The timeline as text: what a learner reads at each width, in both languages, with and without colours."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.cells import cell_len

from cluster import i18n
from grader.history.model import Gap
from grader.timeline.bars import ASCII, UNICODE, Mark, cells
from grader.timeline.model import Phase, Timeline
from grader.timeline.scale import Window
from grader.timeline.text import duration, render_text
from tests import histories
from tests.unit.conftest import Golden
from tests.unit.timeline.conftest import T0, Play, row, timeline_of

TITLE = "lab-lws  One group, one fate"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lab_lws_after_step_5(golden: Golden, lws: Timeline, width: int) -> None:
    golden(f"timeline/lws-{width}.txt", render_text(lws, title=TITLE, width=width))


def test_in_korean(golden: Golden) -> None:
    i18n.set_language("ko")
    lws = timeline_of(histories.load("lab-lws"), "infer", live=True)
    golden("timeline/lws-ko.txt", render_text(lws, title="lab-lws  한 그룹, 한 운명", width=80, events=True))


def test_in_ascii(golden: Golden, lws: Timeline) -> None:
    text = render_text(lws, title=TITLE, width=80, ascii_only=True, events=True)
    golden("timeline/lws-ascii.txt", text)
    assert text.isascii()


def test_a_jobset_that_was_restarted(golden: Golden) -> None:
    found = timeline_of(histories.load("lab-jobset"), "team-a")
    golden("timeline/jobset.txt", render_text(found, title="lab-jobset", width=100, events=True))


@pytest.mark.parametrize("width", [40, 61, 80, 200])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_line_is_wider_than_asked(width: int, lang: str) -> None:
    i18n.set_language(lang)
    gaps = (Gap("Pod", 1_796_046_575.0, 1_796_046_577.0, "expired"),)
    found = timeline_of(histories.load("lab-lws"), "elsewhere", gaps=gaps, live=True, more=3000)
    every: tuple[dict[str, Any], ...] = ({}, {"ascii_only": True}, {"events": True})
    for options in every:
        text = render_text(found, title="lab-lws  " + "한 그룹, " * 9, width=width, **options)
        assert max(map(cell_len, text.splitlines())) <= width


def test_colours_change_no_character(lws: Timeline) -> None:
    plain, coloured = (render_text(lws, title=TITLE, colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_messages_can_not_steer_the_terminal(play: Play) -> None:
    play.pod(
        0, "evil\x1b[2J\u202e", "ADDED", conditions=[{"type": "PodScheduled", "status": "False", "message": "\x1b]0;"}]
    )
    text = render_text(timeline_of(play.changes), title="x", events=True)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_nothing_yet() -> None:
    text = render_text(timeline_of([], live=True), title="lab-x")
    assert "no pod has been seen yet" in text


@pytest.mark.parametrize(
    ("seconds", "says"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (321, "5 min 21 s"), (3 * 3600 + 120, "3 h 2 min")]
)
def test_durations(seconds: float, says: str) -> None:
    assert duration(seconds) == says


class TestCells:
    """What wins where more happens than fits."""

    @staticmethod
    def bar(timeline: Timeline, label: str, window: Window, **more: Any) -> str:
        return "".join(cell.text for cell in cells(row(timeline, label), timeline, window, **more))

    def test_each_phase_begins_with_its_letter(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        play.pod(2, "a", node="n")
        play.pod(4, "a", node="n", phase="Running")
        play.pod(8, "a", node="n", phase="Failed")
        found = timeline_of(play.changes, more=2)
        assert self.bar(found, "a", Window(T0, 12, 12)) == "P┄C┈R━━━F╍  "
        assert self.bar(found, "a", Window(T0, 12, 12), glyphs=ASCII) == "P.C:R===Fx  "

    def test_of_phases_in_one_cell_the_last_is_shown(self, play: Play) -> None:
        play.pod(0, "a", "ADDED")
        play.pod(0.1, "a", node="n")
        play.pod(0.2, "a", node="n", phase="Running")
        assert self.bar(timeline_of(play.changes, more=2), "a", Window(T0, 3, 3)).startswith("R━")

    def test_a_recreation_is_seen_however_short_it_was(self, play: Play) -> None:
        play.pod(0, "a", "ADDED", uid="1", node="n", phase="Running")
        play.pod(100, "a", uid="1", node="n", phase="Running", doomed=True)
        play.pod(101, "a", "DELETED", uid="1")
        play.pod(101.1, "a", "ADDED", uid="2", node="n", phase="Running")
        play.pod(101.5, "a", uid="2", phase="Running", node="n", statuses=[{"name": "c", "restartCount": 1}])
        found = timeline_of(play.changes, more=500)
        assert self.bar(found, "a", Window(T0, 600, 6)) == "R◆━━━━"
        assert cells(row(found, "a"), found, Window(T0, 600, 6))[1].mark is Mark.RECREATED

    def test_a_restart_stands_on_its_cell(self, play: Play) -> None:
        play.pod(0, "a", "ADDED", node="n", phase="Running", statuses=[{"name": "c", "restartCount": 0}])
        play.pod(5, "a", node="n", phase="Running", statuses=[{"name": "c", "restartCount": 2}])
        found = timeline_of(play.changes, more=5)
        assert self.bar(found, "a", Window(T0, 10, 10)) == "R━━━━↻━━━━"
        assert cells(row(found, "a"), found, Window(T0, 10, 10))[5].phase is Phase.RUNNING

    def test_what_was_not_recorded_is_not_claimed(self, play: Play) -> None:
        play.pod(0, "a", "ADDED", node="n", phase="Running")
        found = timeline_of(play.changes, gaps=(Gap("Pod", T0 + 3, T0 + 6, "expired"),), more=10)
        assert self.bar(found, "a", Window(T0, 10, 10)) == "R━━░░░━━━━"

    def test_a_window_beside_everything_is_empty(self, lws: Timeline) -> None:
        assert self.bar(lws, "llm-0", Window(T0, 60, 8)) == " " * 8

    @pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
    def test_every_glyph_is_one_cell_wide(self, glyphs: Any) -> None:
        every = [*glyphs.fill.values(), glyphs.recreated, glyphs.restarted, glyphs.unseen, glyphs.now]
        assert [cell_len(each) for each in every] == [1] * len(every)
