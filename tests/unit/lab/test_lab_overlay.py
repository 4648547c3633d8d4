"""A translation laid over the English lab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Spoil = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        (
            "{#where}\n",
            "{#wher}\n",
            [
                "1:1: step 'where' of lab.md is missing",
                "8:23: no step 'where' to link to (did you mean 'wher'?)",
                "34:1: no step 'wher' in lab.md (did you mean 'where'?)",
            ],
        ),
        (
            "- id: pod-runs\n",
            "- id: pod-run\n",
            [
                "10:1: check 'pod-runs' of lab.md has no words in this step",
                "22:7: no check 'pod-run' in step 'run' of lab.md (did you mean 'pod-runs'?)",
            ],
        ),
        (
            "- id: pod-runs\n",
            "- id: where-answer\n",
            [
                "10:1: check 'pod-runs' of lab.md has no words in this step",
                "22:7: check 'where-answer' belongs to step 'where' in lab.md",
            ],
        ),
        (
            "- id: pod-runs\n",
            "- id: pod-file\n",
            [
                "10:1: check 'pod-runs' of lab.md has no words in this step",
                "22:7: check id 'pod-file' again (first on line 20)",
            ],
        ),
        ("  says: 파드 hello가 돌고 있습니다\n", "", ["22:3: missing key 'says'"]),
        ("  says: 파드 hello가 돌고 있습니다\n", "  says:\n", ["23:8: says: must be text, not blank"]),
        (
            "  says: 파드 hello가 돌고 있습니다\n",
            "  says: 파드\n  weight: 3\n",
            ["24:3: unknown key 'weight'; allowed: id, says, look_at"],
        ),
        (
            "  says: 파드 hello가 돌고 있습니다\n",
            "  says: 파드\n  resource: {of: {kind: Pod, name: hello}}\n",
            ["24:3: unknown key 'resource'; allowed: id, says, look_at"],
        ),
        (
            "::: hint\n제한 이름은 `nvidia.com/gpu`입니다.\n:::\n",
            "",
            ["10:1: hints of step 'run': 1 here, 2 in lab.md"],
        ),
        (
            "kubectl apply -f pod.yaml\n",
            "kubectl apply -f other.yaml\n",
            ["14:1: the blocks marked run of step 'run' are not those of lab.md"],
        ),
        ("kubectl apply -f pod.yaml\n", "# 적용\nkubectl apply -f pod.yaml\n", []),
        ("```bash run\n", "```bash\n", ["10:1: the blocks marked run of step 'run' are not those of lab.md"]),
    ],
)
def test_each_refusal_with_its_place(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil("lab.ko.md", old, new) == [f"lab.ko.md:{problem}" for problem in problems]


def test_steps_in_another_order(spoil: Spoil) -> None:
    text = "## 어디서 도는지 읽는다 {#where}\n"
    found = spoil("lab.ko.md", "## 파드를 띄운다 {#run}\n", "## 바꿈 {#swap}\n")
    assert "lab.ko.md:1:1: step 'run' of lab.md is missing" in found
    found = spoil("lab.ko.md", text, "## 둘 {#run}\n")
    found = spoil("lab.ko.md", "## 바꿈 {#swap}\n", text)
    assert "lab.ko.md:10:1: step 'where' out of order: in lab.md 'run' stands here" in found


def test_a_missing_translation(lab: Path, spoil: Spoil) -> None:
    (lab / "lab.ko.md").unlink()
    assert spoil("lab.md", "A pod is", "A pod was") == ["lab.ko.md:1:1: is missing"]
