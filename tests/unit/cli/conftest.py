"""What the tests of commands share: a toy lab, pretended machines, and a way to run a command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.cli import run
from grader.content import catalogue as content
from grader.lab import catalogue
from grader.session import here
from tests.unit.session.pretended import PretendedMachines, pretend

LABS = Path(__file__).parent / "labs"
CONTENT = Path(__file__).parents[1] / "content" / "example"


@dataclass
class Ran:
    """What a command line came to."""

    code: int
    out: str
    err: str


class Grader:
    """Runs command lines in this process, as `grader` would."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *argv: str) -> Ran:
        self._capsys.readouterr()
        code = run(argv)
        said = self._capsys.readouterr()
        return Ran(code, said.out, said.err)


@pytest.fixture
def grader(capsys: pytest.CaptureFixture[str], state_home: Path, monkeypatch: pytest.MonkeyPatch) -> Grader:
    """On the host, with the toy lab as the only one, articles about it, and an empty state folder."""
    del state_home
    monkeypatch.delenv("BATCHLAB_INSIDE", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(catalogue, "labs_dir", lambda: LABS)
    monkeypatch.setattr(content, "content_dir", lambda: CONTENT)
    return Grader(capsys)


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PretendedMachines:
    return pretend(monkeypatch, tmp_path / "bin-of-tests")


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, state_home: Path) -> Any:
    """Be the examiner's child of a session of the toy lab; the session's folder."""
    home = state_home / "sessions" / "lab-toy"
    (home / "work").mkdir(parents=True)
    monkeypatch.setattr(here, "_examination", here.Examination(home=home))
    return home
