"""A verification as text, JSON and JUnit."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from cluster.errors import EnvironmentProblem
from grader.verify import PartOutcome, VerifyReport
from grader.verify.documents import render_verify_json, render_verify_junit
from grader.verify.text import render_part, render_summary, render_verify

if TYPE_CHECKING:
    from tests.unit.conftest import Golden
    from tests.unit.verify.conftest import Scene


@pytest.fixture
def proved(scene: Scene) -> VerifyReport:
    return replace(scene.verify(), at=1764500000.0)


@pytest.fixture
def bad(scene: Scene) -> VerifyReport:
    """Defects, an error and parts not run."""
    scene.cases["b-bad"] = ("b", "solved", (), "file b bad\nsay \x1b[2Jerror: nothing to apply\nexit 1")
    scene.cases["e-bad"] = ("d", "solved", (), "file unseen bad")
    driver = scene.driver()
    driver.refuse = {"reset": [EnvironmentProblem("kube-apiserver does not answer", "look at its log")]}
    return replace(scene.verify(driver), at=1764500000.0)


def test_golden_proved(proved: VerifyReport, golden: Golden) -> None:
    golden("verify/proved.txt", render_verify(proved))


def test_golden_bad(bad: VerifyReport, golden: Golden) -> None:
    golden("verify/bad.txt", render_verify(bad))


def test_golden_json(bad: VerifyReport, golden: Golden) -> None:
    golden("verify/verify-v1.json", render_verify_json(bad))


def test_golden_junit(bad: VerifyReport, golden: Golden) -> None:
    golden("verify/verify.xml", render_verify_junit(bad))


def test_parts_and_summary_are_the_whole(bad: VerifyReport) -> None:
    lines = render_verify(bad).splitlines(keepends=True)
    shown = "".join(render_part(part) for part in bad.parts)
    assert "".join(lines[2:]) == f"{shown}\n{render_summary(bad)}"


def test_nothing_is_wider_than_80_and_nothing_is_obeyed(bad: VerifyReport) -> None:
    text = render_verify(bad)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text) is None


def test_colour_adds_nothing_but_colour(bad: VerifyReport) -> None:
    coloured = render_verify(bad, colour=True)
    assert "\x1b[31mBAD" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == render_verify(bad)


def test_unproven_checks_are_named(scene: Scene) -> None:
    del scene.cases["a-bad"]
    assert "note: unproven, because no wrong answer makes them fail: a\n" in render_verify(scene.verify())


def test_some_cases_never_read_as_the_whole_proof(scene: Scene) -> None:
    text = render_verify(scene.verify(only=["a-bad"]))
    assert "is proved" not in text
    assert "the wrong answers asked for are caught" in text


def test_junit_of_two_labs_counts_both(bad: VerifyReport) -> None:
    root = ET.fromstring(render_verify_junit(bad, replace(bad, lab="lab-y")))
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["26", "4", "2", "4"]
    error = next(root.iter("error"))
    assert error.get("type") == "environment"
    assert error.get("message") == "kube-apiserver does not answer look at its log"
    assert len(root.findall("testsuite")) == 14


def test_json_says_what_it_cost(proved: VerifyReport) -> None:
    content = json.loads(render_verify_json(proved))
    assert content["resets"] == {"count": 2, "seconds": 1.0}
    assert content["exit_code"] == 0
    assert {part["outcome"] for part in content["parts"]} == {PartOutcome.OK.value}


def test_how_to_enter_and_remove_a_lab_that_was_kept(bad: VerifyReport) -> None:
    text = render_summary(replace(bad, kept="/my state/verify/lab-x"), width=60)
    assert "BATCHLAB_SESSIONS='/my state/verify' grader shell lab-x\n" in text
    assert "grader stop lab-x && rm -r '/my state/verify/lab-x'\n" in text
    assert json.loads(render_verify_json(replace(bad, kept="/x/lab-x")))["kept"] == "/x/lab-x"
