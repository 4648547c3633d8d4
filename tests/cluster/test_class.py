"""A class on one machine, in small: three learners start at once, one stops, one's session is killed, and the third
notices nothing. `python -m tests.bench --only density` is the same with twelve."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.conftest import needs_root, until
from tests.learner import Learner

pytestmark = needs_root

LAB = "lab-kueue"


@pytest.fixture
def learners(binaries: Path, tmp_path: Path) -> Iterator[list[Learner]]:
    """Three, each with the lab running."""
    everybody = [Learner(tmp_path / name, binaries) for name in ("stops", "is-killed", "goes-on")]
    try:
        with ThreadPoolExecutor(len(everybody)) as at_once:
            list(at_once.map(lambda one: one.grader("start", LAB), everybody))
        yield everybody
    finally:
        for one in everybody:
            one.grader("stop", "--all")


def test_one_stops_one_is_killed_and_the_third_notices_nothing(learners: list[Learner]) -> None:
    stops, is_killed, goes_on = learners
    programs, objects = goes_on.components(LAB), goes_on.objects(LAB)
    made = [group for one in (stops, is_killed) for group in one.groups(LAB)]
    assert made

    def answers() -> None:
        goes_on.grader("check", LAB, codes=(1,))
        assert goes_on.grader("shell", LAB, "--", "kubectl", "get", "--raw=/readyz").out == "ok"

    stops.grader("stop", LAB)
    answers()
    is_killed.kill(LAB)
    answers()
    assert is_killed.status(LAB).state == "dead"
    assert "died" in is_killed.grader("status").out

    again = is_killed.grader("start", LAB)
    assert "died or were cut short" in again.err
    answers()
    is_killed.grader("stop", LAB)
    until(lambda: not any(group.exists() for group in made), what="nothing is left of the two")

    assert goes_on.components(LAB) == programs
    assert goes_on.objects(LAB) == objects
