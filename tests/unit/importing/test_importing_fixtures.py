"""The fixtures, whole: every documented key of every dialect, the report of it, and the labs that came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cli.importer import _report
from grader.importing.ledger import Outcome
from grader.lab.parse import parse_lab
from tests.unit.conftest import Golden
from tests.unit.importing.conftest import FIXTURES, Result

FORMATS = ("killercoda", "katacoda", "iximiuz")


@pytest.mark.parametrize("name", FORMATS)
def test_each_thing_is_told_and_the_labs_lint(name: str, convert: Callable[..., Result], golden: Golden) -> None:
    result = convert(FIXTURES / name)
    report = "\n".join(_report(result.done, brief=False)).replace(str(result.to), "LABS")
    golden(f"imports/{name}.txt", report + "\n")
    assert result.lint == []
    assert result.done.good
    for one in result.done.labs:
        lab, problems = parse_lab(one.folder)
        assert (problems, lab is not None) == ([], True)
        golden(f"imports/{name}-{one.lab.id}.md", result.text(one.lab.id))


@pytest.mark.parametrize("name", FORMATS)
def test_every_file_of_a_source_is_told_of(name: str, convert: Callable[..., Result]) -> None:
    told = "\n".join(convert(FIXTURES / name).told())
    missing = [
        path.relative_to(FIXTURES / name).as_posix()
        for path in (FIXTURES / name).rglob("*")
        if path.is_file() and not re.search(re.escape(path.name), told)
    ]
    # The files of assets and pictures are told of where they are named.
    assert [file for file in missing if not file.endswith((".md", "index.json"))] == []


def test_what_is_not_documented_is_unmapped(convert: Callable[..., Result]) -> None:
    told = convert(FIXTURES / "killercoda").told(Outcome.UNMAPPED)
    assert "pods/index.json:31 details.steps[2].surprise.deep[0]: no such key is documented" in told
    assert "pods/LEFTOVER.txt LEFTOVER.txt: no key of the index names it" in told


def test_the_order_of_a_course_is_kept(convert: Callable[..., Result]) -> None:
    result = convert(FIXTURES / "killercoda")
    assert {one.lab.id: one.lab.after for one in result.done.labs} == {
        "notes": [],
        "playground": [],
        "pods": ["notes"],
    }


def test_a_format_that_was_asked_for_only(convert: Callable[..., Result]) -> None:
    assert {one.format for one in convert(FIXTURES, wanted="iximiuz").done.labs} == {"iximiuz"}


def test_formats_are_recognised(convert: Callable[..., Result]) -> None:
    found = {one.lab.id: one.format for one in convert(FIXTURES).done.labs}
    assert found == {
        "pods": "killercoda",
        "notes": "killercoda",
        "playground": "killercoda",
        "first": "katacoda",
        "second": "katacoda",
        "web-pod": "iximiuz",
        "text-only": "iximiuz",
    }


def test_one_file_is_a_source_too(convert: Callable[..., Result], tmp_path: Path) -> None:
    result = convert(FIXTURES / "killercoda" / "pods" / "index.json")
    assert [one.folder for one in result.done.labs] == [tmp_path / "labs" / "pods"]
    assert result.done.labs[0].lab.steps[0].title == "Run it"


def test_scenarios_in_a_scenario_are_their_own(tmp_path: Path, convert: Callable[..., Result]) -> None:
    for name in ("outer", "outer/inner"):
        folder = tmp_path / "s" / name
        folder.mkdir(parents=True)
        (folder / "index.json").write_text('{"title": "T", "details": {}}')
        (folder / "more.txt").write_text("x")
    (tmp_path / "s" / "LICENSE").write_text("x")
    told = convert(tmp_path / "s").told(Outcome.UNMAPPED)
    assert sorted(line for line in told if "more.txt" in line) == [
        "outer/inner/more.txt more.txt: no key of the index names it",
        "outer/more.txt more.txt: no key of the index names it",
    ]
    assert "./ LICENSE: in no scenario's folder" in told


def test_a_course_by_addresses(tmp_path: Path, convert: Callable[..., Result]) -> None:
    for name in ("intro/b", "intro/a"):
        folder = tmp_path / "s" / name
        folder.mkdir(parents=True)
        (folder / "index.json").write_text('{"title": "T", "details": {}}')
    addresses = [{"external_link": f"https://example.com/intro/{name}/"} for name in ("b", "a")]
    (tmp_path / "s" / "home-pathway.json").write_text(json.dumps({"courses": addresses}))
    assert {one.lab.id: one.lab.after for one in convert(tmp_path / "s").done.labs} == {"a": ["b"], "b": []}
