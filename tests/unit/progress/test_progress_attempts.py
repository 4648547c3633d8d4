"""`attempts.jsonl`: whole lines only, bounded, two writers at once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.progress import Attempt, read_attempts
from grader.progress import attempts as module
from grader.progress.attempts import append_attempt
from grader.results import State

if TYPE_CHECKING:
    from pathlib import Path


def attempt(at: float, lab: str = "lab-x", **steps: State) -> Attempt:
    return Attempt(lab=lab, at=at, seconds=0.5, steps=steps or {"one": State.PASSED}, total=2)


def test_line_holds_lab_time_states_seconds_and_sums(tmp_path: Path) -> None:
    append_attempt(attempt(12.34567, one=State.PASSED, two=State.WAITING), tmp_path)
    assert json.loads((tmp_path / "attempts.jsonl").read_text()) == {
        "schema": 1,
        "lab": "lab-x",
        "at": 12.346,
        "seconds": 0.5,
        "passed": 1,
        "total": 2,
        "steps": {"one": "passed", "two": "waiting"},
    }
    (back,) = read_attempts(tmp_path)
    assert back == attempt(12.346, one=State.PASSED, two=State.WAITING)
    assert back.whole_lab
    assert not attempt(1.0).whole_lab


def test_no_file_is_no_attempts(tmp_path: Path) -> None:
    assert read_attempts(tmp_path) == []


def test_only_the_newest_lines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 5)
    for number in range(12):
        append_attempt(attempt(float(number)), tmp_path)
    assert [kept.at for kept in read_attempts(tmp_path)] == [7.0, 8.0, 9.0, 10.0, 11.0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["attempts.jsonl", "progress.lock"]


def test_the_real_bound_is_2000_lines(tmp_path: Path) -> None:
    line = json.dumps(module._content(attempt(0.0))) + "\n"
    (tmp_path / "attempts.jsonl").write_text(line * 2000)
    append_attempt(attempt(7.0), tmp_path)
    kept = read_attempts(tmp_path)
    assert len(kept) == 2000
    assert kept[-1].at == 7.0


def test_bytes_are_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    for number in range(20):
        append_attempt(attempt(float(number)), tmp_path)
        assert (tmp_path / "attempts.jsonl").stat().st_size <= 1000
    kept = [one.at for one in read_attempts(tmp_path)]
    assert kept == [float(number) for number in range(20 - len(kept), 20)]
    assert len(kept) > 3


def test_half_a_line_is_ended_and_left_out(tmp_path: Path) -> None:
    append_attempt(attempt(1.0), tmp_path)
    path = tmp_path / "attempts.jsonl"
    path.write_bytes(path.read_bytes() + b'{"schema": 1, "lab": "lab-')
    append_attempt(attempt(2.0), tmp_path)
    assert [kept.at for kept in read_attempts(tmp_path)] == [1.0, 2.0]


@pytest.mark.parametrize(
    "line",
    [
        '{"schema": 2}',
        "[]",
        "7",
        '{"schema": 1, "lab": "x"}',
        '{"schema": 1, "lab": "x", "at": 1, "seconds": 1, "steps": {"a": "maybe"}, "total": 1}',
        '{"schema": 1, "lab": "x", "at": 1, "seconds": 1, "steps": [], "total": 1}',
    ],
)
def test_a_bad_line_does_not_hide_the_others(tmp_path: Path, line: str) -> None:
    append_attempt(attempt(1.0), tmp_path)
    path = tmp_path / "attempts.jsonl"
    path.write_text(line + "\n" + path.read_text())
    assert [kept.at for kept in read_attempts(tmp_path)] == [1.0]


def test_something_else_in_its_place_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "attempts.jsonl").mkdir()
    assert read_attempts(tmp_path) == []
    assert "attempts.jsonl.damaged-" in append_attempt(attempt(1.0), tmp_path)
    assert [kept.at for kept in read_attempts(tmp_path)] == [1.0]


WRITER = """
import sys
from pathlib import Path
from grader.progress import attempts
from grader.results import State
attempts.MOST_LINES = 150
for number in range(100):
    one = attempts.Attempt(lab=sys.argv[2], at=float(number), seconds=1.0, steps={"s": State.PASSED}, total=1)
    attempts.append_attempt(one, Path(sys.argv[1]))
"""


def test_two_writers_lose_and_mix_nothing_while_the_file_is_rewritten(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name]) for name in ("lab-a", "lab-b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    lines = (tmp_path / "attempts.jsonl").read_text().splitlines()
    kept = read_attempts(tmp_path)
    assert len(lines) == len(kept) == 150
    for name in ("lab-a", "lab-b"):
        times = [one.at for one in kept if one.lab == name]
        # Each writer's own lines are in order and without a hole, up to its last.
        assert times == [float(number) for number in range(100 - len(times), 100)]
