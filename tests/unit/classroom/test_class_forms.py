"""A class as text, CSV, JSON and page: whole, against golden files, and with hostile names."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cluster.i18n import set_language
from grader.classroom.figures import LabFigures, Plan, figures, other_texts
from grader.classroom.forms import ClassDocument, class_content, render_class, render_class_csv
from grader.classroom.page import render_page
from grader.classroom.reading import Class, read_class
from tests.classes import BEGIN, STEPS, Learner, check, hint, start

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "class"
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\"'&"
PLANS = {
    "lab-toy": Plan(
        title="A toy & more",
        steps=dict(zip(STEPS, ("Two groups", "Names", "Again"), strict=True)),
        content="sha256:c",
    )
}


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    set_language("en")
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def found(tmp_path: Path) -> Class:
    """Six learners, one of whom has finished, one changed report, one duplicate, one stranger."""
    begun = [start(at=0, replicas=3), check(at=300), hint("groups", at=400), check("groups", at=600)]
    more = [*begun, check("groups", at=900), check("groups", at=1200), check("groups", "names", at=1500)]
    Learner("김지수", 1, told=[*more, check(*STEPS, at=1800)]).write(tmp_path / "1.json")
    Learner("Lee Min-ho", 2, told=begun).write(tmp_path / "2.json")
    Learner("=cmd|' /C calc'!A0", 3, told=more).write(tmp_path / "b/3.json")
    Learner(HOSTILE, 4, told=more).write(tmp_path / "b/4.json")
    Learner("Lee Min-ho", 5, told=[{**entry, "content": "sha256:easy"} for entry in more]).write(tmp_path / "5.json")
    changed = Learner("Park", 6, told=more).report()
    changed["labs"][0]["record"]["entries"][2]["step"] = "names"
    (tmp_path / "6.json").write_text(json.dumps(changed))
    Learner("Choi", 2, told=begun).write(tmp_path / "7.json")
    (tmp_path / "8.json").write_text("<html>")
    return read_class(tmp_path)


@pytest.fixture
def labs(found: Class) -> list[LabFigures]:
    return figures(found, PLANS)


@pytest.fixture
def odd(labs: list[LabFigures]) -> list[str]:
    return other_texts(labs, PLANS)


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_sums(labs: list[LabFigures]) -> None:
    [lab] = labs
    assert [(step.id, step.passed, step.here, step.seconds, step.tries) for step in lab.steps] == [
        ("groups", 5, 0, 600.0, 1),
        ("names", 4, 1, 900.0, 2),
        ("restart", 1, 3, 300.0, 0),
    ]
    assert [step.id for step in lab.hardest] == ["restart"]
    assert lab.finished == 1


def test_who_had_another_text(odd: list[str]) -> None:
    [sentence] = odd
    assert re.fullmatch(r"Lee Min-ho, lab-toy: checked by another text of the lab than .*", sentence)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_text(found: Class, labs: list[LabFigures], odd: list[str], language: str) -> None:
    set_language(language)
    golden(f"class-{language}.txt", render_class(found, labs, odd, width=80, colour=False))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_page(found: Class, labs: list[LabFigures], odd: list[str], language: str) -> None:
    set_language(language)
    golden(f"class-{language}.html", render_page(found, labs, odd, BEGIN + 5000))


def test_csv(labs: list[LabFigures]) -> None:
    golden("class.csv", render_class_csv(labs))


def test_json(found: Class, labs: list[LabFigures], odd: list[str]) -> None:
    document = ClassDocument.model_validate(class_content(found, labs, odd, BEGIN + 5000), by_name=True)
    golden("class.json", document.model_dump_json(by_alias=True, indent=2) + "\n")


class Page(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_the_page_runs_and_loads_nothing(found: Class, labs: list[LabFigures], odd: list[str]) -> None:
    text = render_page(found, labs, odd, BEGIN)
    page = Page(text)
    tags = {tag for tag, _attributes in page.elements}
    assert not tags & {"script", "img", "link", "iframe", "object", "svg", "a", "form", "base"}
    names = {name for _tag, attributes in page.elements for name in attributes}
    assert names <= {"lang", "charset", "name", "content", "http-equiv", "class", "style", "title"}
    assert "url(" not in text
    assert "@import" not in text
    assert "://" not in text
    assert "&lt;script&gt;" in text
    assert "\u202e" not in text


def test_no_cell_of_the_csv_is_a_formula(labs: list[LabFigures]) -> None:
    text = render_class_csv(labs)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert "'=cmd|' /C calc'!A0" in cells
    assert not [cell for cell in cells if cell.lstrip()[:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert all(line.count("\n") == 0 for line in cells)


def test_nothing_reaches_the_terminal_as_a_command(found: Class, labs: list[LabFigures]) -> None:
    found.suspicions.append("\x1b]0;title\x07 and \u202e")
    text = render_class(found, labs, [], width=80, colour=False)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_whatever_a_learner_signs_every_form_can_be_written(tmp_path: Path) -> None:
    odd = "\ud800\x1b[31m\u202e<b>\n=1"
    one = {**check(at=60), "steps": {odd: {odd: odd}, "b": {}}, "counted": odd, "content": 5}
    begun = {**start(at=0), "drawn": {odd: odd, "list": [1], "big": 10**400}, "version": None}
    told = [begun, one, {**hint(odd, at=70), "shown": -1}, {"at": one["at"], "lab": odd, "what": odd}]
    Learner(odd, 1, lab=odd, told=[{**entry, "lab": odd} for entry in told]).write(tmp_path / "1.json")
    found = read_class(tmp_path)
    assert len(found.reports) == 1, found.left_out
    made = figures(found, PLANS)
    notes = other_texts(made, PLANS)
    text = render_class(found, made, notes, width=80, colour=False)
    page, table = render_page(found, made, notes, BEGIN), render_class_csv(made)
    document = ClassDocument.model_validate(class_content(found, made, notes, BEGIN), by_name=True)
    for written in (text, page, table, document.model_dump_json(by_alias=True)):
        written.encode()
        assert "\x1b" not in written
    assert "<b>" not in page
    assert "learners: 1, labs: 1" in text


def test_a_class_in_which_nobody_began(tmp_path: Path) -> None:
    Learner(told=[]).write(tmp_path / "1.json")
    found = read_class(tmp_path)
    assert figures(found, PLANS) == []
    assert render_class(found, [], [], width=80, colour=False) == "learners: 1, labs: 0\n"
