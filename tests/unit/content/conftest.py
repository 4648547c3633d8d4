"""An example of all content, whole or with one thing spoilt."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.content import catalogue
from grader.content.lint import lint_content
from grader.lab import catalogue as labs

EXAMPLE = Path(__file__).parent / "example"
LABS = Path(__file__).parents[1] / "cli" / "labs"

Spoil = Callable[..., list[str]]


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, in which lint finds nothing; beside it only the toy lab exists."""
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "content"))
    monkeypatch.setattr(catalogue, "content_dir", lambda: folder)
    monkeypatch.setattr(labs, "labs_dir", lambda: LABS)
    return folder


@pytest.fixture
def spoil(content: Path) -> Spoil:
    """Replace `old`, which stands once in a file, and say what lint finds then, paths from the content folder."""

    def spoilt(file: str, old: str, new: str) -> list[str]:
        path = content / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        return [str(problem).removeprefix(f"{content}/") for problem in lint_content(content)]

    return spoilt
