"""`exec` and `python`: what runs something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.errors import EnvironmentProblem
from grader.checks.world import Execution

if TYPE_CHECKING:
    from tests.unit.checks.conftest import Llm, Look

IN_POD = """
exec:
  run: nslookup $LWS_LEADER_ADDRESS
  pod: llm-1-1
  with: {leader: {kind: Pod, name: llm-1}}
  stdout: {mentions: ["{{ leader.status.podIP }}"]}
"""


@dataclass
class Shell:
    """Answers every command alike and remembers what it was asked."""

    answer: Execution
    asked: list[tuple[list[str], str, str, str, float]] = field(default_factory=list)

    def execute(self, argv: Sequence[str], *, namespace: str, pod: str, container: str, seconds: float) -> Execution:
        self.asked.append((list(argv), namespace, pod, container, seconds))
        return self.answer


def test_in_a_pod(llm: Llm, look: Look) -> None:
    llm.apply()
    shell = Shell(Execution(exit=0, stdout=f"Address: {llm.pods['llm-1']['status']['podIP']}\n"))
    assert look(IN_POD, executor=shell).passed
    assert shell.asked == [(["sh", "-c", "nslookup $LWS_LEADER_ADDRESS"], "infer", "llm-1-1", "", 10)]


def test_output_without_it(llm: Llm, look: Look) -> None:
    llm.apply()
    verdict = look(IN_POD, executor=Shell(Execution(exit=0, stdout="Address: 10.9.9.9\n")))
    assert not verdict.passed
    assert verdict.finding.wanted == "an output that mentions leader.status.podIP"
    assert verdict.finding.saw == '"Address: 10.9.9.9"'
    assert verdict.finding.where == ("Pod infer/llm-1-1",)


def test_pod_not_running(llm: Llm, look: Look) -> None:
    llm.create_set()
    llm.create(1, 0)
    llm.run("llm-1")
    shell = Shell(Execution(exit=0, stdout=""))
    assert look(IN_POD, executor=shell).finding.saw == "there is no Pod infer/llm-1-1"
    llm.create(1, 1)
    verdict = look(IN_POD, executor=shell)
    assert (verdict.finding.saw, verdict.moving) == ("it is not running", True)
    assert shell.asked == []


WHERE_THE_LEARNER_WORKS = "exec: {command: [grep, -c, x, a.txt], exit: 1, seconds: 3}"


def test_exit_code(look: Look) -> None:
    assert look(WHERE_THE_LEARNER_WORKS, executor=Shell(Execution(exit=1, stdout=""))).passed
    finding = look(
        WHERE_THE_LEARNER_WORKS, executor=Shell(Execution(exit=2, stdout="", stderr="grep:\na.txt: no\x1b[31m"))
    ).finding
    assert finding.wanted == "grep -c x a.txt with exit code 1"
    assert finding.saw == 'exit code 2: "a.txt: no\\x1b[31m"'


def test_no_end(look: Look) -> None:
    verdict = look(WHERE_THE_LEARNER_WORKS, executor=Shell(Execution(exit=None, stdout="")))
    assert verdict.finding.saw == "no end after 3 s"


def test_nowhere_to_run_is_our_trouble(look: Look) -> None:
    with pytest.raises(EnvironmentProblem):
        look(WHERE_THE_LEARNER_WORKS)


class TestPython:
    """A lab's own function."""

    CODE = """
from grader.checks.base import ObjectRef
from grader.results import Finding, Verdict

def enough(world, least):
    found = world.select(ObjectRef(kind="Pod"))
    return Verdict(passed=len(found) >= least, finding=Finding(saw=str(len(found))))

def wrong(world):
    return True
"""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "lab-x"
        folder.mkdir()
        (folder / "checks.py").write_text(self.CODE)
        return folder

    def test_function_decides(self, llm: Llm, look: Look, folder: Path) -> None:
        llm.apply()
        text = "python: {function: enough, arguments: {least: %d}}"
        assert look(text % 4, lab_folder=folder).passed
        verdict = look(text % 5, lab_folder=folder)
        assert (verdict.passed, verdict.finding.saw) == (False, "4")

    def test_changed_file_is_read_again(self, look: Look, folder: Path) -> None:
        text = "python: {function: enough, arguments: {least: 0}}"
        assert look(text, lab_folder=folder).passed
        path = folder / "checks.py"
        path.write_text(self.CODE.replace("len(found) >= least", "False"))
        assert not look(text, lab_folder=folder).passed

    def test_its_own_dataclasses(self, look: Look, folder: Path) -> None:
        code = """
from __future__ import annotations
from dataclasses import dataclass
from grader.results import Verdict

@dataclass(frozen=True, slots=True)
class Found:
    how_many: int

def found(world):
    return Verdict(passed=Found(1).how_many == 1)
"""
        (folder / "checks.py").write_text(code)
        assert look("python: {function: found}", lab_folder=folder).passed

    @pytest.mark.parametrize("text", ["python: {function: missing}", "python: {function: wrong}"])
    def test_not_a_check(self, text: str, look: Look, folder: Path) -> None:
        with pytest.raises(TypeError):
            look(text, lab_folder=folder)
