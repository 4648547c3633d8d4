"""How many labs a machine can prove side by side."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.host import Host
from cluster.room import GIB
from grader.verify.room import jobs_for, usable_cores
from tests.unit.session.pretended import make_lab


class Machine(Host):
    """A machine with so much memory to spare, and so much time of its processors."""

    def __init__(self, free: float, **files: str) -> None:
        self._files = {"/proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {int(free * GIB / 1024)} kB\n", **files}

    def read(self, path: str) -> str:
        return self._files.get(path, "")

    def bounding_groups(self, controller: str) -> list[Path]:
        del controller
        return []

    def own_watchers(self) -> int:
        return 100


@pytest.mark.parametrize(
    ("free", "cores", "labs", "jobs"),
    [
        (24, 2, 4, 2),
        (24, 8, 4, 4),  # no more than there are labs
        (24, 1, 4, 1),
        (2.7, 8, 4, 2),  # 0.8 GiB for each, and one to spare
        (2.6, 8, 4, 1),
        (0.5, 8, 4, 1),  # too small for any, but one is to be tried
        (24, 8, 0, 1),
    ],
)
def test_one_for_each_core_as_far_as_there_is_memory(free: float, cores: int, labs: int, jobs: int) -> None:
    chosen = [make_lab(real=True, lab_id=f"lab-{number}") for number in range(labs)]
    assert jobs_for(chosen, Machine(free), cores) == jobs


def test_everything_else_that_a_machine_needs_bounds_them_too() -> None:
    # Ten inotify instances and two for a lab with a real node: 28 are free.
    limit = {"/proc/sys/fs/inotify/max_user_instances": "128"}
    chosen = [make_lab(real=True, lab_id=f"lab-{number}") for number in range(4)]
    assert jobs_for(chosen, Machine(24, **limit), 8) == 2


def test_labs_on_fake_nodes_take_less() -> None:
    fake = [make_lab(lab_id=f"lab-{number}") for number in range(4)]
    assert jobs_for(fake, Machine(2.6), 8) == 2


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 4),
        ({"/sys/fs/cgroup/cpu.max": "max 100000\n"}, 4),
        ({"/sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"/sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"/sys/fs/cgroup/cpu.max": "1600000 100000\n"}, 4),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ],
)
def test_a_container_has_the_cores_that_it_is_given(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3})
    assert usable_cores(Machine(24, **files)) == cores


def test_this_machine_has_room_for_one() -> None:
    assert Path("/proc/meminfo").exists()
    assert jobs_for([make_lab()], Host()) == 1
