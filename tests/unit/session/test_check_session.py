"""The main flow of `grader check`, with a real history, a real work folder and a real lab; no cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.api import Api
from cluster.errors import EnvironmentProblem
from cluster.machine import MachineConfig
from cluster.spec import ClusterSpec
from grader import check_session as flow
from grader.check_session import check_session
from grader.checks.recorded import RecordedCluster
from grader.history.synced import Synced
from grader.history.writer import HistoryWriter
from grader.lab.model import Lab
from grader.lab.parse import parse_lab
from grader.progress import load_progress, read_attempts, read_book
from grader.results import Result, State

TOY = Path(__file__).resolve().parents[1] / "cli" / "labs" / "lab-toy"


@pytest.fixture
def toy() -> Lab:
    lab, problems = parse_lab(TOY, "en")
    assert lab is not None, problems
    return lab


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> list[Synced]:
    """What the recorder answers: the last of these."""
    answers = [Synced(synced=True, at=1_800_000_000.0)]
    monkeypatch.setattr(flow, "wait_synced", lambda _socket, _deadline: answers[-1])
    return answers


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: list[Synced]) -> Path:
    del recorder
    home = tmp_path / "lab-toy"
    (home / "work").mkdir(parents=True)
    HistoryWriter(home / "history.db").close()
    config = MachineConfig(name="lab-toy", home=home, binaries=tmp_path, spec=ClusterSpec())
    (home / "machine.json").write_text(config.to_json())
    monkeypatch.setattr(Api, "from_kubeconfig", lambda _path: RecordedCluster())
    return home


@pytest.fixture
def write(home: Path) -> Callable[[str], None]:
    """Answer a step of the toy lab: its id is what the file wants to hear."""

    def answer(word: str) -> None:
        (home / "work" / f"{word}.txt").write_text(f"{word}\n")

    return answer


def _states(results: list[Result]) -> dict[str, State]:
    return {result.check: result.state for result in results}


def test_nothing_done_fails_and_counts_as_an_attempt(home: Path, toy: Lab) -> None:
    checked = check_session(home, toy)
    assert _states(checked.report.results) == {"hello-said": State.FAILED, "bye-said": State.SKIPPED}
    assert checked.report.exit_code == 1
    assert checked.notes == ()
    assert load_progress(home).achievements == {}
    [attempt] = read_attempts(home)
    assert (attempt.lab, attempt.passed, attempt.total) == ("lab-toy", 0, 2)


def test_what_passed_is_remembered_and_stays_passed(home: Path, toy: Lab, write: Callable[[str], None]) -> None:
    write("hello")
    first = check_session(home, toy)
    assert _states(first.report.results) == {"hello-said": State.PASSED, "bye-said": State.FAILED}
    assert list(load_progress(home).achievements) == ["hello-said"]

    (home / "work" / "hello.txt").unlink()
    write("bye")
    second = check_session(home, toy)

    assert _states(second.report.results) == {"hello-said": State.PASSED, "bye-said": State.PASSED}
    assert load_progress(home).finished == second.report.at
    assert read_book(home)["lab-toy"].finished == second.report.at


def test_one_step_looks_at_no_other_and_can_not_finish_the_lab(
    home: Path, toy: Lab, write: Callable[[str], None]
) -> None:
    write("hello")
    heard: list[Result] = []
    checked = check_session(home, toy, steps=["hello"], on_result=heard.append)
    assert _states(checked.report.results) == {"hello-said": State.PASSED}
    assert heard == checked.report.results
    assert not checked.report.whole_lab
    assert load_progress(home).finished is None


def test_looks_that_nobody_asked_for_are_no_attempts_until_all_has_passed(
    home: Path, toy: Lab, write: Callable[[str], None]
) -> None:
    write("hello")
    check_session(home, toy, patience=False, counted=False)
    assert list(load_progress(home).achievements) == ["hello-said"]
    assert read_attempts(home) == []
    write("bye")
    check_session(home, toy, patience=False, counted=False)
    assert [attempt.passed for attempt in read_attempts(home)] == [2]


def test_without_a_recorder_nothing_is_judged(home: Path, toy: Lab, recorder: list[Synced]) -> None:
    recorder.append(Synced(synced=False))
    with pytest.raises(EnvironmentProblem, match="the recorder of this lab does not answer"):
        check_session(home, toy)
    assert read_attempts(home) == []


def test_a_recorder_that_is_behind_is_mentioned(home: Path, toy: Lab, recorder: list[Synced]) -> None:
    recorder.append(Synced(synced=False, at=1_800_000_000.0, behind=("Pod", "Event")))
    checked = check_session(home, toy)
    assert checked.notes == ("the record of Pod, Event was behind the cluster: check again",)
    assert len(checked.report.results) == 2


def test_without_a_history_nothing_is_judged(home: Path, toy: Lab) -> None:
    (home / "history.db").unlink()
    with pytest.raises(EnvironmentProblem, match="there is no history"):
        check_session(home, toy)


def test_a_damaged_progress_file_costs_a_note_not_the_verdict(
    home: Path, toy: Lab, write: Callable[[str], None]
) -> None:
    write("hello")
    (home / "progress.json").write_text("{")
    checked = check_session(home, toy)
    assert _states(checked.report.results)["hello-said"] is State.PASSED
    [note] = checked.notes
    assert note.startswith("progress.json was damaged")
    assert list(load_progress(home).achievements) == ["hello-said"]


def test_a_progress_file_of_a_newer_version_is_left_alone(home: Path, toy: Lab) -> None:
    (home / "progress.json").write_text('{"schema": 99}')
    checked = check_session(home, toy)
    assert len(checked.report.results) == 2
    assert all("was written by a newer Batchlab" in note for note in checked.notes)
    assert (home / "progress.json").read_text() == '{"schema": 99}'
