"""`verify_lab`: from a lab's id to a verification, and what is refused before anything runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.errors import UsageProblem
from grader.lab.catalogue import load_lab
from grader.results import Result, State
from grader.verify import PartOutcome, Phase, plan_verification, verify_lab
from grader.verify.expect import dependents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.unit.verify.conftest import MakeCheck, Scene

EXAMPLES = Path(__file__).resolve().parents[1] / "lab" / "example"


class NothingPasses:
    """A driver of the example lab in which every check fails."""

    def reset(self) -> None:
        """Nothing to do."""

    def run_script(self, script: Path) -> tuple[int, str]:
        assert script.is_file()
        return 0, ""

    def check(self, steps: Sequence[str] | None, _achievements: Mapping[str, float]) -> list[Result]:
        return [
            Result(check=check.id, step=step.number, step_id=step.id, says=check.says, state=State.FAILED)
            for step in load_lab("lab-hello").steps
            if steps is None or step.id in steps
            for check in step.checks
        ]

    def snapshot_work(self) -> None:
        """Nothing to do."""

    def restore_work(self) -> None:
        """Nothing to do."""


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "labs"
    shutil.copytree(EXAMPLES, folder)
    monkeypatch.setattr("grader.lab.catalogue.labs_dir", lambda: folder)
    return folder


def test_every_step_and_case_of_the_lab_is_a_part(labs: Path) -> None:
    report = verify_lab("lab-hello", NothingPasses(), lambda _event: None)
    lab = load_lab("lab-hello")
    solutions = [part.name for part in report.parts if part.phase is Phase.SOLUTION]
    assert solutions == [step.id for step in lab.steps]
    wrong = {part.name for part in report.parts if part.phase is Phase.WRONG}
    assert wrong == {path.name for path in (labs / "lab-hello" / "wrong").iterdir()}
    assert report.parts[0].outcome is PartOutcome.OK
    assert report.parts[1].outcome is PartOutcome.DEFECT
    assert report.whole


@pytest.mark.usefixtures("labs")
def test_only_the_cases_asked_for_once_each() -> None:
    report = verify_lab("lab-hello", NothingPasses(), lambda _event: None, ["no-toleration", "no-toleration"])
    assert [part.name for part in report.parts if part.phase is Phase.WRONG] == ["no-toleration"]
    assert not report.whole


@pytest.mark.usefixtures("labs")
def test_unknown_case_names_those_there_are() -> None:
    with pytest.raises(UsageProblem, match="lab-hello has no wrong answer nonesuch") as refused:
        verify_lab("lab-hello", NothingPasses(), lambda _event: None, ["nonesuch"])
    assert "no-toleration" in refused.value.advice


def test_lab_without_a_solution_is_not_run(labs: Path) -> None:
    script = next((labs / "lab-hello" / "solution").glob("*.sh"))
    script.unlink()
    with pytest.raises(UsageProblem, match=script.name):
        verify_lab("lab-hello", NothingPasses(), lambda _event: None)


def test_dependents_over_any_number_of_afters(scene: Scene, make_check: MakeCheck) -> None:
    scene.checks["four"] = [make_check("e", "d"), make_check("f", "b", "e"), make_check("g")]
    lab = scene.lab()
    assert dependents(lab, "c") == {"d", "e", "f"}
    assert dependents(lab, "a") == {"b", "f"}
    assert dependents(lab, "g") == frozenset()


def test_case_of_an_unknown_check_is_not_run(labs: Path) -> None:
    case = labs / "lab-hello" / "wrong" / "no-toleration" / "case.yaml"
    case.write_text(re.sub(r"fails: .*", "fails: nonesuch", case.read_text()))
    with pytest.raises(UsageProblem, match=r"case\.yaml:\d+:\d+: no check 'nonesuch'"):
        plan_verification("lab-hello")


def test_near_name_of_a_case_is_offered(labs: Path) -> None:
    assert labs.is_dir()
    with pytest.raises(UsageProblem, match="did you mean 'no-toleration'"):
        plan_verification("lab-hello", ["no-tolerations"])
