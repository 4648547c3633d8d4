"""The published schemas are those of the models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from grader.checks import KINDS
from grader.checks.base import Envelope
from grader.lab import frontmatter
from grader.lab.frontmatter import ClusterMatter, FrontMatter, NodeMatter
from grader.lab.schema import schemas, write_schemas

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "schemas"


def keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def objects_in(schema: Any) -> list[dict[str, Any]]:
    """Every part of a schema that describes an object with named keys."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) and isinstance(schema.get("properties"), dict) else []
    return own + [found for part in inner for found in objects_in(part)]


def test_every_key_of_the_front_matter() -> None:
    schema = schemas()["lab-front-matter-v1.json"]
    assert set(schema["properties"]) == keys(FrontMatter)
    assert set(schema["$defs"]["ClusterMatter"]["properties"]) == keys(ClusterMatter)
    assert set(schema["$defs"]["NodeMatter"]["properties"]) == keys(NodeMatter)
    assert set(schema["required"]) == {"format", "lab", "title", "minutes", "workdir", "namespace", "cluster"}
    assert schema["properties"]["format"]["maximum"] == frontmatter.FORMAT


def test_every_key_of_a_check() -> None:
    schema = schemas()["lab-checks-v1.json"]
    assert schema["type"] == "array"
    check = schema["$defs"][schema["items"]["$ref"].rpartition("/")[2]]
    assert set(check["properties"]) == keys(Envelope) | set(KINDS)
    assert check["oneOf"] == [{"required": [kind]} for kind in KINDS]
    assert check["properties"]["answer"] == {"$ref": "#/$defs/Answer"}


@pytest.mark.parametrize("name", sorted(schemas()))
def test_unknown_keys_are_refused_everywhere(name: str) -> None:
    found = objects_in(schemas()[name])
    assert found
    assert [part.get("title") for part in found if part.get("additionalProperties") is not False] == []


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("lab", ["lab-lws", "x", "a1-b2"], ["Lab", "a--b", "-a", "a_b", ""]),
        ("workdir", ["gsb-lws", "a.b_c"], ["../x", "a/b", "", ".x", "a b"]),
        ("namespace", ["infer", "a-1"], ["In", "a.b", "-a", "a-", "", "x" * 64]),
    ],
)
def test_patterns_say_what_the_models_say(key: str, good: list[str], bad: list[str]) -> None:
    properties = schemas()["lab-front-matter-v1.json"]["properties"]
    pattern = re.compile(properties[key]["pattern"])
    matter = {
        "format": 1,
        "lab": "x",
        "title": "x",
        "minutes": 1,
        "workdir": "x",
        "namespace": "x",
        "cluster": {"nodes": [{"name": "x"}]},
    }
    for word in good:
        assert pattern.search(word), word
        FrontMatter.model_validate_json(json.dumps({**matter, key: word}))
    for word in bad:
        assert not pattern.search(word), word
        with pytest.raises(ValidationError):
            FrontMatter.model_validate_json(json.dumps({**matter, key: word}))


def test_the_published_files_are_those_of_the_models() -> None:
    published = {path.name: json.loads(path.read_text()) for path in PUBLISHED.glob("lab-*.json")}
    assert published == schemas(), "run: python -m grader.lab.schema docs/schemas"


def test_writing(tmp_path: Path) -> None:
    written = write_schemas(tmp_path / "new" / "folder")
    assert {path.name: json.loads(path.read_text()) for path in written} == schemas()
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(schemas())


def test_the_command(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "grader.lab.schema", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=PUBLISHED.parents[1],
    )
    assert run.stdout.splitlines() == [str(tmp_path / name) for name in schemas()]
