"""Sources written by a test, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.importing.flow import Import, import_source
from grader.importing.ledger import Outcome

FIXTURES = Path(__file__).parents[2] / "data" / "imports"


@dataclass
class Result:
    """One import."""

    done: Import
    to: Path

    def text(self, lab: str, name: str = "lab.md") -> str:
        return (self.to / lab / name).read_text(encoding="utf-8")

    def told(self, outcome: Outcome | None = None) -> list[str]:
        """`file:line what: reason` of each thing."""
        entries = [entry for one in self.done.labs for entry in one.lab.ledger.sorted()] + self.done.ledger.sorted()
        chosen = [entry for entry in entries if outcome is None or entry.outcome is outcome]
        return [f"{entry.place} {entry.what}" + (f": {entry.reason}" if entry.reason else "") for entry in chosen]

    @property
    def lint(self) -> list[str]:
        return [str(problem) for one in self.done.labs for problem in one.lint]


Scenario = Callable[..., Result]


@pytest.fixture
def convert(tmp_path: Path) -> Callable[..., Result]:
    """Import a source into a folder of the test's."""

    def converted(source: Path, **options: Any) -> Result:
        to = tmp_path / "labs"
        return Result(import_source(source, to, **options), to)

    return converted


@pytest.fixture
def scenario(tmp_path: Path, convert: Callable[..., Result]) -> Scenario:
    """A scenario of one step with that text, verify script and further keys of its index; files by name."""

    def made(
        text: str = "Do it.\n",
        *,
        verify: str | None = None,
        files: dict[str, str | bytes] | None = None,
        step: dict[str, Any] | None = None,
        **index: Any,
    ) -> Result:
        folder = tmp_path / "source" / "one"
        folder.mkdir(parents=True)
        steps = [{"title": "First", "text": "step.md", **({"verify": "verify.sh"} if verify else {}), **(step or {})}]
        details = {"steps": steps, **index.pop("details", {})}
        document = {"title": "One", "details": details, "backend": {"imageid": "kubernetes-kubeadm-1node"}, **index}
        (folder / "index.json").write_text(json.dumps(document, indent=1))
        (folder / "step.md").write_text(text)
        if verify:
            (folder / "verify.sh").write_text(verify)
        for name, content in (files or {}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return convert(tmp_path / "source")

    return made
