"""The example lab of the authoring guide, whole or with one thing spoilt."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.lab.lint import lint_lab

EXAMPLE = Path(__file__).parent / "example" / "lab-hello"

Spoil = Callable[..., list[str]]


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy of the example lab, in which lint finds nothing."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "labs" / "lab-hello"))


@pytest.fixture
def spoil(lab: Path) -> Spoil:
    """Replace `old`, which stands once in a file of the lab, and say what lint finds then, paths from the lab."""

    def spoilt(file: str, old: str, new: str) -> list[str]:
        path = lab / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))
        return [str(problem).removeprefix(f"{lab}/") for problem in lint_lab(lab)]

    return spoilt
