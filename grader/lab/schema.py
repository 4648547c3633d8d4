"""The JSON Schema of what a lab's author writes in YAML, for editors: `python -m grader.lab.schema <folder>`.

Owns the list of schemas and their files; what they say comes from the models that read the files.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from grader.checks import KINDS, CheckSource
from grader.lab.cases import CaseMatter
from grader.lab.exceptions import ExceptionsMatter
from grader.lab.frontmatter import FORMAT, FrontMatter, TranslatedFrontMatter
from grader.lab.overlay import CheckWords

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """Each schema by the name of its file."""
    what: dict[str, tuple[str, Any]] = {
        "front-matter": ("Front matter of lab.md", FrontMatter),
        "checks": ("A check block of lab.md", list[CheckSource]),
        "translation-front-matter": ("Front matter of lab.<language>.md", TranslatedFrontMatter),
        "translation-checks": ("A check block of lab.<language>.md", list[CheckWords]),
        "case": ("wrong/<name>/case.yaml", CaseMatter),
        "exceptions": ("exceptions.yaml", ExceptionsMatter),
    }
    made = {}
    for name, (title, model) in what.items():
        schema = TypeAdapter(model).json_schema(by_alias=True)
        made[f"lab-{name}-v{FORMAT}.json"] = {"$schema": _DIALECT, **schema, "title": title}
    _one_kind(made[f"lab-checks-v{FORMAT}.json"]["$defs"]["CheckSource"])
    return made


def _one_kind(check: dict[str, Any]) -> None:
    """Say of a check what its model says in code: exactly one kind, and never a blank one."""
    for kind in KINDS:
        (given, _null) = check["properties"][kind]["anyOf"]
        check["properties"][kind] = given
    check["oneOf"] = [{"required": [kind]} for kind in KINDS]


def write_schemas(folder: Path) -> list[Path]:
    """Write every schema into `folder`, which is made where it is missing; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, schema in schemas().items():
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False) as file:
            json.dump(schema, file, indent=2, ensure_ascii=False)
            file.write("\n")
        Path(file.name).chmod(0o644)
        os.replace(file.name, folder / name)  # noqa: PTH105  # a file is whole or not there
        written.append(folder / name)
    return written


if __name__ == "__main__":
    for path in write_schemas(Path(sys.argv[1])):
        sys.stdout.write(f"{path}\n")
