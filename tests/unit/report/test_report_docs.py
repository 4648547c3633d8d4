"""docs/json.md and docs/schemas hold what is really written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.schemas import schema_files

DOCS = Path(__file__).resolve().parents[3] / "docs"


def keys(schema: Any) -> set[str]:
    """Every property a schema names, at any depth."""
    found: set[str] = set()
    if isinstance(schema, dict):
        found |= set(schema.get("properties", {}))
        for value in schema.values():
            found |= keys(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= keys(value)
    return found


@pytest.mark.parametrize("name", list(schema_files()))
def test_schema_file_is_what_the_models_say(name: str) -> None:
    text = (DOCS / "schemas" / name).read_text(encoding="utf-8")
    assert text == schema_files()[name], "python -m grader.schemas docs/schemas"


@pytest.mark.parametrize("name", list(schema_files()))
def test_schema_lets_later_keys_be(name: str) -> None:
    assert '"additionalProperties": false' not in schema_files()[name]


@pytest.mark.parametrize("name", list(schema_files()))
def test_every_key_is_in_the_page(name: str) -> None:
    schema = json.loads(schema_files()[name])
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    title = schema["title"]
    section = re.search(rf"^## `{title}`.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert section, f"docs/json.md has no section {title}"
    told = set(re.findall(r"`([a-z_]+)`", section[0]))
    assert keys(schema) - told == set()
