"""Where boards come from: the recorder's store, and how far it is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import MachineStatus
from grader.board import feed as feeds
from grader.board import why as whys
from grader.board.feed import SessionFeed, Trust
from grader.board.model import Ref
from grader.history.store import HistoryWriter
from grader.history.synced import Synced
from tests import histories


class Machine:
    """What a session's machine would say."""

    def __init__(self) -> None:
        self.state: Any = "running"
        self.synced = Synced(synced=True, at=2_000_000_000.0)
        self.asked = 0

    def sync(self, *_args: object) -> Synced:
        self.asked += 1
        return self.synced


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state=machine.state))
    monkeypatch.setattr(feeds, "wait_synced", machine.sync)
    monkeypatch.setattr(feeds, "ASK_SECONDS", 0.0)
    return machine


@pytest.fixture
def home(tmp_path: Path) -> Path:
    histories.written(tmp_path / "history.db", histories.load("lab-lws"))
    return tmp_path


def test_the_first_look_has_what_stands(home: Path, machine: Machine) -> None:
    with SessionFeed(home, "infer") as feed:
        look = feed.look()
    assert [line.ref.name for line in look.board.pods] == ["llm-0", "llm-0-1", "llm-1", "llm-1-1"]
    assert (look.trust, look.until) == (Trust.LIVE, 2_000_000_000.0)


def test_a_later_look_has_what_changed(home: Path, machine: Machine) -> None:
    with SessionFeed(home, "infer") as feed, HistoryWriter(home / "history.db") as writer:
        first = feed.look().board
        assert feed.look().board is first, "nothing is built again while nothing changes"
        last = next(each for each in reversed(histories.load("lab-lws")) if each.name == "llm-1-1")
        writer.append([_gone(last)])
        assert len(feed.look().board.pods) == 3


def _gone(change: Any) -> Any:
    from dataclasses import replace

    return replace(change, verb="DELETED", at=change.at + 1000, resource_version="99999")


@pytest.mark.parametrize(
    ("state", "synced", "trust"),
    [
        ("running", Synced(synced=False, at=1.0, behind=("Pod",)), Trust.BEHIND),
        ("running", Synced(synced=False), Trust.SILENT),
        ("starting", Synced(synced=False), Trust.STARTING),
        ("stopped", Synced(synced=False), Trust.STOPPED),
        ("dead", Synced(synced=False), Trust.DEAD),
    ],
)
def test_what_can_not_be_trusted_is_said_and_shown_all_the_same(
    home: Path, machine: Machine, state: str, synced: Synced, trust: Trust
) -> None:
    machine.state, machine.synced = state, synced
    with SessionFeed(home, "infer") as feed:
        look = feed.look()
        assert look.trust is trust
        assert len(look.board.pods) == 4
        assert look.says
        machine.state, machine.synced = "running", Synced(synced=True, at=5.0)
        assert feed.look().trust is Trust.LIVE


def test_while_there_is_no_history_there_is_an_empty_board(tmp_path: Path, machine: Machine) -> None:
    machine.state = "starting"
    with SessionFeed(tmp_path, "infer") as feed:
        look = feed.look()
        assert (look.board.pods, look.trust, look.until) == ((), Trust.STARTING, 0.0)
        histories.written(tmp_path / "history.db", histories.load("lab-lws"))
        assert len(feed.look().board.pods) == 4


def test_a_reset_begins_another_board(home: Path, machine: Machine) -> None:
    with SessionFeed(home, "team-a") as feed:
        feed.look()
        other = home / "other.db"
        histories.written(other, histories.load("lab-jobset"))
        other.replace(home / "history.db")
        names = {line.ref.name for line in feed.look().board.pods}
    assert names
    assert not any(name.startswith("llm") for name in names)


def test_a_recorder_that_was_asked_is_left_in_peace(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "ASK_SECONDS", 1000.0)
    with SessionFeed(home, "infer") as feed:
        for _n in range(5):
            feed.look()
    assert machine.asked == 1


class TestWhy:
    def test_is_asked_of_the_examiner(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[list[str]] = []
        cause = {"id": "never-fits", "says": "too much", "where": ["Job lab/big"], "look_at": "", "fault": "learner"}
        said = {"of": "Job lab/big", "state": "suspended", "healthy": False, "cause": cause}
        said |= {"chain": [{"object": "Job lab/big", "says": "suspended"}], "schema": "x"}

        def answer(_home: Path, argv: list[str]) -> dict[str, Any]:
            asked.append(argv)
            return said

        monkeypatch.setattr(whys, "examined_json", answer)
        feed = SessionFeed(home, "lab")
        assert "too much" in feed.why(Ref("Job", "lab", "big"))
        feed.why(Ref("Job", "team-b", "big"))
        assert asked == [["why", "job/big", "--json"], ["why", "job/big", "-n", "team-b", "--json"]]

    def test_an_answer_of_another_version_is_no_bug(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(whys, "examined_json", lambda *_args: {"schema": "batchlab/why/v9"})
        with pytest.raises(EnvironmentProblem, match="another version"):
            SessionFeed(home, "lab").why(Ref("Job", "lab", "big"))
