"""timeline: where it is read, in which forms it comes, and what is said where there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cluster import local
from cluster.machine import MachineStatus
from grader.history.synced import Synced
from grader.session.examiner_client import WRITES_FILE
from grader.session.here import Examination
from grader.timeline import session
from tests import histories
from tests.unit.cli.conftest import Grader


@pytest.fixture
def home(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a session that was stopped."""
    folder = state_home / "sessions" / "lab-toy"
    folder.mkdir(parents=True)
    histories.written(folder / "history.db", histories.load("lab-lws"))
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="stopped"))
    return folder


def test_of_a_lab_that_was_stopped(grader: Grader, home: Path) -> None:
    ran = grader("timeline", "lab-toy", "--width", "90")
    assert (ran.code, ran.err) == (0, "")
    assert "group 0  recreated 1×" in ran.out
    assert "stopped" in ran.out
    assert home.is_dir()


def test_of_a_running_lab_it_waits_for_the_recorder(
    grader: Grader, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def synced(socket: Path, seconds: float, kinds: tuple[str, ...]) -> Synced:
        asked.append((socket.parent.parent, seconds, kinds))
        return Synced(synced=True, at=1_796_050_000.0)

    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="running"))
    monkeypatch.setattr(session, "wait_synced", synced)
    ran = grader("timeline", "lab-toy", "--json")
    assert asked == [(home, 1.0, ("Pod",))]
    assert json.loads(ran.out)["end"] == "2026-11-30T14:46:40.000Z"


def test_a_recorder_that_is_behind_is_not_believed(grader: Grader, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="running"))
    monkeypatch.setattr(session, "wait_synced", lambda *_args: Synced(synced=False, at=1_796_050_000.0))
    assert json.loads(grader("timeline", "lab-toy", "--json").out)["end"].startswith("2026-11-30T13:49:42")


def test_as_a_picture(grader: Grader, home: Path, tmp_path: Path) -> None:
    picture = tmp_path / "t.svg"
    ran = grader("timeline", "lab-toy", "--svg", str(picture))
    assert (ran.code, ran.out, ran.err) == (0, "", f"grader: written to {picture}\n")
    assert picture.read_text().startswith("<svg ")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_picture_that_can_not_be_written(grader: Grader, home: Path, tmp_path: Path) -> None:
    ran = grader("timeline", "lab-toy", "--svg", str(tmp_path / "no" / "t.svg"))
    assert ran.code == 2
    assert "can't write" in ran.err


def test_the_last_while(grader: Grader, home: Path) -> None:
    ran = grader("timeline", "lab-toy", "--last", "2s", "--events")
    assert "2 s" in ran.out.splitlines()[0]
    assert "gone" in ran.out
    assert "placed on node" in ran.out
    assert "CreatingRevision" not in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--last", "soon"], "soon is no while"),
        (["--last", "0"], "0 is no while"),
        (["--width", "9"], "--width: a whole number from 40 to 400"),
        (["--json", "--svg", "x"], "either --json or --svg"),
    ],
)
def test_nonsense_is_refused(grader: Grader, home: Path, words: list[str], says: str) -> None:
    ran = grader("timeline", "lab-toy", *words)
    assert ran.code == 2
    assert says in ran.err


def test_of_a_lab_that_was_never_started(grader: Grader) -> None:
    ran = grader("timeline", "lab-toy")
    assert (ran.code, ran.out) == (3, "")
    assert "nothing of lab-toy has been recorded" in ran.err
    assert "grader start lab-toy" in ran.err


def test_inside_a_lab_the_asking_side_opened_the_file(
    grader: Grader, inside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    histories.written(inside / "history.db", histories.load("lab-lws"))
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="stopped"))
    opened = os.open(tmp_path / "opened", os.O_CREAT | os.O_WRONLY)
    from grader.session import here

    monkeypatch.setattr(here, "_examination", Examination(home=inside, files={"--svg": opened}))
    ran = grader("timeline", "--svg", "elsewhere.svg")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (tmp_path / "opened").read_text().startswith("<svg ")
    assert "--svg" in WRITES_FILE
