"""Articles and courses as they come with the wheel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.blackbox.conftest import CHECKOUT
from tests.blackbox.person import Person
from tests.blackbox.schema import violations

ARTICLES = sorted(path.stem for path in (CHECKOUT / "content" / "articles").glob("*.md") if ".ko." not in path.name)


def document(person: Person, name: str, *argv: str) -> Any:
    """What a command prints with `--json`, which is what its schema says."""
    found = json.loads(person.run(*argv, "--json").out)
    schema = json.loads((CHECKOUT / "docs" / "schemas" / f"{name}-v1.json").read_text(encoding="utf-8"))
    assert violations(found, schema) == []
    assert found["schema"] == f"batchlab/{name}/v1"
    return found


def test_all_articles_came_along(person: Person, tmp_path: Path) -> None:
    listed = document(person, "articles", "read")["articles"]
    assert sorted(one["id"] for one in listed) == ARTICLES
    assert [one["read"] for one in listed] == [False] * len(ARTICLES)
    assert [line for line in person.run("read", cwd=tmp_path).out.splitlines() if cell_len(line) > 80] == []


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("article", ARTICLES)
def test_each_can_be_read_on_a_terminal_of_80_columns(person: Person, article: str, language: str) -> None:
    said = person.run("--lang", language, "read", article)
    found = document(person, "article", "--lang", language, "read", article, "--answers")
    assert found["language"] == language
    lines = said.out.splitlines()
    assert [line for line in lines if cell_len(line) > 80] == []
    assert found["title"].split()[0] in lines[0]
    for question in found["questions"]:
        assert question["answer"]
        assert question["answer"].split("\n")[0] not in said.out


def test_a_course_knows_what_was_read(person: Person) -> None:
    courses = document(person, "courses", "course", "list")["courses"]
    assert courses
    for course in courses:
        path = document(person, "course", "course", "show", course["id"])["path"]
        assert course["progress"] == {"passed": 0, "total": len(path)}
        assert course["minutes"] == sum(stop["minutes"] for stop in path)
        assert all(stop["total"] for stop in path)
        first = next(stop["id"] for stop in path if stop["kind"] == "article")
        person.run("read", first)
        after = document(person, "course", "course", "show", course["id"])
        assert [stop["id"] for stop in after["path"] if stop["done"]] == [first]
        assert after["progress"]["passed"] == 1
        assert " done " in person.run("course", "show", course["id"]).out
