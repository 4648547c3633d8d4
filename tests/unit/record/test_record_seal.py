"""Whole reports: sound as they were written, and with anything in them changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.record.chain import new_head
from grader.record.keys import digest
from grader.record.seal import Examined, NoReport, examine_report, lab_seal
from tests.classes import Document, Learner, bent, check, key, ordinary, seal_again, start
from tests.unit.record.test_record_chain import get, leaves, other, put


@pytest.fixture
def report() -> Document:
    return Learner().report()


def faults(report: Document) -> list[str]:
    return list(map(str, examine_report(report).faults))


def test_a_report_is_intact_as_it_was_written(report: Document) -> None:
    found = examine_report(json.loads(json.dumps(report)))
    assert (found.name, found.recorded, found.entries) == ("Kim", True, 5)
    assert (found.faults, found.notes) == ([], [])


def test_no_field_of_a_report_can_be_changed(report: Document) -> None:
    tried = 0
    for path in leaves(report)[1:]:
        for place in (
            [path] if path[:1] != ("labs",) else [("labs", 0, *rest) for rest in leaves(report["labs"][0])[1:]]
        ):
            changed = bent(report)
            put(changed, place, other(get(report, place)))
            try:
                found = examine_report(changed)
            except NoReport:
                continue  # `schema`: it is no report of ours any more
            assert found.faults, place
            tried += 1
    assert tried > 30


def test_one_who_has_only_the_learners_key_can_change_no_lab(report: Document) -> None:
    part = report["labs"][0]
    for path in leaves(part)[1:]:
        changed = bent(report)
        put(changed["labs"][0], path, other(get(part, path)))
        assert faults(seal_again(changed, Learner())), path


def test_what_was_cut_off_at_the_end_is_counted(report: Document) -> None:
    del report["labs"][0]["record"]["entries"][3:]
    assert faults(report) == ["lab-toy entry 3: is missing, and all behind it: 2"]
    assert faults(seal_again(report, Learner())) == ["lab-toy entry 3: is missing, and all behind it: 2"]
    del report["labs"][0]["record"]["entries"][:]
    assert faults(report) == ["lab-toy entry 0: is missing, and all behind it: 5"]


def test_a_record_does_not_fit_into_anothers_report(report: Document) -> None:
    thief = Learner(name="Lee", seed=2).report()
    stolen = bent(thief)
    stolen["labs"][0] = report["labs"][0]
    assert faults(seal_again(stolen, Learner(seed=2))) == ["lab-toy: this is the record of another learner"]


def test_nor_does_one_that_nobody_vouched_for(report: Document) -> None:
    session = key(5)
    head = new_head("lab-toy", session, None)
    record = {"head": head, "entries": [], "end": {"next": 0, "last": digest(head), "kept": True}}
    part = {name: value for name, value in report["labs"][0].items() if name != "record"} | {"steps": {}}
    report["labs"][0] = lab_seal(part, record, report["learner"], session)
    own = examine_report(seal_again(report, Learner()))
    assert own.faults == []
    assert list(map(str, own.notes)) == ["lab-toy: no learner's key vouches for this record"]

    thief = Learner(name="Lee", seed=2).report()
    thief["labs"][0] = report["labs"][0]
    message = "lab-toy: its figures, or whose it is, were changed after it was signed"
    assert faults(seal_again(thief, Learner(seed=2))) == [message]


def test_another_name_needs_the_session_too(report: Document) -> None:
    report["learner"]["name"] = "Lee"
    assert faults(report) == ["lab-toy: its figures, or whose it is, were changed after it was signed"]
    assert faults(seal_again(report, Learner())) == faults(report)


def test_a_record_of_another_lab(report: Document) -> None:
    report["labs"][0]["lab"], report["labs"][1]["lab"] = report["labs"][1]["lab"], report["labs"][0]["lab"]
    assert "lab-other: this is the record of another lab, lab-toy" in faults(report)


def test_a_lab_that_was_taken_out(report: Document) -> None:
    del report["labs"][1]
    [message] = faults(report)
    assert message.startswith("the learner's key did not sign this report")


def test_a_record_that_was_taken_out(report: Document) -> None:
    del report["labs"][0]["record"]
    assert faults(report)
    del report["seal"]
    assert not examine_report(report).recorded, "then it is a report like those before there were records"


def test_a_report_from_before_there_were_records() -> None:
    found = examine_report({"schema": "batchlab/report/v1", "at": "2026-01-01T00:00:00.000Z", "labs": []})
    assert (found.recorded, found.faults) == (False, [])


@pytest.mark.parametrize(
    "report",
    [
        None,
        [],
        "text",
        {},
        {"schema": "batchlab/check/v1", "labs": []},
        {"schema": "batchlab/report/v1"},
        {"schema": "batchlab/report/v1", "labs": [1]},
        {"schema": "batchlab/report/v1", "labs": [{"lab": 1}]},
        {"schema": "batchlab/report/v1", "labs": [{"lab": "a"}, {"lab": "a"}]},
        {"schema": "batchlab/report/v1", "labs": [{"lab": str(number)} for number in range(1000)]},
    ],
)
def test_what_is_no_report(report: Any) -> None:
    with pytest.raises(NoReport):
        examine_report(report)


@pytest.mark.parametrize("nonsense", [5, "text", [], {}, {"entries": [], "end": {}}, {"entries": 1}])
def test_a_record_that_is_none(report: Document, nonsense: Any) -> None:
    report["labs"][0]["record"] = nonsense
    assert faults(report)


def notes(told: list[Document], **changes: Any) -> list[str]:
    document = Learner(told=told).report()
    if changes:
        record = document["labs"][0]["record"]
        part = {name: value for name, value in document["labs"][0].items() if name != "record"} | changes
        content = {name: value for name, value in record.items() if name != "seal"}
        document["labs"][0] = lab_seal(part, content, document["learner"], key(1_000_001))
    found: Examined = examine_report(seal_again(document, Learner()))
    assert found.faults == []
    return list(map(str, found.notes))


def test_what_is_worth_a_look() -> None:
    assert notes(ordinary()) == []
    assert notes([start(at=9), check(at=5)]) == [
        "lab-toy entry 1: is older than the one before: the clock was set back"
    ]
    assert notes([start(at=0), {**check(at=5), "values": "sha256:w"}]) == [
        "lab-toy entry 1: the values changed, and the lab was not begun again"
    ]
    assert notes([start(at=0), {**start(at=5, again=True), "values": "sha256:w"}]) == []
    assert notes([start(at=0), {**check(at=5), "content": "sha256:d"}]) == [
        "lab-toy entry 1: the files of the lab changed"
    ]
    assert notes([start(at=0), {**check(at=5), "unsure": True}]) == [
        "lab-toy entry 1: nothing said where the record ended: entries before may be missing"
    ]
    told = {"steps": {"groups": "2026-01-01T00:00:00.000Z"}}
    assert notes([start(at=0), check(at=5)], **told) == [
        "lab-toy: step groups is told as passed, and no check of this record passed it"
    ]
