"""board: what is printed, what is refused, and who serves it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cluster import local
from cluster.machine import MachineStatus
from grader.cli import board
from grader.cli import tui as plugin
from tests import histories
from tests.unit.cli.conftest import Grader


@pytest.fixture
def home(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a session that was stopped."""
    folder = state_home / "sessions" / "lab-toy"
    folder.mkdir(parents=True)
    histories.written(folder / "history.db", histories.load("lab-cohort"))
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="stopped"))
    return folder


def test_prints_the_tables(grader: Grader, home: Path) -> None:
    ran = grader("board", "lab-toy")
    assert (ran.code, ran.err) == (0, "")
    for part in ("Nodes", "Groups", "Queues", "Pods", "Events", "gpu-a", "team-a: job/extra", "the lab is stopped"):
        assert part in ran.out


def test_faults_and_filter_choose(grader: Grader, home: Path) -> None:
    assert "job/base" not in grader("board", "lab-toy", "--faults").out
    out = grader("board", "lab-toy", "--filter", "owner gpu-b").out
    assert "owner-5l6hk" in out
    assert "base-" not in out


def test_watch_looks_again_until_interrupted(grader: Grader, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(board, "_pause", pause)
    ran = grader("board", "lab-toy", "--watch")
    assert (ran.code, ran.out.count("Nodes"), pauses) == (130, 3, [1.0] * 3)


def test_inside_a_lab_it_is_printed_too(grader: Grader, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    histories.written(inside / "history.db", histories.load("lab-lws"))
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="stopped"))
    assert "llm-0-1" in grader("board").out
    refused = grader("board", "--serve")
    assert refused.code == 2
    assert "does not run inside a lab" in refused.err


def test_the_application_serves_it(grader: Grader, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[str]] = []

    def application(words: Sequence[str]) -> int:
        asked.append(words)
        return 0

    monkeypatch.setattr(plugin, "application", application)
    assert grader("board", "lab-toy", "--serve", "--port", "8123", "--ascii").code == 0
    assert asked == [["--board", "lab-toy", "--serve", "--port", "8123", "--ascii"]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--port", "8000"], "--port goes with --serve"),
        (["--serve", "--watch"], "--serve shows everything"),
        (["--serve", "--port", "0"], "--port: a whole number from 1 to 65535"),
    ],
)
def test_nonsense_is_refused(grader: Grader, home: Path, words: list[str], says: str) -> None:
    ran = grader("board", "lab-toy", *words)
    assert ran.code == 2
    assert says in ran.err


def test_of_a_lab_that_was_never_started(grader: Grader) -> None:
    ran = grader("board", "lab-toy")
    assert (ran.code, ran.out) == (3, "")
    assert "nothing of lab-toy has been recorded" in ran.err
