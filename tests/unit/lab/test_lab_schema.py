"""The published schemas are those of the models."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from grader.checks import KINDS
from grader.checks.base import Envelope
from grader.lab import frontmatter
from grader.lab.catalogue import lab_folders
from grader.lab.frontmatter import ClusterMatter, FrontMatter, NodeMatter
from grader.lab.lint import lint_lab
from grader.lab.markdown import read_outline
from grader.lab.problems import read_source
from grader.lab.schema import schemas, write_schemas
from tests.blackbox.schema import violations

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "schemas"
LABS = Path(__file__).resolve().parents[3] / "labs"
EXAMPLE = Path(__file__).parent / "example" / "lab-hello"


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


@pytest.mark.parametrize("lab", [*(LABS / name for name in lab_folders(LABS)), EXAMPLE], ids=lambda lab: lab.name)
def test_what_an_editor_would_say_of_our_labs(lab: Path) -> None:
    """Front matter, check blocks, cases and exceptions are valid by the published schemas alone."""
    for file, matter, checks in (
        ("lab.md", "front-matter", "checks"),
        ("lab.ko.md", "translation-front-matter", "translation-checks"),
    ):
        source = read_source(lab / file, [])
        assert source is not None
        outline = read_outline(source, [])
        assert violations(yaml.safe_load(outline.matter or ""), published(matter)) == []
        for section in outline.steps:
            for block in section.checks:
                assert violations(yaml.safe_load(block.text), published(checks)) == []
    for case in lab.glob("wrong/*/case.yaml"):
        # YAML 1.1 takes the key `on` for true; readers of 1.2, as editors are, do not.
        text = re.sub(r"^on:", '"on":', case.read_text(), flags=re.MULTILINE)
        assert violations(yaml.safe_load(text), published("case")) == []
    if (lab / "exceptions.yaml").exists():
        assert violations(yaml.safe_load((lab / "exceptions.yaml").read_text()), published("exceptions")) == []


_WORDS = (
    "$schema $ref title description default type enum const properties required additionalProperties patternProperties "
    "propertyNames items minItems maxItems minLength maxLength minProperties maxProperties minimum maximum pattern "
    "anyOf oneOf"
)
SEVEN = frozenset(_WORDS.split())
"""What a reader of JSON Schema draft 7 knows, as yaml-language-server is; `$defs` it finds by `$ref`."""


def words_of(schema: Any, *, named: bool = False) -> set[str]:
    """Every keyword of a schema. `named`: its keys are names of something else."""
    if isinstance(schema, list):
        return {word for part in schema for word in words_of(part)}
    if not isinstance(schema, dict):
        return set()
    inner = {
        word
        for key, part in schema.items()
        if named or key not in ("default", "enum", "const")
        for word in words_of(part, named=not named and key in ("properties", "$defs", "patternProperties"))
    }
    return inner if named else inner | set(schema)


@pytest.mark.parametrize("name", sorted(schemas()))
def test_editors_know_every_word_of_a_schema(name: str) -> None:
    assert words_of(schemas()[name]) <= SEVEN | {"$defs"}


def test_the_line_for_editors_may_stand_everywhere(tmp_path: Path) -> None:
    lab = Path(shutil.copytree(EXAMPLE, tmp_path / "lab-hello"))
    line = "# yaml-language-server: $schema=../../docs/schemas/{}.json\n"
    for name in ("lab.md", "lab.ko.md"):
        text = (lab / name).read_text()
        text = text.replace("---\n", "---\n" + line.format("lab-front-matter-v1"), 1)
        (lab / name).write_text(text.replace("```yaml check\n", "```yaml check\n" + line.format("lab-checks-v1")))
    for case in lab.glob("wrong/*/case.yaml"):
        case.write_text(line.format("lab-case-v1") + case.read_text())
    assert lint_lab(lab) == []


def published(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PUBLISHED / f"lab-{name}-v1.json").read_text())
    return found


@pytest.mark.parametrize("name", sorted(schemas()))
def test_every_key_tells_what_it_is_while_one_types(name: str) -> None:
    """An editor shows the description beside the key."""
    if name == "lab-checks-v1.json":
        pytest.skip("its kinds are told in docs/checks.md")
    silent = [
        f"{part.get('title')}.{key}"
        for part in objects_in(schemas()[name])
        for key, value in part["properties"].items()
        if "description" not in value
    ]
    assert silent == []


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
