"""What unit tests share: golden texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


class Golden(Protocol):
    """Compares a text with `tests/golden/<name>`."""

    def __call__(self, name: str, text: str) -> None: ...


@pytest.fixture
def golden() -> Golden:
    """Hold a text equal to its golden file; `GOLDEN=write pytest …` writes it instead, for a person to read."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("GOLDEN") == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"differs from {path}; GOLDEN=write accepts it"

    return compare
