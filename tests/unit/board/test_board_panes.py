"""Rows, columns, filters and bars, and the board as text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.cells import cell_len

from cluster import i18n
from grader.board.columns import GAP, widths
from grader.board.describe import describe
from grader.board.feed import Look, Trust
from grader.board.model import Board, Ref
from grader.board.panes import (
    EVENTS,
    FANCY,
    GROUPS,
    NODES,
    PANES,
    PLAIN,
    PODS,
    QUEUES,
    Pane,
    age,
    chosen,
    rows,
    slots,
    troubles,
)
from grader.board.text import render_board
from tests.unit.board.conftest import Cluster, recorded
from tests.unit.conftest import Golden

AT = 1_796_046_700.0


def look(board: Board, trust: Trust = Trust.LIVE) -> Look:
    return Look(board=board, trust=trust, since=AT, until=AT)


class TestColumns:
    @pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
    @pytest.mark.parametrize("width", [1, 10, 24, 37, 50, 76, 118, 300])
    def test_fit_whatever_the_width(self, pane: Pane, width: int) -> None:
        found = widths(pane.columns, width)
        shown = [each for each in found if each]
        assert all(each >= 0 for each in found)
        assert sum(shown) + GAP * (len(shown) - 1) <= width
        if width >= 76:
            assert sum(shown) + GAP * (len(shown) - 1) == width
            assert found.count(0) <= 1

    def test_the_least_important_goes_first(self) -> None:
        full = sum(column.least for column in PODS.columns) + GAP * (len(PODS.columns) - 1)
        assert 0 not in widths(PODS.columns, full)
        found = widths(PODS.columns, full - 1)
        assert [column.title for column, wide in zip(PODS.columns, found, strict=True) if not wide] == ["ready"]


class TestBars:
    @pytest.mark.parametrize(
        ("used", "total", "more", "bar"),
        [
            (0, 4, {}, "□□□□"),
            (3, 4, {}, "■■■□"),
            (4, 4, {"ending": 2}, "■■▨▨"),
            (1, 4, {"closed": True}, "■×××"),
            (6, 4, {"over": 2}, "■■■■++"),
            (0, 0, {}, ""),
            (1, 64, {}, "■" + "□" * 16),
            (64, 64, {}, "■" * 16),
        ],
    )
    def test_show_what_is_used(self, used: int, total: int, more: dict[str, Any], bar: str) -> None:
        assert slots(used, total, FANCY, **more) == bar

    def test_have_a_twin_in_ascii(self) -> None:
        assert slots(3, 6, PLAIN, ending=1) == "##%..."


@pytest.mark.parametrize(
    ("seconds", "says"), [(-1, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (7200, "2h"), (200_000, "2d")]
)
def test_ages(seconds: float, says: str) -> None:
    assert age(seconds) == says


class TestChoosing:
    def test_words_are_looked_for_in_the_whole_row(self) -> None:
        found = rows(PODS, recorded("lab-cohort", "team-a"), AT)
        assert {row.ref.name for row in chosen(found, "GPU-B owner")} == {
            "owner-5l6hk",
            "owner-7qfcp",
            "owner-x5wmp",
        }
        assert chosen(found, "nothing-like-it") == []

    def test_a_part_keeps_its_head(self) -> None:
        found = rows(GROUPS, recorded("lab-lws", "infer"), AT)
        assert [row.cells[0].text.strip() for row in chosen(found, "group 1")] == ["lws/llm", "group 1"]

    def test_faults_are_what_waits_or_is_broken(self) -> None:
        found = rows(QUEUES, recorded("lab-cohort", "team-a"), AT)
        assert [row.cells[0].text.strip() for row in chosen(found, faults=True)] == ["team-a", "job/extra"]
        assert troubles(found) == 1

    def test_keys_tell_all_rows_apart(self) -> None:
        for name, space in (("lab-lws", "infer"), ("lab-cohort", "team-a"), ("lab-jobset", "team-a")):
            for pane in PANES:
                keys = [row.key for row in rows(pane, recorded(name, space), AT)]
                assert len(keys) == len(set(keys))

    def test_each_row_has_a_cell_for_each_column(self) -> None:
        for pane in (NODES, GROUPS, QUEUES, PODS, EVENTS):
            for row in rows(pane, recorded("lab-cohort", "team-a"), AT):
                assert len(row.cells) == len(pane.columns)


class TestText:
    @pytest.mark.parametrize(("name", "space"), [("lab-lws", "infer"), ("lab-cohort", "team-a")])
    def test_of_real_labs(self, golden: Golden, name: str, space: str) -> None:
        golden(f"board/{name}.txt", render_board(look(recorded(name, space)), title=name, width=100, now=AT))

    def test_in_korean_and_ascii(self, golden: Golden) -> None:
        board = recorded("lab-cohort", "team-a")
        text = render_board(look(board), title="lab-cohort", width=80, now=AT, ascii_only=True)
        golden("board/ascii.txt", text)
        assert text.isascii()
        i18n.set_language("ko")
        golden("board/ko.txt", render_board(look(board), title="lab-cohort", width=80, now=AT))

    @pytest.mark.parametrize("lang", ["en", "ko"])
    @pytest.mark.parametrize("width", [40, 63, 80, 200])
    @pytest.mark.parametrize("trust", Trust)
    def test_no_line_is_wider_than_asked(self, lang: str, width: int, trust: Trust) -> None:
        i18n.set_language(lang)
        text = render_board(look(recorded("lab-cohort", "x"), trust), title="제목 " * 9, width=width, now=AT)
        assert max(map(cell_len, text.splitlines())) <= width

    def test_what_is_not_live_says_of_when_it_is(self) -> None:
        text = render_board(look(Board(), Trust.BEHIND), title="x", now=AT)
        assert "the cluster does not answer; this is how it was at 13:51:40" in text

    def test_colours_change_no_character(self) -> None:
        board = look(recorded("lab-cohort", "team-a"))
        plain, coloured = (render_board(board, title="x", now=AT, colour=colour) for colour in (False, True))
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
        assert "\x1b" not in plain

    def test_messages_can_not_steer_the_terminal(self, cluster: Cluster) -> None:
        cluster.put(
            "Event", "e", involvedObject={"kind": "Pod", "name": "\x1b[2J"}, reason="\x1b]0;", message="a\x07\u202e"
        )
        text = render_board(look(cluster.board), title="x", now=AT)
        assert not set(text) & {"\x1b", "\x07", "\u202e"}


class TestDescribing:
    def test_has_the_events_then_the_object(self, cluster: Cluster) -> None:
        cluster.pod(
            "a", meta={"managedFields": [1], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}}
        )
        about = {"kind": "Pod", "namespace": "lab", "name": "a"}
        cluster.put("Event", "e", involvedObject=about, type="Warning", reason="BackOff", message="again\x1b", count=3)
        page = describe(cluster.store, Ref("Pod", "lab", "a"))
        assert page.startswith("Events\n ! ")
        assert "BackOff: again\\x1b ×3" in page
        assert "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a" in page
        assert "managedFields" not in page
        assert "last-applied" not in page

    def test_of_what_is_gone_says_so(self, cluster: Cluster) -> None:
        assert describe(cluster.store, Ref("Pod", "lab", "a")) == "Pod lab/a is gone\n"
