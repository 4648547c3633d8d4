"""What variables a lab's scripts have."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.scripts import Ending, Order, Script
from grader.session import scripts
from grader.session.scripts import SessionScripts


def test_values_of_the_session_beside_what_the_check_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Order] = []

    def ask(_command: object, order: Order, _seconds: float) -> Ending:
        asked.append(order)
        return Ending(script="a", exit=0)

    monkeypatch.setattr(scripts, "ask_cell", ask)
    session = SessionScripts(tmp_path, {"VALUES_REPLICAS": "3", "NAME": "values"})
    session.run(Order(scripts=(Script(name="a", text="true"),), env={"NAME": "check"}))
    assert asked[0].env == {"VALUES_REPLICAS": "3", "NAME": "check"}
