"""Each mistake that lint finds, and that nothing else is found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.lab.lint import lint_lab

Spoil = Callable[..., list[str]]


def test_nothing_is_wrong_with_the_example(lab: Path) -> None:
    assert lint_lab(lab) == []


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("(#where)", "(#were)", ["15:33: no step 'were' to link to (did you mean 'where'?)"]),
        ("(#where)", "(#where 'title')", []),
        (
            "A pod is the",
            "A pod {#pod} is the",
            ["13:7: '{#…}' names a step in a '##' heading only: link to one with [text](#id)"],
        ),
        ("A pod is the", "A `pod {#pod}` and ``[a](#b) ` `` is the", []),
        (
            "A pod is the",
            "A `{#x}` 파드 {#pod} is the",
            ["13:13: '{#…}' names a step in a '##' heading only: link to one with [text](#id)"],
        ),
        (
            "```bash run\n",
            "### Part {#part}\n\n```bash run\n",
            ["21:10: '{#…}' names a step in a '##' heading only: link to one with [text](#id)"],
        ),
        (
            "```bash run\n",
            "```\nx {#y} [a](#b)\n```\n\n```bash run\n",
            ["21:1: a code block without a language: write ```text for plain text"],
        ),
        (
            "Write the node of the pod into `where.txt`, as `node=<name>`.\n",
            "",
            ["54:1: a step without a word of prose"],
        ),
    ],
)
def test_each_refusal_of_prose(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil("lab.md", old, new) == [f"lab.md:{problem}" for problem in problems]


def test_a_lab_without_introduction(lab: Path) -> None:
    head, _matter, rest = (lab / "lab.md").read_text().partition("---\nA pod")
    (lab / "lab.md").write_text(head + "---\n" + rest[rest.index("## Run") :])
    assert "no introduction: say before the first step what the lab is about" in [
        problem.message for problem in lint_lab(lab)
    ]


def test_a_step_without_a_check(lab: Path, spoil: Spoil) -> None:
    text = (lab / "lab.md").read_text()
    start = text.index("```yaml check\n- id: where-answer")
    found = spoil("lab.md", text[start : text.index("```\n", start + 5) + 4], "")
    assert "lab.md:54:1: step 'where' has no check: nothing tells a learner that it is done" in found


def test_other_labs(lab: Path, spoil: Spoil) -> None:
    labs = lab.parent
    for name, after in (("lab-b", "lab-c"), ("lab-c", "lab-hello")):
        shutil.copytree(lab, labs / name)
        text = (labs / name / "lab.md").read_text().replace("lab: lab-hello", f"lab: {name}")
        (labs / name / "lab.md").write_text(text.replace("minutes: 10", f"minutes: 10\nafter: [{after}]"))
    assert spoil("lab.md", "minutes: 10", "minutes: 10\nafter: [lab-b, lab-cc]") == [
        "lab.md:6:8: 'after' goes round in a circle: lab-b → lab-c → lab-hello → lab-b",
        "lab.md:6:16: no lab 'lab-cc' beside this one (did you mean 'lab-c'?)",
    ]


def test_files_that_nothing_reads(lab: Path) -> None:
    (lab / "solutions").mkdir()
    (lab / "lab.kr.md").write_text("")
    (lab / ".cache").mkdir()
    (lab / "README.md").write_text("")
    (lab / "assets").mkdir()
    known = (
        "known: lab.md, lab.ko.md, checks.py, start, files, scripts, "
        "solution, wrong, assets, exceptions.yaml, README.md"
    )
    assert [str(problem).removeprefix(f"{lab}/") for problem in lint_lab(lab)] == [
        f"lab.kr.md:1:1: nothing reads 'lab.kr.md' here; {known} (did you mean 'lab.ko.md'?)",
        f"solutions:1:1: nothing reads 'solutions' here; {known} (did you mean 'solution'?)",
    ]


@pytest.mark.parametrize("name", ["start", "solution", "wrong"])
def test_folders_that_are_files(lab: Path, name: str) -> None:
    shutil.rmtree(lab / name)
    (lab / name).write_text("")
    assert f"{lab}/{name}:1:1: must be a folder" in [str(problem) for problem in lint_lab(lab)]


def test_checks_that_are_no_python(lab: Path) -> None:
    (lab / "checks.py").write_text("def f(:\n")
    assert [str(problem).removeprefix(f"{lab}/").split(": ")[0] for problem in lint_lab(lab)] == ["checks.py:1:7"]


def test_checks_are_read_and_never_run(lab: Path, tmp_path: Path) -> None:
    (lab / "checks.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert lint_lab(lab) == []
    assert not (tmp_path / "ran").exists()


def test_scripts_are_read_and_never_run(lab: Path, tmp_path: Path) -> None:
    (lab / "solution" / "01-run.sh").write_text(f"touch {tmp_path / 'ran'}\n")
    assert lint_lab(lab) == []
    assert not (tmp_path / "ran").exists()


def test_a_broken_lab_is_told_whole(lab: Path) -> None:
    text = (lab / "lab.md").read_text().replace("minutes: 10", "minutes: ten").replace("says: the pod", "say: the pod")
    (lab / "lab.md").write_text(text)
    (lab / "wrong" / "invented-node" / "case.yaml").write_text("fails: nothing\nsays: x\non: solved\n")
    (lab / "solution" / "01-run.sh").unlink()
    (lab / "lab.ko.md").unlink()
    assert [str(problem).removeprefix(f"{lab}/").split(": ")[0] for problem in lint_lab(lab)] == [
        "lab.ko.md:1:1",
        "lab.md:5:10",
        "lab.md:17:1",
        "lab.md:36:3",
        "lab.md:37:3",
        "wrong/invented-node/case.yaml:1:8",
    ]


def test_no_lab_at_all(tmp_path: Path) -> None:
    assert [problem.message for problem in lint_lab(tmp_path / "lab-x")] == ["is missing"]
