"""JUnit XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from grader.report import render_junit
from grader.results import Finding, State

if TYPE_CHECKING:
    from tests.unit.conftest import Golden
    from tests.unit.report.conftest import Answer, Run


def test_golden(run: Run, answer: Answer, golden: Golden) -> None:
    finding = Finding(wanted="two <pods>", saw='"one" & only', where=("names.txt:3", "Pod infer/llm-0"))
    report = run(
        answer("names-match", State.FAILED, finding),
        answer("one-by-one", State.WAITING, Finding(saw="1 of 2"), seconds=4.25),
        answer("wide-placed", State.SKIPPED),
        answer("half-started", State.ERROR, Finding(saw="the recorder was down")),
        answer("reason-quoted", State.ERROR, Finding(saw="KeyError"), our_bug=True),
        steps=["names", "rollout", "wide", "orphan"],
    )
    golden("report/check.xml", render_junit(report))


def test_each_state_and_the_sums(run: Run, answer: Answer) -> None:
    root = ET.fromstring(
        render_junit(
            run(
                answer("names-match", State.FAILED, Finding(saw="none")),
                answer("one-by-one", State.WAITING, Finding(saw="1 of 2")),
                answer("same-set", State.SKIPPED),
                answer("half-started", State.ERROR, Finding(saw="away")),
            )
        )
    )
    assert root.attrib == {
        "name": "lab-lws",
        "time": "0.812",
        "tests": "14",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    assert [suite.get("name") for suite in root][:2] == ["1 groups", "2 names"]
    assert [suite.get("tests") for suite in root] == ["3", "1", "1", "1", "3", "2", "1", "2"]
    types = {failure.get("type"): failure.get("message") for failure in root.iter("failure")}
    assert types == {"failed": "none", "waiting": "1 of 2"}
    (error,) = root.iter("error")
    assert error.get("type") == "environment"
    (passed,) = (case for case in root.iter("testcase") if case.get("name") == "dns-match")
    assert list(passed) == []


def test_skipped_says_after_what(run: Run, answer: Answer) -> None:
    root = ET.fromstring(render_junit(run(answer("one-by-one", State.FAILED), answer("wide-placed", State.SKIPPED))))
    (skipped,) = root.iter("skipped")
    assert skipped.get("message") == "after one-by-one"


def test_what_xml_cannot_hold_is_escaped(run: Run, answer: Answer) -> None:
    evil = Finding(saw="\x00\x1b[2J\ufffe\udcff ]]> \x0b", where=("\x01",))
    text = render_junit(run(answer("names-match", State.FAILED, evil, says="\x02")))
    (failure,) = ET.fromstring(text).iter("failure")
    assert failure.get("message") == "\\x00\\x1b[2J\\ufffe\\udcff ]]> \\x0b"
    assert "where: \\x01" in (failure.text or "")
