"""What the session tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.lab.model import Lab
from tests.unit.session.pretended import PretendedMachines, make_lab, pretend


@pytest.fixture
def lab() -> Lab:
    return make_lab()


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PretendedMachines:
    return pretend(monkeypatch, tmp_path / "bin-of-tests")
