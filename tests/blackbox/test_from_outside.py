"""These tests stay outside: none of them imports what it tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
OURS = frozenset({"cluster", "grader", "tui"})


def imported(source: str) -> set[str]:
    """The top-level packages that a module's text imports, by statement or by name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                found |= {alias.name.partition(".")[0] for alias in node.names}
            case ast.ImportFrom():
                found.add((node.module or "").partition(".")[0])
            case ast.Call(args=[ast.Constant(value=str(name)), *_]):
                call = ast.unparse(node.func)
                if call.endswith(("import_module", "__import__", "importorskip")):
                    found.add(name.partition(".")[0])
    return found


def test_all_ways_to_import_are_seen() -> None:
    source = "import os, grader.cli\nfrom cluster.api import Api\ndef f():\n  importlib.import_module('tui.app')\n"
    assert imported(source) == {"os", *OURS}


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.name)
def test_nothing_of_ours_is_imported(path: Path) -> None:
    assert imported(path.read_text(encoding="utf-8")) & OURS == set()


def test_nobody_else_shares_code_with_them() -> None:
    others = {
        node.module
        for path in HERE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.")
    }
    assert {name for name in others if not (name or "").startswith("tests.blackbox.")} == set()
