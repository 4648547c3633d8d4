"""The reader of JSON Schema sees what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.blackbox.schema import violations

TESTS = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((TESTS.parent / "docs" / "schemas" / "check-v1.json").read_text(encoding="utf-8"))
GOLDEN = (TESTS / "golden" / "report" / "check-v1.json").read_text(encoding="utf-8")


def test_a_right_document() -> None:
    assert violations(json.loads(GOLDEN), SCHEMA) == []


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('"batchlab/check/v1"', '"batchlab/check/v2"', "$.schema: "),
        ('"language": "en"', '"language": "fr"', "$.language: "),
        ('"whole_lab":', '"whole":', "$: no 'whole_lab'"),
        ('"state": "failed"', '"state": "bad"', "].state: "),
        ('"weight": 3', '"weight": 0', "].weight: "),
        ('"weight": 3', '"weight": true', "].weight: "),
        ('"number": 2', '"number": "2"', "].number: "),
        ('"fault": "bug"', '"fault": "mine"', "].fault: none of the forms"),
        ('"at": "2025-11-30T', '"at": "30.11.2025 ', "$.at: "),
    ],
)
def test_a_wrong_one(old: str, new: str, where: str) -> None:
    assert old in GOLDEN
    found = violations(json.loads(GOLDEN.replace(old, new)), SCHEMA)
    assert any(where in line for line in found), found


def test_an_unknown_keyword_is_not_passed_over() -> None:
    with pytest.raises(NotImplementedError, match="multipleOf"):
        violations("x", {"multipleOf": 3})
