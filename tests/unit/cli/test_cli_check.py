"""check: who is asked, what is printed, when it is looked again."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader import check_session
from grader.check_session import Checked
from grader.cli import common
from grader.lab.model import Lab
from grader.report import make_report
from grader.results import Finding, Result, State
from grader.session import changes, here
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader
from tests.unit.cli.test_cli_learn import begin
from tests.unit.conftest import Golden
from tests.unit.session.pretended import PretendedMachines

# -- on the host --------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, list[str]]]:
    """What examiners are asked; all of them answer with 1."""
    questions: list[tuple[Path, list[str]]] = []

    def converse(path: Path, argv: list[str]) -> int:
        questions.append((path, argv))
        return 1

    monkeypatch.setattr(common, "converse", converse)
    monkeypatch.setattr(common, "answers", lambda path: path.parents[2].name == "lab-toy")
    return questions


def test_the_very_command_line_goes_to_the_examiner(
    grader: Grader, asked: list[tuple[Path, list[str]]], state_home: Path
) -> None:
    ran = grader("check", "lab-toy", "--step", "2", "--junit", "out.xml")
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    assert asked == [
        (
            state_home / "sessions" / "lab-toy" / "run" / "desk" / "grader.sock",
            ["--lang", "en", "check", "lab-toy", "--step", "2", "--junit", "out.xml"],
        )
    ]


def test_the_only_lab_that_runs_is_meant(grader: Grader, asked: list[tuple[Path, list[str]]]) -> None:
    begin()
    session_home("lab-stopped").mkdir()
    (session_home("lab-stopped") / "lock").touch()
    assert grader("check").code == 1
    assert [path.parents[2].name for path, _argv in asked] == ["lab-toy"]


def test_several_that_run_must_be_told_apart(
    grader: Grader, asked: list[tuple[Path, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    session_home("lab-other").mkdir()
    (session_home("lab-other") / "lock").touch()
    monkeypatch.setattr(common, "answers", lambda _path: True)
    ran = grader("check")
    assert (ran.code, asked) == (2, [])
    assert ran.err == "grader: several labs run: lab-other, lab-toy\n        say which one you mean\n"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("stopped", "grader: lab-toy is not running\n        start it: grader start lab-toy\n"),
        ("starting", "grader: lab-toy is still being started\n        try again when it is ready\n"),
        ("dead", "grader: the processes of lab-toy died\n        repair it: grader start lab-toy\n"),
    ],
)
def test_a_silent_examiner_is_explained(grader: Grader, machines: PretendedMachines, state: str, message: str) -> None:
    machines.states[begin()] = state
    ran = grader("check", "lab-toy")
    assert (ran.code, ran.err) == (3, message)


def test_an_examiner_that_should_answer_and_does_not_is_said(grader: Grader, machines: PretendedMachines) -> None:
    machines.states[begin()] = "running"
    ran = grader("check", "lab-toy")
    assert ran.code == 3
    assert ran.err.startswith("grader: the lab's examiner does not answer (No such file or directory)\n")


def test_a_lab_that_was_never_started_is_not_running(grader: Grader, machines: PretendedMachines) -> None:
    assert grader("check", "lab-toy").err.startswith("grader: lab-toy is not running\n")


# -- in the sandbox -----------------------------------------------------------------------------------


def results(lab: Lab, *states: State) -> list[Result]:
    checks = [(step, check) for step in lab.steps for check in step.checks]
    finding = Finding(wanted="the line hello", saw="an empty file", where=("hello.txt",), look_at="cat hello.txt")
    return [
        Result(
            check=check.id,
            step=step.number,
            step_id=step.id,
            says=check.says,
            state=state,
            finding=finding if state is State.FAILED else Finding(),
            evidence=("hello.txt: 0 lines",),
            read=("hello.txt: 0 bytes, written 12:03:11, sha256 e3b0c44298fc…",) if state is State.FAILED else (),
            decided=(f"it is {state.value}",),
        )
        for (step, check), state in zip(checks, states, strict=False)
    ]


class Verdicts:
    """Stands in for `check_session`: gives one verdict after the other, and remembers how it was asked."""

    def __init__(self) -> None:
        self.states: list[tuple[State, ...]] = [(State.FAILED, State.SKIPPED)]
        self.notes: tuple[str, ...] = ()
        self.untraced = False
        self.calls: list[dict[str, object]] = []

    def __call__(self, home: Path, lab: Lab, **asked: object) -> Checked:
        self.calls.append({"home": home, "lab": lab.id, **asked})
        states = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        report = make_report(lab, results(lab, *states), at=1_800_000_000.0, seconds=0.25)
        return Checked(report=report, notes=self.notes, untraced=self.untraced)


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> Verdicts:
    stand_in = Verdicts()
    monkeypatch.setattr(check_session, "check_session", stand_in)
    return stand_in


def test_the_verdict_is_printed(grader: Grader, inside: Path, verdicts: Verdicts, golden: Golden) -> None:
    ran = grader("check")
    assert (ran.code, ran.err) == (1, "")
    golden("cli/check.txt", ran.out)
    assert verdicts.calls[0]["home"] == inside
    assert verdicts.calls[0]["lab"] == "lab-toy"
    assert verdicts.calls[0]["steps"] is None


def test_explained_it_tells_what_was_looked_at(
    grader: Grader, inside: Path, verdicts: Verdicts, golden: Golden
) -> None:
    golden("cli/check-explain.txt", grader("check", "--explain").out)
    assert grader("check", "--all").out == grader("check", "--explain").out


def test_all_passed_is_0(grader: Grader, inside: Path, verdicts: Verdicts) -> None:
    verdicts.states = [(State.PASSED, State.PASSED)]
    assert grader("check", "lab-toy").code == 0


def test_one_step(grader: Grader, inside: Path, verdicts: Verdicts) -> None:
    for word in ("2", "bye"):
        grader("check", "--step", word)
        assert verdicts.calls.pop()["steps"] == ["bye"]


def test_the_verdict_as_data(grader: Grader, inside: Path, verdicts: Verdicts) -> None:
    verdicts.notes = ("progress.json was damaged",)
    ran = grader("check", "--json")
    document = json.loads(ran.out)
    assert (document["schema"], document["exit_code"], ran.code) == ("batchlab/check/v1", 1, 1)
    assert ran.err == "grader: progress.json was damaged\n"


def test_junit_goes_into_the_file_that_the_asking_side_opened(
    grader: Grader, inside: Path, verdicts: Verdicts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = os.open(tmp_path / "opened.xml", os.O_RDWR | os.O_CREAT)
    monkeypatch.setattr(here, "_examination", here.Examination(home=inside, files={"--junit": handle}))
    ran = grader("check", "--junit", "/etc/anything.xml")
    assert ran.code == 1
    assert "FAIL" in ran.out
    suites = ET.parse(tmp_path / "opened.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")


def test_a_cluster_that_does_not_answer_is_3(grader: Grader, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_args: object, **_asked: object) -> None:
        raise EnvironmentProblem("kube-apiserver did not answer")

    monkeypatch.setattr(check_session, "check_session", silent)
    ran = grader("check")
    assert (ran.code, ran.out, ran.err) == (3, "", "grader: kube-apiserver did not answer\n")


class Watched:
    """A session of which a test says when something changed; `looks` has what was done, `untraced` what was told."""

    def __init__(self, *, left: int) -> None:
        self.left = left
        self.done: list[str] = []
        self.untraced: list[bool] = []
        self.apart: list[float] = []

    def __call__(self, _home: Path) -> Watched:
        return self

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.done.append("closed")

    def looking(self) -> None:
        self.done.append("looking")

    def wait(self, *, untraced: bool, apart: float) -> None:
        self.untraced.append(untraced)
        self.apart.append(apart)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_watching_redraws_what_changed_and_ends_when_all_has_passed(
    grader: Grader, inside: Path, verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, waits, passed = State.FAILED, State.WAITING, State.PASSED
    verdicts.states = [(failed, State.SKIPPED), (failed, State.SKIPPED), (passed, waits), (passed, passed)]
    watched = Watched(left=10)
    monkeypatch.setattr(changes, "Changes", watched)
    ran = grader("check", "--watch")
    assert ran.code == 0
    heads = [line for line in ran.out.splitlines() if line.startswith("lab-toy  ")]
    assert [line.split()[-4:] for line in heads] == [[f"{n}", "of", "2", "steps"] for n in range(3)]
    assert [(call["patience"], call["counted"]) for call in verdicts.calls] == [(False, False)] * 4
    assert watched.done == [*["looking"] * 4, "closed"]
    assert watched.untraced == [False] * 3


def test_watching_tells_where_a_look_went_beyond_the_history(
    grader: Grader, inside: Path, verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(left=1)
    monkeypatch.setattr(changes, "Changes", watched)
    verdicts.untraced = True
    grader("check", "--watch")
    assert watched.untraced == [True]


def test_watching_ends_by_ctrl_c(
    grader: Grader, inside: Path, verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(left=1)
    monkeypatch.setattr(changes, "Changes", watched)
    ran = grader("check", "--watch")
    assert ran.code == 130
    assert "0 of 2 steps" in ran.out
    assert watched.done == ["looking", "closed"]


def test_watching_as_json_is_one_document_a_line_and_not_too_often(
    grader: Grader, inside: Path, verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, passed = State.FAILED, State.PASSED
    verdicts.states = [(failed, State.SKIPPED), (passed, failed), (passed, passed)]
    watched = Watched(left=10)
    monkeypatch.setattr(changes, "Changes", watched)
    ran = grader("check", "--watch", "--json")
    assert ran.code == 0
    documents = [json.loads(line) for line in ran.out.splitlines()]
    assert [one["totals"]["steps"]["passed"] for one in documents] == [0, 1, 2]
    assert [(call["patience"], call["counted"]) for call in verdicts.calls] == [(False, False)] * 3
    assert watched.apart == [1.0] * 2
