"""How start time and memory grow with the number of sessions that start at once."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import psutil

from cluster.errors import EnvironmentProblem
from tests.bench import load
from tests.bench.figures import Figure, Ratio, Report
from tests.bench.ground import Ground
from tests.bench.idle import rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PART = "sessions"
_ROOT = Path(__file__).resolve().parents[2]


def measure(ground: Ground, report: Report, runs: int, seconds: float, sizes: Sequence[int]) -> None:
    """Sessions with fake nodes only, each in a process of its own, all let go at the same moment.

    A size that this machine has no memory for is left out with a note.
    EnvironmentProblem where a session did not start.
    """
    for size in sizes[1:]:
        report.ratios.append(
            Ratio(f"{size} sessions ÷ {sizes[0]}, start", f"sessions.{size}.start", f"sessions.{sizes[0]}.start")
        )
    for size in sizes[1:]:
        report.ratios.append(
            Ratio(f"{size} sessions ÷ {sizes[0]}, memory", f"sessions.{size}.memory", f"sessions.{sizes[0]}.memory")
        )
    for size in sizes:
        for number in range(1, runs + 1):
            ground.say(f"sessions {number}/{runs}: {size} at once, then {seconds:g} s")
            if (short := _too_little_memory(report, size)) is not None:
                report.notes.append(f"{size} sessions at once: {short}")
                break
            try:
                last, memory = _together(ground, size, seconds)
            except EnvironmentProblem as problem:  # a larger number would fare no better
                raise EnvironmentProblem(f"{size} at once: {problem.message}") from problem
            title = f"{size} at once: until the last is READY" if size > 1 else "1 alone: until READY"
            report.add(Figure(id=f"sessions.{size}.start", part=PART, title=title, unit="s"), last)
            title = f"{size} {'at once' if size > 1 else 'alone'}: memory (PSS) of all, {seconds:g} s after READY"
            report.add(Figure(id=f"sessions.{size}.memory", part=PART, title=title, unit="MB"), memory)


def _too_little_memory(report: Report, size: int) -> str | None:
    """Why `size` sessions would press the machine into killing processes; None if they fit."""
    fewer = [n for n in range(1, size) if report.median(f"sessions.{n}.memory") is not None]
    if not fewer:
        return None
    needed = size * (report.median(f"sessions.{fewer[-1]}.memory") or 0) / fewer[-1]
    free = psutil.virtual_memory().available / 1e6
    return None if needed < free else f"they need about {needed:.0f} MB, {free:.0f} MB are free"


def _together(ground: Ground, size: int, seconds: float) -> tuple[float, float]:
    """(seconds until the last of `size` was READY, megabytes of all after a rest)."""
    with ExitStack() as end:
        members = [end.enter_context(_member(ground, number)) for number in range(size)]
        for _home, out, _into in members:
            if _line(out) != "ready":
                raise EnvironmentProblem("a session's process ended early")
        for _home, _out, into in members:
            _tell(into)
        answers = [json.loads(_line(out) or "{}") for _home, out, _into in members]
        for answer in answers:
            if "seconds" not in answer:
                raise EnvironmentProblem(answer.get("problem", "a session's process ended early"))
        rest(seconds)
        memory = sum(one.pss for home, _out, _into in members for one in load.memory(home).values())
        for _home, _out, into in members:
            _tell(into)  # all at once, before the first is waited for
        return max(answer["seconds"] for answer in answers), memory


@contextmanager
def _member(ground: Ground, number: int) -> Iterator[tuple[Path, IO[str], IO[str]]]:
    """A process that will start a session and stop it: its session folder and its pipes."""
    config = ground.fake(f"many-{number}")
    file = ground.folder / f"many-{number}.json"
    file.write_text(config.to_json(), encoding="utf-8")
    argv = [sys.executable, "-m", "tests.bench.member", str(file)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield config.home, process.stdout, process.stdin
    finally:
        # Interrupts reach it as well; without one, the closed pipe is what ends it and its machine.
        try:
            process.stdin.close()
        except BrokenPipeError:
            process.terminate()
        process.stdout.close()
        process.wait()


def _line(stream: IO[str]) -> str:
    return stream.readline().strip()


def _tell(stream: IO[str]) -> None:
    try:
        stream.write("go\n")
        stream.flush()
    except BrokenPipeError as error:
        raise EnvironmentProblem("a session's process ended early") from error
