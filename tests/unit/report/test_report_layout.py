"""Fitting text into cells."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from grader.report import layout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain · 한글 — naïve", "plain · 한글 — naïve"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("bell\x07, del\x7f, c1\x9b", "bell\\x07, del\\x7f, c1\\x9b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\U000e0041", "\\U000e0041"),
        ("cr\rlf\r\nend\ttab", "cr\\x0dlf\nend tab"),
        ("no\u00a0break", "no break"),
        ("bad \udcff byte", "bad \\udcff byte"),
        ("\u1112\u1161\u11ab", "한"),
    ],
)
def test_clean_shows_what_a_terminal_would_obey(text: str, shown: str) -> None:
    assert layout.clean(text) == shown


def test_one_line_has_none() -> None:
    assert layout.one_line(" a\nb\r\nc\n") == "a b c"


def test_wrap_breaks_at_spaces_by_cells() -> None:
    assert layout.wrap("aa bb cc", 5) == ["aa bb", "cc"]
    # Each Hangul syllable is two cells wide.
    assert layout.wrap("그룹 하나 랙", 9) == ["그룹 하나", "랙"]
    assert layout.wrap("그룹 하나 랙", 8) == ["그룹", "하나 랙"]


def test_wrap_breaks_words_only_where_it_must() -> None:
    assert layout.wrap("x abcdefgh", 4) == ["x", "abcd", "efgh"]
    assert layout.wrap("가나다라마", 5) == ["가나", "다라", "마"]
    assert layout.wrap("가", 1) == ["가"], "there is no narrower way"


def test_a_word_that_is_too_long_is_broken_behind_punctuation() -> None:
    path = 'spec.resourceGroups[0].flavors["gpu"].resources["nvidia.com/gpu"].nominalQuota'
    assert layout.wrap(path, 62) == [
        'spec.resourceGroups[0].flavors["gpu"].resources["nvidia.com/',
        'gpu"].nominalQuota',
    ]
    assert layout.wrap("a.bcdefghijkl", 8) == ["a.bcdefg", "hijkl"], "not where most of the line would stay empty"


def test_wrap_keeps_new_lines_and_says_that_something_is_missing() -> None:
    assert layout.wrap("one\n\ntwo\n", 10) == ["one", "", "two"]
    long = layout.wrap("\n".join(map(str, range(50))), 10)
    assert long == [*map(str, range(11)), "11…"]
    flood = layout.wrap("word " * 100_000, 60)
    assert len(flood) == layout.MOST_LINES
    assert flood[-1].endswith("…")
    assert max(map(cell_len, flood)) <= 60


def test_wrap_of_nothing_is_one_empty_line() -> None:
    assert layout.wrap("", 10) == [""]


def test_command_is_broken_so_that_it_can_be_copied() -> None:
    command = "kubectl -n infer get pods -o jsonpath='{.items[*].metadata.name} and more' --watch"
    lines = layout.wrap_command(command, 30)
    assert lines == [
        "kubectl -n infer get pods -o \\",
        "jsonpath='{.items[*].metadata.name} and more' \\",
        "--watch",
    ]
    assert " ".join(line.removesuffix(" \\") for line in lines) == command


def test_command_with_an_escaped_space_or_an_open_quote_stays_whole() -> None:
    assert layout.wrap_command("cat a\\ b c", 5) == ["cat \\", "a\\ b \\", "c"]
    assert layout.wrap_command("cat \"it's open", 4) == ["cat \\", "\"it's open"]


def test_short_command_is_left_alone() -> None:
    assert layout.wrap_command("kubectl get pods", 80) == ["kubectl get pods"]


def test_commands_are_told_from_fields() -> None:
    assert layout.is_command("kubectl get pods")
    assert not layout.is_command("status.conditions of the pod")
    assert not layout.is_command("kubectlish")


def test_items_are_kept_together_where_they_fit() -> None:
    assert layout.wrap_items(["a:1", "Pod x/y", "history 12:03 to 12:04"], 16) == [
        "a:1 · Pod x/y",
        "history 12:03 to",
        "12:04",
    ]
    assert layout.wrap_items([], 16) == []


def test_cut_and_spread_by_cells() -> None:
    assert layout.cut("그룹 하나", 9) == "그룹 하나"
    assert layout.cut("그룹 하나", 8) == "그룹 하…"
    assert layout.cut("그룹", 0) == ""
    assert layout.spread("제목", "3 of 8", 16) == "제목      3 of 8"
    line = layout.spread("아주 긴 제목이 여기에 있다", "3 of 8", 20)
    assert cell_len(line) == 20
    assert line == "아주 긴 제목… 3 of 8"


def test_hanging_puts_lines_under_one_another() -> None:
    assert layout.hanging("saw", ["one", "two"], 2, 8) == ["  saw   one", "        two"]
    assert layout.hanging("a-long-label", ["one"], 2, 8) == ["  a-long-label one"]
    assert layout.hanging("본 것", ["하나", "둘"], 2, 8) == ["  본 것 하나", "        둘"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert layout.colours(Terminal())
    assert not layout.colours(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not layout.colours(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not layout.colours(Terminal())


def test_width_without_a_terminal_is_80() -> None:
    assert layout.width_of(io.StringIO()) == 80
    assert layout.width_of(Terminal()) == 80


def test_paint_marks_nothing_when_off() -> None:
    assert layout.paint("PASS", layout.GREEN, on=False) == "PASS"
    assert layout.paint("PASS", layout.GREEN, on=True) == "\x1b[32mPASS\x1b[0m"
