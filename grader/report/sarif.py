"""Mistakes of lab files as SARIF 2.1.0, which code hosts and editors show beside the lines they are about.

Owns that format (OASIS, "Static Analysis Results Interchange Format"); knows nothing of how mistakes are found.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from grader.lab.rules import RULE_IDS, rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.lab.problems import LabProblem

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE: Final = "%SRCROOT%"
"""What paths are relative to, by the name that code hosts know."""
_FALLBACK: Final = RULE_IDS.index("markdown")


def render_sarif(problems: Sequence[LabProblem], *, version: str, here: Path) -> str:
    """The log of one run. `version`: ours; `here`: the folder that paths are given from, where they lie below it."""
    files = [Path(os.path.abspath(problem.file)) for problem in problems]  # noqa: PTH100  # links stay as they were named
    root = _root(files, Path(os.path.abspath(here)))  # noqa: PTH100  # see above
    run = {
        "tool": {"driver": {"name": "grader lint", "version": version, "rules": _rules()}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"uri": f"file://{quote(str(root).rstrip('/'))}/"}},
        "results": [_result(problem, file, root) for problem, file in zip(problems, files, strict=True)],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _root(files: Sequence[Path], here: Path) -> Path:
    if all(file.is_relative_to(here) for file in files):
        return here
    return Path(os.path.commonpath([file.parent for file in files]))


def _rules() -> list[dict[str, Any]]:
    known = rules()
    return [
        {
            "id": rule,
            "name": "".join(word.capitalize() for word in rule.split("-")),
            "shortDescription": {"text": known[rule][0]},
            "fullDescription": {"text": known[rule][1]},
            "help": {"text": known[rule][1]},
            "defaultConfiguration": {"level": "error"},
        }
        for rule in RULE_IDS
    ]


def _result(problem: LabProblem, file: Path, root: Path) -> dict[str, Any]:
    index = RULE_IDS.index(problem.rule) if problem.rule else _FALLBACK
    place = {
        "artifactLocation": {"uri": quote(file.relative_to(root).as_posix()), "uriBaseId": BASE},
        "region": {"startLine": problem.line, "startColumn": problem.column},
    }
    return {
        "ruleId": RULE_IDS[index],
        "ruleIndex": index,
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place}],
    }
