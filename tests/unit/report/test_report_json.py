"""The document `batchlab/check/v1`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.report import render_json
from grader.report.json import parse_results, parse_utc, utc
from grader.results import Finding, State

if TYPE_CHECKING:
    from tests.unit.conftest import Golden
    from tests.unit.report.conftest import Answer, Run


def document(text: str) -> Any:
    return json.loads(text)


def test_golden(run: Run, answer: Answer, golden: Golden) -> None:
    finding = Finding(wanted="two", saw="one", where=("names.txt:3",), look_at="cat names.txt")
    report = run(
        answer("names-match", State.FAILED, finding, evidence=("GET pods: 4",), weight=3),
        answer("dns-match", State.PASSED, achieved=1764490000.5),
        answer("wide-placed", State.SKIPPED),
        answer("one-by-one", State.ERROR, Finding(saw="no history"), our_bug=True),
        steps=["names", "dns", "rollout", "wide"],
    )
    golden("report/check-v1.json", render_json(report))


def test_sums_and_exit_code(run: Run, answer: Answer) -> None:
    found = document(render_json(run(answer("names-match", State.FAILED, weight=3))))
    assert found["totals"] == {
        "steps": {"passed": 7, "total": 8},
        "checks": {"passed": 13, "total": 14},
        "weight": {"passed": 13, "total": 16},
    }
    assert (found["exit_code"], found["whole_lab"], found["at"]) == (1, True, "2025-11-30T10:53:20.250Z")
    assert document(render_json(run()))["exit_code"] == 0


@pytest.mark.parametrize(("our_bug", "fault", "code"), [(False, "environment", 3), (True, "bug", 4)])
def test_whose_fault(run: Run, answer: Answer, our_bug: bool, fault: str, code: int) -> None:
    found = document(render_json(run(answer("dns-match", State.ERROR, our_bug=our_bug), steps=["dns"])))
    assert found["steps"][0]["checks"][0]["fault"] == fault
    assert found["exit_code"] == code


def test_korean_is_written_as_itself(run: Run) -> None:
    assert "둘씩 두 그룹" in render_json(run(language="ko"))


def test_names_that_are_no_utf8_are_escaped(run: Run, answer: Answer) -> None:
    report = run(answer("names-match", State.FAILED, Finding(saw="bad\udcffname", where=("\udc80",))))
    render_json(report).encode("utf-8")
    finding = document(render_json(report))["steps"][1]["checks"][0]["finding"]
    assert finding["saw"] == "bad\\udcffname"
    assert finding["where"] == ["\\udc80"]


def test_results_come_back_as_they_were(run: Run, answer: Answer) -> None:
    report = run(
        answer("names-match", State.FAILED, Finding(saw="x", where=("a:1", "b")), evidence=("e",), weight=2),
        answer("dns-match", State.PASSED, achieved=1764490000.5),
        answer("half-started", State.ERROR, Finding(saw="y"), our_bug=True),
        answer("one-by-one", State.WAITING, Finding(wanted="w"), seconds=2.5),
        answer("wide-placed", State.SKIPPED),
    )
    assert parse_results(render_json(report)) == report.results


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "batchlab/check/v2"}', "[]"])
def test_other_documents_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="CheckDocument"):
        parse_results(text)


def test_times_are_utc_to_the_millisecond() -> None:
    assert utc(1764500000.9996) == "2025-11-30T10:53:21.000Z"
    assert utc(0.0) == "1970-01-01T00:00:00.000Z"
    assert parse_utc(utc(1764500000.125)) == 1764500000.125
