"""The main flow of `grader check`, with a real history, a real work folder and a real lab; no cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.api import Api
from cluster.errors import ApiUnavailable, EnvironmentProblem
from cluster.machine import MachineConfig
from cluster.spec import ClusterSpec
from grader import check_session as flow
from grader.check_session import check_session
from grader.checks.recorded import RecordedCluster
from grader.history.synced import Synced
from grader.history.writer import HistoryWriter
from grader.lab.catalogue import load_lab
from grader.lab.model import Lab
from grader.lab.parse import parse_lab
from grader.progress import load_progress, read_attempts, read_book
from grader.results import Result, State
from grader.session.places import history_file
from tests import histories

TOY = Path(__file__).resolve().parents[1] / "cli" / "labs" / "lab-toy"


@pytest.fixture
def toy() -> Lab:
    lab, problems = parse_lab(TOY, "en")
    assert lab is not None, problems
    return lab


@pytest.fixture
def asked_about() -> list[set[str]]:
    """The kinds the recorder was asked to be up to date with."""
    return []


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch, asked_about: list[set[str]]) -> list[Synced]:
    """What the recorder answers: the last of these."""
    answers = [Synced(synced=True, at=1_800_000_000.0)]

    def answer(_socket: Path, _deadline: float, kinds: frozenset[str]) -> Synced:
        asked_about.append(set(kinds))
        return answers[-1]

    monkeypatch.setattr(flow, "wait_synced", answer)
    return answers


@pytest.fixture
def cluster() -> RecordedCluster:
    """What there is now."""
    return RecordedCluster()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorder: list[Synced], cluster: RecordedCluster) -> Path:
    del recorder
    home = tmp_path / "lab-toy"
    (home / "work").mkdir(parents=True)
    HistoryWriter(home / "history.db").close()
    config = MachineConfig(name="lab-toy", home=home, binaries=tmp_path, spec=ClusterSpec())
    (home / "machine.json").write_text(config.to_json())
    monkeypatch.setattr(Api, "from_kubeconfig", lambda _path: cluster)
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


# -- what is asked for --------------------------------------------------------------------------------

LAB = """---
format: 1
lab: lab-made
title: Made up
minutes: 5
workdir: made
namespace: made
cluster: {nodes: [{name: gpu-a, gpus: 4}]}
---
Nothing.

## One {#one}

Do it.

```yaml check
CHECKS
```
"""
POD = "resource: {of: {kind: Pod, name: a}, match: {status: {phase: Running}}}"
JOBS = "happened: {never: {of: {kind: Job}}}"
QUOTA = "resource: {of: {kind: ResourceQuota, name: q}, match: {spec: {hard: {pods: '1'}}}}"
FILE = "file: {file: a.txt, lines: [a]}"
COMMAND = "exec: {command: [date], exit: 0}"
FUNCTION = "python: {function: found}"
CHECKS_PY = """
from grader.checks.base import ObjectRef
from grader.results import Finding, Verdict

def found(world):
    return Verdict(passed=False, finding=Finding(saw=str(len(world.select(ObjectRef(kind="Pod"))))))
"""


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Lab]:
    """A lab of these checks."""

    def make(*checks: str, hold: str = "once") -> Lab:
        folder = tmp_path / "labs" / "lab-made"
        folder.mkdir(parents=True)
        text = "\n".join(f"- {{id: c{n}, says: it is so, hold: {hold}, {check}}}" for n, check in enumerate(checks))
        (folder / "lab.md").write_text(LAB.replace("CHECKS", text))
        (folder / "checks.py").write_text(CHECKS_PY)
        lab, problems = parse_lab(folder, "en")
        assert lab is not None, problems
        return lab

    return make


def test_the_recorder_is_asked_about_the_kinds_that_checks_look_at(
    home: Path, made: Callable[..., Lab], asked_about: list[set[str]]
) -> None:
    check_session(home, made(POD, JOBS, FILE))
    assert asked_about == [{"Pod", "Job"}]


def test_a_function_may_look_at_any_kind(home: Path, made: Callable[..., Lab], asked_about: list[set[str]]) -> None:
    check_session(home, made(POD, FUNCTION))
    assert asked_about == [set()]  # all of them


def test_what_was_achieved_needs_no_history(home: Path, made: Callable[..., Lab], asked_about: list[set[str]]) -> None:
    lab = made(JOBS, POD)
    check_session(home, lab)
    check_session(home, lab)
    assert asked_about == [{"Job", "Pod"}, {"Pod"}]


def test_what_has_to_hold_at_each_check_is_looked_at_again(
    home: Path, made: Callable[..., Lab], asked_about: list[set[str]]
) -> None:
    lab = made(JOBS, hold="now")
    check_session(home, lab)
    check_session(home, lab)
    assert asked_about == [{"Job"}, {"Job"}]


def test_that_the_recorder_answers_is_always_asked(
    home: Path, made: Callable[..., Lab], asked_about: list[set[str]]
) -> None:
    check_session(home, made(FILE))
    assert asked_about == [{"Namespace"}]


@pytest.mark.parametrize(
    ("check", "untraced"),
    [(POD, False), (JOBS, False), (FILE, False), (FUNCTION, False), (QUOTA, True), (COMMAND, True)],
)
def test_what_the_history_knows_nothing_of_is_said(
    home: Path, made: Callable[..., Lab], check: str, untraced: bool
) -> None:
    assert check_session(home, made(check)).untraced is untraced


def test_trouble_may_be_over_without_a_change(home: Path, made: Callable[..., Lab], cluster: RecordedCluster) -> None:
    cluster.trouble = ApiUnavailable("refused")
    assert check_session(home, made(POD)).untraced


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("lab-lws", {"LeaderWorkerSet", "Pod", "StatefulSet", "Workload"}),
        ("lab-jobset", {"Job", "JobSet", "LocalQueue", "Pod", "Service", "Workload"}),
        ("lab-cohort", {"ClusterQueue", "Job"}),
    ],
)
def test_one_list_for_each_kind_serves_all_checks_and_their_explanations(
    home: Path, cluster: RecordedCluster, name: str, kinds: set[str]
) -> None:
    """A whole check of a lab as its learner left it, in which each check looks, whatever passes before it."""
    told = histories.load(name)
    histories.written(history_file(home), told)
    last = {change.uid: change for change in told}
    cluster.objects = [change.object for change in last.values() if change.verb != "DELETED"]
    lab = load_lab(name)
    steps = [
        replace(step, checks=tuple(check.model_copy(update={"after": ()}) for check in step.checks))
        for step in lab.steps
    ]
    results = check_session(home, replace(lab, steps=tuple(steps)), patience=False).report.results
    assert {result.state for result in results} == {State.PASSED, State.FAILED}
    assert sorted(kind for _version, kind, _namespace in cluster.asked) == sorted(kinds)
