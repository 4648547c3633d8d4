"""How a cell is asked, and what a lab puts into the work folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.scripts import Ending, Order, Script
from grader.session import files
from grader.session.files import place_files
from grader.session.scripts import ask_cell

ORDER = Order(scripts=(Script(name="a.sh", text="true"),))


def answering(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_order_is_given_and_the_answer_taken() -> None:
    ending = Ending(script="a.sh", exit=1, output="no")
    code = f"import sys; assert 'a.sh' in sys.stdin.read(); print({ending.to_json()!r})"
    assert ask_cell(answering(code), ORDER, 20) == ending


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; sys.stderr.write('x\\nOSError: mount: no\\n'); sys.exit(1)", "OSError: mount: no"),
        ("import sys; sys.exit(3)", "exit code 3"),
        ("print('[]')", "could not be made"),
        ("print('{')", "could not be made"),
    ],
)
def test_no_answer_is_no_failure_of_the_learner(code: str, told: str) -> None:
    with pytest.raises(EnvironmentProblem, match=told):
        ask_cell(answering(code), ORDER, 20)


def test_an_answer_that_does_not_come() -> None:
    with pytest.raises(EnvironmentProblem, match="does not answer"):
        ask_cell(answering("import signal; signal.pause()"), ORDER, 0.3)
    with pytest.raises(EnvironmentProblem, match="can't run no-such-program"):
        ask_cell(["no-such-program"], ORDER, 1)


def test_files_of_a_lab_go_to_the_work_folder_and_replace_nothing(tmp_path: Path) -> None:
    (tmp_path / "lab" / "files" / "conf").mkdir(parents=True)
    (tmp_path / "lab" / "files" / "conf" / "a").write_text("a")
    (tmp_path / "lab" / "files" / "mine").write_text("lab's")
    work = tmp_path / "work"
    work.mkdir()
    (work / "mine").write_text("mine")
    place_files(tmp_path / "lab", work)
    assert ((work / "conf" / "a").read_text(), (work / "mine").read_text()) == ("a", "mine")
    place_files(tmp_path, work)  # a lab without any


def test_too_many_files_are_the_labs_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab" / "files").mkdir(parents=True)
    (tmp_path / "lab" / "files" / "big").write_text("12345")
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(files, "MOST_BYTES", 4)
    with pytest.raises(UsageProblem, match="files holds more than"):
        place_files(tmp_path / "lab", tmp_path / "work")
