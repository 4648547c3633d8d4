"""Mistakes as SARIF 2.1.0: what the specification requires, and that places lead to the files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from cluster.i18n import LANGUAGES, set_language
from grader.lab.problems import LabProblem
from grader.lab.rules import RULE_IDS, rules
from grader.report.sarif import render_sarif


def log(*problems: LabProblem, here: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(render_sarif(problems, version="0.1.0", here=here))
    return made


def required(document: dict[str, Any]) -> None:
    """What SARIF 2.1.0 says a log, a run, a driver, a rule and a result must have (sections 3.13 to 3.52)."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    assert isinstance(document["runs"], list)
    for run in document["runs"]:
        driver = run["tool"]["driver"]
        assert isinstance(driver["name"], str)
        assert driver["name"]
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(set(ids)) == len(ids)
        for rule in driver["rules"]:
            assert rule["shortDescription"]["text"]
            assert rule["help"]["text"]
            assert rule["fullDescription"]["text"].endswith(".")
            assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for base in run["originalUriBaseIds"].values():
            assert urlparse(base["uri"]).scheme == "file"
            assert base["uri"].endswith("/")  # 3.14.14: it is resolved against
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            for location in result["locations"]:
                place = location["physicalLocation"]
                uri = place["artifactLocation"]["uri"]
                assert not uri.startswith("/")  # 3.4.4: relative to its base
                assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]+", uri)
                assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
                region = place["region"]
                assert region["startLine"] >= 1
                assert region["startColumn"] >= 1


def files(document: dict[str, Any]) -> list[str]:
    [run] = document["runs"]
    [base] = run["originalUriBaseIds"].values()
    root = unquote(urlparse(base["uri"]).path)
    return [
        root + unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for result in run["results"]
    ]


def test_no_mistakes_is_a_log_too(tmp_path: Path) -> None:
    document = log(here=tmp_path)
    required(document)
    assert document["runs"][0]["results"] == []


def test_every_rule_is_described_in_every_language(tmp_path: Path) -> None:
    try:
        for lang in LANGUAGES:
            set_language(lang)
            assert tuple(rules()) == RULE_IDS
            required(log(here=tmp_path))
    finally:
        set_language("en")


def test_places_are_relative_to_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = log(
        LabProblem("labs/lab-x/lab.md", 3, 7, "wrong", "check-block"),
        LabProblem(str(tmp_path / "labs" / "lab-x" / "a b#ü.sh"), 1, 1, "odd", "solution"),
        here=tmp_path,
    )
    required(document)
    assert files(document) == [f"{tmp_path}/labs/lab-x/lab.md", f"{tmp_path}/labs/lab-x/a b#ü.sh"]
    first = document["runs"][0]["results"][0]
    assert first["ruleId"] == "check-block"
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "labs/lab-x/lab.md"
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}


def test_labs_elsewhere_have_their_own_root(tmp_path: Path) -> None:
    one, two = tmp_path / "labs" / "lab-x" / "lab.md", tmp_path / "labs" / "lab-y" / "wrong" / "a" / "case.yaml"
    document = log(LabProblem(str(one), 1, 1, "m"), LabProblem(str(two), 1, 1, "m"), here=tmp_path / "work")
    required(document)
    assert files(document) == [str(one), str(two)]
    [base] = document["runs"][0]["originalUriBaseIds"].values()
    assert base["uri"] == f"file://{tmp_path}/labs/"
