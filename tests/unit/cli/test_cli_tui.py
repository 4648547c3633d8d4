"""`grader tui` finds the application without importing it."""

from __future__ import annotations

import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest

from grader.cli import tui
from tests.unit.cli.conftest import Grader

ROOT = Path(__file__).resolve().parents[3]


def test_the_package_names_a_function_that_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _colon, name = project["entry-points"][tui.GROUP][tui.NAME].partition(":")
    assert callable(getattr(import_module(module), name))
    module, _colon, name = project["scripts"]["batchlab"].partition(":")
    assert callable(getattr(import_module(module), name))


def test_words_and_language_are_passed_on(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[list[str]] = []

    class Point:
        name = tui.NAME

        def load(self) -> object:
            def run(argv: list[str], program: str) -> int:
                got.append([program, *argv])
                return 3

            return run

    monkeypatch.setattr(tui, "entry_points", lambda group: [Point()] if group == tui.GROUP else [])
    assert grader("tui", "--lang", "ko", "--ascii", "--help").code == 3
    assert got == [["grader tui", "--lang", "ko", "--ascii", "--help"]]


def test_without_the_application_it_says_so(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tui, "entry_points", lambda **_group: [])
    ran = grader("tui")
    assert (ran.code, ran.out) == (3, "")
    assert "has no application" in ran.err


def test_the_installation_knows_it() -> None:
    assert [point.value for point in metadata.entry_points(group=tui.GROUP) if point.name == tui.NAME] == [
        "tui.cli:run"
    ]
