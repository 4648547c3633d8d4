"""The cgroup of one run of scripts, as files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.sandbox import cgroups
from cluster.sandbox.bounds import Bound
from cluster.sandbox.cell_group import CellGroup, cell_group

BOUND = Bound(memory=1 << 20, swap=0, tasks=7)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    for controller in ("pids", "memory"):
        (tmp_path / controller / "scripts").mkdir(parents=True)
    (tmp_path / "blkio").mkdir()
    return tmp_path


def test_a_folder_in_each_hierarchy_that_bounds_and_none_afterwards(root: Path) -> None:
    stale = root / "pids" / "scripts" / "1"
    stale.mkdir()
    with cell_group(BOUND) as group:
        assert {folder.parent.parent.name for folder in group.folders} == {"pids", "memory"}
        assert {folder.name for folder in group.folders} == {str(os.getpid())}
        assert not stale.exists(), "left by one that was killed"
    assert list((root / "pids" / "scripts").iterdir()) == []


def test_nowhere_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "none")
    with cell_group(BOUND) as group:
        assert group == CellGroup()
        assert (group.entrances(), group.out_of_memory, group.out_of_tasks) == ((), False, False)


@pytest.mark.parametrize(
    ("file", "text", "memory", "tasks"),
    [
        ("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n", True, False),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", True, False),
        ("memory.events", "oom_kill 0\n", False, False),
        ("pids.events", "max 4\n", False, True),
        ("pids.events", "max 0\n", False, False),
    ],
)
def test_what_ran_out(file: str, text: str, memory: bool, tasks: bool, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    group = CellGroup((tmp_path,))
    assert (group.out_of_memory, group.out_of_tasks) == (memory, tasks)
