"""Wrong answers as they stand in files: what is read, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.lab.cases import WrongCase, load_cases
from grader.lab.lint import lint_lab
from grader.lab.scripts import solution_scripts

Spoil = Callable[..., list[str]]
SOLVED, FRESH = "wrong/invented-node", "wrong/no-toleration"


def test_the_cases_of_the_lab(lab: Path) -> None:
    cases, found = load_cases(lab)
    assert found == []
    assert cases == [
        WrongCase(
            name="invented-node",
            fails="where-answer",
            says="a node that does not exist",
            on="solved",
            plays=(),
            script=lab / SOLVED / "answer.sh",
        ),
        WrongCase(
            name="no-toleration",
            fails="pod-runs",
            says="without the toleration the pod stays Pending",
            on="fresh",
            plays=(),
            script=lab / FRESH / "answer.sh",
        ),
    ]


def test_a_case_that_plays_steps(lab: Path) -> None:
    (lab / SOLVED / "case.yaml").write_text("fails: where-answer\nsays: x\non: fresh\nplays: [run]\n")
    assert load_cases(lab)[0][0].plays == ("run",)
    assert lint_lab(lab) == []


def test_a_lab_without_wrong_answers(tmp_path: Path) -> None:
    assert load_cases(tmp_path) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("fails: pod-runs\n", "", ["1:1: missing key 'fails'"]),
        ("fails: pod-runs\n", "fails: pod-run\n", ["1:8: no check 'pod-run' in this lab (did you mean 'pod-runs'?)"]),
        ("on: fresh\n", "on: frsh\n", ["3:5: on: must be 'solved' or 'fresh', not 'frsh' (did you mean 'fresh'?)"]),
        ("on: fresh\n", "", ["1:1: missing key 'on'"]),
        (
            "on: fresh\n",
            "on: fresh\nplay: [run]\n",
            ["4:1: unknown key 'play'; allowed: fails, says, on, plays (did you mean 'plays'?)"],
        ),
        (
            "on: fresh\n",
            "on: fresh\nplays: [where, wher, where, run]\n",
            [
                "4:16: no step 'wher' in this lab (did you mean 'where'?)",
                "4:22: step 'where' again",
                "4:29: 'run' is the step that is answered wrong: it can't be solved before",
            ],
        ),
        (
            "on: fresh\n",
            "on: solved\nplays: [where]\n",
            ["4:1: 'plays' goes with 'on: fresh' only: 'solved' means that every step is solved"],
        ),
        ("on: fresh\n", "on: fresh\nplays: where\n", ["4:8: plays: must be a list, not 'where'"]),
    ],
)
def test_each_refusal_of_a_case(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil(f"{FRESH}/case.yaml", old, new) == [f"{FRESH}/case.yaml:{problem}" for problem in problems]


def test_a_wrong_case_leaves_the_others(lab: Path) -> None:
    (lab / FRESH / "case.yaml").write_text("- a\n")
    cases, found = load_cases(lab)
    assert [case.name for case in cases] == ["invented-node"]
    assert [problem.message for problem in found] == ["must be a mapping (key: value), not a list"]


def test_files_of_a_case(lab: Path) -> None:
    (lab / SOLVED / "answer.sh").rename(lab / SOLVED / "anwser.sh")
    (lab / FRESH / "case.yaml").rename(lab / FRESH / "case.yml")
    (lab / "wrong" / "Bad_Name").mkdir()
    (lab / "wrong" / "file").write_text("")
    found = [str(problem).removeprefix(f"{lab}/wrong/") for problem in load_cases(lab)[1]]
    assert sorted(found) == [
        "Bad_Name/answer.sh:1:1: is missing",
        "Bad_Name/case.yaml:1:1: is missing",
        "Bad_Name:1:1: use lower-case letters, digits and single hyphens for the name of a wrong answer",
        "file:1:1: a wrong answer is a folder with case.yaml and answer.sh",
        "invented-node/answer.sh:1:1: is missing",
        "invented-node/anwser.sh:1:1: 'anwser.sh' is not read (did you mean 'answer.sh'?)",
        "no-toleration/case.yaml:1:1: is missing",
        "no-toleration/case.yml:1:1: 'case.yml' is not read (did you mean 'case.yaml'?)",
    ]


def test_a_script_that_does_nothing(spoil: Spoil) -> None:
    assert spoil(f"{SOLVED}/answer.sh", "echo node=gpu-z > where.txt\n", "# later\n\n") == [
        f"{SOLVED}/answer.sh:1:1: a script that does nothing"
    ]


def test_a_script_bash_can_not_parse(spoil: Spoil) -> None:
    (problem,) = spoil("solution/02-where.sh", "set -e\n", "if true\n")
    assert problem.startswith("solution/02-where.sh:4:1: bash: ")


def test_the_solutions_of_the_lab(lab: Path) -> None:
    assert solution_scripts(lab) == {
        "run": lab / "solution" / "01-run.sh",
        "where": lab / "solution" / "02-where.sh",
    }


@pytest.mark.parametrize(
    ("name", "problems"),
    [
        (
            "02-wher.sh",
            [
                "lab.md:54:1: step 'where' has no solution: solution/02-where.sh",
                (
                    "solution/02-wher.sh:1:1: '02-wher.sh' is the solution of no step: NN-<step id>.sh "
                    "(did you mean '02-where.sh'?)"
                ),
            ],
        ),
        ("03-where.sh", ["solution/03-where.sh:1:1: step 'where' is number 2: name this file 02-where.sh"]),
        (
            "where.sh",
            [
                "lab.md:54:1: step 'where' has no solution: solution/02-where.sh",
                (
                    "solution/where.sh:1:1: 'where.sh' is the solution of no step: NN-<step id>.sh "
                    "(did you mean '02-where.sh'?)"
                ),
            ],
        ),
    ],
)
def test_each_refusal_of_a_solution(lab: Path, name: str, problems: list[str]) -> None:
    (lab / "solution" / "02-where.sh").rename(lab / "solution" / name)
    assert [str(problem).removeprefix(f"{lab}/") for problem in lint_lab(lab)] == problems


def test_two_solutions_of_one_step(lab: Path) -> None:
    (lab / "solution" / "03-where.sh").write_text("true\n")
    assert [str(problem).removeprefix(f"{lab}/") for problem in lint_lab(lab)] == [
        "solution/03-where.sh:1:1: a second solution of step 'where', beside 02-where.sh"
    ]


def test_no_solution_at_all(lab: Path) -> None:
    for path in (lab / "solution").iterdir():
        path.unlink()
    (lab / "solution").rmdir()
    assert [problem.line for problem in lint_lab(lab)] == [17, 54]
