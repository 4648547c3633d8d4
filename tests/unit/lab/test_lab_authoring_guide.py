"""docs/authoring.md names every key, and its example is one that lints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from grader.checks import KINDS
from grader.checks.base import Envelope
from grader.lab.cases import CaseMatter
from grader.lab.exceptions import AnswerException, CommandException
from grader.lab.frontmatter import ClusterMatter, FrontMatter, NodeMatter, TranslatedFrontMatter
from grader.lab.lint import FOLDERS, lint_lab
from grader.lab.overlay import CheckWords
from grader.lab.schema import schemas
from grader.lab.values import ValueMatter

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "authoring.md").read_text()
EXAMPLE = Path(__file__).parent / "example" / "lab-hello"
PROSE = re.sub(r"^(`{3,4})\w*\n.*?^\1$", "", GUIDE, flags=re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    """The prose of one section of the guide, without its code blocks."""
    _before, found, rest = PROSE.partition(f"\n## {title}\n")
    assert found, title
    return rest.partition("\n## ")[0]


def table(text: str, heading: str) -> dict[str, str]:
    """First cell (without backquotes) → whole row, of the table that `heading` is the first cell of."""
    rows = text.split("\n")
    start = next(number for number, row in enumerate(rows) if row.startswith(f"| {heading} |"))
    found = {}
    for row in rows[start + 2 :]:
        if not row.startswith("|"):
            break
        found[row.split("|")[1].strip().strip("`")] = row
    return found


def keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def required(model: type[BaseModel]) -> dict[str, str]:
    return {field.alias or name: "yes" if field.is_required() else "no" for name, field in model.model_fields.items()}


@pytest.mark.parametrize(
    ("title", "after", "model"),
    [
        ("Front matter", "", FrontMatter),
        ("Front matter", "Keys of `cluster`:", ClusterMatter),
        ("Front matter", "Keys of a node:", NodeMatter),
        ("Check blocks", "", Envelope),
        ("Another language", "hold nothing but words:", CheckWords),
        ("Wrong answers", "", CaseMatter),
        ("What the text must say, and must not", "Keys of a command", CommandException),
        ("What the text must say, and must not", "Keys of an answer", AnswerException),
    ],
)
def test_every_key_is_in_its_table_and_none_besides(title: str, after: str, model: type[BaseModel]) -> None:
    rows = table(section(title).partition(after)[2] if after else section(title), "key")
    assert list(rows) == keys(model)
    assert {key: row.split("|")[2].strip() for key, row in rows.items()} == required(model)


def test_every_kind_of_value() -> None:
    rows = table(section("Values"), "kind")
    assert re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in rows.values())) == keys(ValueMatter)


def test_every_key_of_a_translations_front_matter() -> None:
    assert list(table(section("Another language"), "key")) == keys(TranslatedFrontMatter)


def test_every_kind() -> None:
    assert list(table(section("Check blocks"), "kind")) == list(KINDS)


def test_every_key_of_a_kind() -> None:
    rows = table(section("Check blocks"), "kind")
    for name, kind in KINDS.items():
        named = set(re.findall(r"`([^`]+)`", rows[name].split("|")[3]))
        assert named == set(keys(kind)), name


@pytest.mark.parametrize(
    "path", sorted(path.relative_to(EXAMPLE) for path in EXAMPLE.rglob("*") if path.is_file()), ids=str
)
def test_the_example_is_the_tested_one(path: Path) -> None:
    fence = "````" if path.suffix == ".md" else "```"
    assert re.search(rf"^{fence}\w+\n{re.escape((EXAMPLE / path).read_text())}{fence}$", GUIDE, re.MULTILINE)


def test_what_is_shown_of_lab_topology_is_what_stands_there() -> None:
    _before, _title, walk = GUIDE.partition("## Write a lab on a topic that isn't in the catalogue")
    shown = {match[1]: match[2] for match in re.finditer(r"^```(yaml|python)\n(.*?)^```$", walk, re.M | re.S)}
    lab = ROOT / "labs" / "lab-topology"
    assert shown.keys() == {"yaml", "python"}
    assert shown["yaml"] in (lab / "lab.md").read_text()
    assert shown["python"] in (lab / "checks.py").read_text()


def test_the_example_lints() -> None:
    assert lint_lab(EXAMPLE) == []


def test_every_folder_and_schema_is_named() -> None:
    assert [folder for folder in FOLDERS if f"{folder}/" not in GUIDE] == []
    assert [name for name in schemas() if f"`{name}`" not in GUIDE] == []


def test_links_lead_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^##+ (.*)$", PROSE, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]+`", "", PROSE)):
        if target.startswith("#"):
            assert target[1:] in anchors
        else:
            assert (ROOT / "docs" / target.partition("#")[0]).exists(), target


def test_one_sentence_a_line() -> None:
    prose = [line for line in PROSE.split("\n") if line and line[0] not in "|#-"]
    assert [line for line in prose if re.search(r"[.!?] [A-Z`]", line)] == []
