"""Texts that tell an answer: planted in each place, and texts that don't."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.author.told import answers_told

EXAMPLE = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "lab-hello"))


def told(lab: Path, *answers: str) -> list[str]:
    found = answers_told(lab, [("where-answer", answer) for answer in answers])
    return [str(one).removeprefix(f"{lab}/") for one in found.problems]


def put(lab: Path, text: str, before: str, file: str = "lab.md") -> int:
    """`text` on a line of its own before the first line that begins with `before`; that line's number."""
    lines = (lab / file).read_text().split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith(before))
    lines.insert(at, text)
    (lab / file).write_text("\n".join(lines))
    return at + 1


@pytest.mark.parametrize("before", ["A pod is", "Write `pod.yaml`", "The limit is", "kubectl apply"])
def test_in_introduction_prose_hint_and_code(lab: Path, before: str) -> None:
    line = put(lab, "xx nvlink-7 yy", before)
    assert told(lab, "nvlink-7") == [f"lab.md:{line}:4: tells the answer of where-answer: nvlink-7"]


def test_in_a_translation(lab: Path) -> None:
    line = put(lab, "노드는 `nvlink-7`입니다.", "## ", "lab.ko.md")
    assert told(lab, "nvlink-7") == [f"lab.ko.md:{line}:6: tells the answer of where-answer: nvlink-7"]


def test_in_what_a_check_says_or_points_at(lab: Path) -> None:
    text = (lab / "lab.md").read_text()
    (lab / "lab.md").write_text(text.replace("  look_at: kubectl describe pod hello", "  look_at: it is nvlink-7"))
    assert len(told(lab, "nvlink-7")) == 1


def test_a_message_across_lines_whatever_its_case(lab: Path) -> None:
    line = put(lab, "it says: 0/2 Nodes are\n   available: taint.", "A pod is")
    assert told(lab, "0/2 nodes are available: taint.")[0].startswith(f"lab.md:{line}:10: tells")


def test_a_rule_is_no_text(lab: Path) -> None:
    """What a check block wants is not shown to a learner."""
    text = (lab / "lab.md").read_text()
    (lab / "lab.md").write_text(text.replace("    match: {status:", "    match: {node: nvlink-7, status:"))
    assert told(lab, "nvlink-7") == []


@pytest.mark.parametrize(
    "answer",
    [
        "4",  # a number
        "10Gi",
        "true",
        "r1",  # too short
        "gpu-a",  # a node of the front matter
        "hello",  # the namespace
        "gpus",  # an object of start/
    ],
)
def test_what_everybody_is_given_is_not_told(lab: Path, answer: str) -> None:
    put(lab, f"There is {answer} here.", "A pod is")
    assert told(lab, answer) == []


def test_what_a_manifest_of_the_text_gives(lab: Path) -> None:
    put(lab, "```yaml\nname: nvlink-7\n```", "Write `pod.yaml`")
    put(lab, "It is nvlink-7.", "Write `pod.yaml`")
    assert told(lab, "nvlink-7") == []


def test_a_comment_gives_nobody_anything(lab: Path) -> None:
    line = put(lab, "It is nvlink-7.", "A pod is")
    put(lab, "minutes: 10 # as nvlink-7", "workdir:")
    put(lab, "# nvlink-7", "namespace:")
    assert told(lab, "nvlink-7") == [f"lab.md:{line + 2}:7: tells the answer of where-answer: nvlink-7"]


@pytest.mark.parametrize("text", ["nvlink-77", "xnvlink-7", "nvlink-7.example", "a/nvlink-7", "nvlink-7/a"])
def test_a_part_of_a_longer_word_is_another_word(lab: Path, text: str) -> None:
    put(lab, f"It is {text}", "A pod is")
    assert told(lab, "nvlink-7") == []


def test_exceptions(lab: Path) -> None:
    put(lab, "It may be nvlink-7.", "A pod is")
    (lab / "exceptions.yaml").write_text(
        "answers:\n"
        "  - {check: where-answer, text: nvlink-7, because: one of three that are named}\n"
        "  - {check: where-answer, text: nvlink-8, because: as before}\n"
    )
    found = answers_told(lab, [("where-answer", "nvlink-7")])
    assert found.problems == ()
    assert [str(one).removeprefix(f"{lab}/") for one in found.unneeded] == [
        "exceptions.yaml:3:5: excuses nothing: the text does not tell 'nvlink-8'"
    ]
    assert len(answers_told(lab, [("pod-runs", "nvlink-7")]).problems) == 1  # it excuses one check only
