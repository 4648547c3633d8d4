"""board: what is printed, what is refused, and who serves it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cluster import local
from cluster.machine import MachineStatus
from grader.board.document import BoardDocument
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


def test_json_has_everything(grader: Grader, home: Path) -> None:
    ran = grader("board", "lab-toy", "--json")
    assert (ran.code, ran.err) == (0, "")
    told = BoardDocument.model_validate_json(ran.out, by_name=True, by_alias=True)
    assert json.loads(ran.out)["schema"] == "batchlab/board/v1"
    assert (told.lab, told.trust, told.says[:18]) == ("lab-toy", "stopped", "the lab is stopped")
    assert [(node.object.name, node.used, node.gpus) for node in told.nodes] == [("gpu-a", 4, 4), ("gpu-b", 4, 4)]
    queue = told.queues[0]
    assert (queue.object.name, queue.cohort, queue.admitted, queue.waiting) == ("team-a", "ml", 1, 1)
    assert {quota.resource for quota in queue.quotas} == {"nvidia.com/gpu"}
    assert [(one.title, one.level) for one in queue.workloads] == [("job/extra", "waiting"), ("job/base", "ok")]
    assert told.unqueued == ()
    assert len(told.pods) == 8
    assert told.events
    assert told.events[0].at >= told.events[-1].at


def test_json_in_korean_has_the_same_states(grader: Grader, home: Path) -> None:
    english, korean = (json.loads(grader("board", "lab-toy", "--json", "--lang", one).out) for one in ("en", "ko"))
    assert (english["says"], english["language"]) != (korean["says"], korean["language"])
    for key in ("nodes", "groups", "queues", "pods", "trust"):
        assert english[key] == korean[key]


def test_json_watched_is_a_line_for_each_change(grader: Grader, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states = ["stopped", "stopped", "dead", "dead"]
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            raise KeyboardInterrupt
        monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state=states[len(pauses)]))  # type: ignore[arg-type]  # one of them

    monkeypatch.setattr(board, "_pause", pause)
    ran = grader("board", "lab-toy", "--watch", "--json")
    assert ran.code == 130
    assert [json.loads(line)["trust"] for line in ran.out.splitlines()] == ["stopped", "dead"]


@pytest.mark.parametrize("option", [("--faults",), ("--filter", "x"), ("--ascii",)])
def test_json_chooses_nothing(grader: Grader, home: Path, option: tuple[str, ...]) -> None:
    ran = grader("board", "lab-toy", "--json", *option)
    assert (ran.code, ran.out) == (2, "")
    assert "--json has everything" in ran.err
    assert grader("board", "lab-toy", "--json", "--serve").code == 2


def test_inside_a_lab_it_is_printed_too(grader: Grader, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    histories.written(inside / "history.db", histories.load("lab-lws"))
    monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="stopped"))
    assert "llm-0-1" in grader("board").out
    groups = json.loads(grader("board", "--json").out)["groups"]
    assert [(one["title"], [part["title"] for part in one["parts"]]) for one in groups] == [
        ("lws/llm", ["group 0", "group 1"])
    ]
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
