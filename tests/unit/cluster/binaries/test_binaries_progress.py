"""What a person sees while binaries are made."""

from __future__ import annotations

import io

import pytest

from cluster.binaries.progress import BuildEvent, BuildState, PlainProgress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _event(state: BuildState, seconds: float = 0.0, detail: str = "") -> BuildEvent:
    return BuildEvent(
        task="kubelet", state=state, index=3, total=21, seconds=seconds, elapsed=60 + seconds, detail=detail
    )


def test_in_a_log_each_task_is_one_line() -> None:
    out = io.StringIO()
    say = PlainProgress(out)
    for event in (_event("started"), _event("running", 1.0), _event("running", 2.0), _event("done", 25.2)):
        say(event)
    assert out.getvalue() == "[ 3/21] kubelet                        25 s   (1 m 25 s so far)\n"


def test_in_a_log_a_long_task_shows_life_once_a_minute() -> None:
    out = io.StringIO()
    say = PlainProgress(out)
    say(_event("started"))
    for second in range(1, 130):
        say(_event("running", float(second)))
    assert [line.split("kubelet")[1].split("(")[0].strip() for line in out.getvalue().splitlines()] == [
        "1 m 00 s …",
        "2 m 00 s …",
    ]


def test_on_a_terminal_the_line_is_rewritten() -> None:
    out = Terminal()
    say = PlainProgress(out)
    for event in (_event("started"), _event("running", 1.0), _event("done", 2.0)):
        say(event)
    parts = out.getvalue().split("\r\x1b[K")
    assert len(parts) == 4
    assert "\n" not in "".join(parts[:3])
    assert parts[3].endswith("\n")


def test_a_note_does_not_overwrite_the_running_line() -> None:
    out = Terminal()
    say = PlainProgress(out)
    say(_event("running", 1.0))
    say(_event("note", detail="a note"))
    assert out.getvalue().endswith("\r\x1b[Ka note\n")


def test_a_failed_task_says_so() -> None:
    out = io.StringIO()
    PlainProgress(out)(_event("failed", 4.0))
    assert out.getvalue().rstrip().endswith("4 s failed")


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 m 00 s"), (725, "12 m 05 s")])
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
