"""Where the time of a start went, on boots and commands made up here."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster.components.model import Component, SocketProbe
from cluster.machine import BootEvent
from cluster.steps.model import Step
from cluster.timings import (
    BOOT,
    LAUNCH,
    SANDBOX,
    HostClock,
    Leg,
    Planned,
    boot_timings,
    read_plan,
    turned_to,
    write_plan,
)

PLAN = (
    Planned(name="etcd", program=True, wave=1),
    Planned(name="images", wave=1),
    Planned(name="api", program=True, needs=("etcd",), wave=2),
    Planned(name="lws", program=True, needs=("api",), wave=3),
    Planned(name="node", needs=("api", "images"), wave=3),
    Planned(name="lab", needs=("node", "lws"), wave=4),
)


def events(**seconds: tuple[float, float]) -> list[BootEvent]:
    found = []
    for task, (began, ready) in seconds.items():
        found += [BootEvent(task=task, state="started", seconds=began)]
        found += [BootEvent(task=task, state="ready", seconds=ready, objects=3 if task == "lab" else None)]
    return [*found, BootEvent(task="READY", state="ready", seconds=max(r for _b, r in seconds.values()) + 0.1)]


HAPPENED = events(images=(0.3, 4.0), etcd=(0.2, 1.0), api=(1.0, 3.0), node=(4.0, 4.4), lws=(3.2, 4.5), lab=(4.5, 5.0))


def test_the_critical_path_follows_the_need_that_ended_last() -> None:
    boot = boot_timings(HAPPENED, PLAN)
    assert boot is not None
    assert [leg.task for leg in boot.path] == [SANDBOX, "etcd", "api", "lws", "lab", "READY"]
    assert [leg.seconds for leg in boot.path] == pytest.approx([0.2, 0.8, 2.0, 1.5, 0.5, 0.1])
    assert sum(leg.seconds for leg in boot.path) == pytest.approx(boot.seconds) == pytest.approx(5.1)


def test_tasks_are_told_wave_by_wave_in_the_order_in_which_they_began() -> None:
    boot = boot_timings(HAPPENED, PLAN)
    assert boot is not None
    told = [(task.plan.wave, task.plan.name, task.began, round(task.seconds, 3), task.objects) for task in boot.tasks]
    assert told == [
        (1, "etcd", 0.2, 0.8, None),
        (1, "images", 0.3, 3.7, None),
        (2, "api", 1.0, 2.0, None),
        (3, "lws", 3.2, 1.3, None),
        (3, "node", 4.0, 0.4, None),
        (4, "lab", 4.5, 0.5, 3),
    ]


def test_a_start_that_failed_has_no_timings() -> None:
    assert boot_timings([BootEvent(task="etcd", state="ready", seconds=1.0)], PLAN) is None
    assert boot_timings([], []) is None


def test_what_happens_after_ready_is_no_part_of_the_start() -> None:
    later = [
        *HAPPENED,
        BootEvent(task="lws", state="note", seconds=60.0, detail="killed by SIGKILL; restarting"),
        BootEvent(task="lws", state="started", seconds=61.0),
        BootEvent(task="lws", state="ready", seconds=62.0),
    ]
    assert boot_timings(later, PLAN) == boot_timings(HAPPENED, PLAN)


def test_a_boot_that_left_no_plan_is_told_as_far_as_it_is_known() -> None:
    boot = boot_timings(HAPPENED, ())
    assert boot is not None
    assert {task.plan.wave for task in boot.tasks} == {0}
    assert [leg.task for leg in boot.path] == [SANDBOX, "lab", "READY"]
    assert sum(leg.seconds for leg in boot.path) == pytest.approx(boot.seconds)


def test_a_boot_without_any_task_is_all_sandbox() -> None:
    boot = boot_timings([BootEvent(task="READY", state="ready", seconds=0.4)], ())
    assert boot is not None
    assert boot.path == (Leg(SANDBOX, 0.4),)


def test_a_plan_is_kept_with_its_waves(tmp_path: Path) -> None:
    etcd = Component(name="etcd", argv=("etcd",), ready=SocketProbe("/nowhere"))
    roles = Step(name="roles", work=lambda _context: None, needs=("etcd",))
    write_plan(tmp_path / "plan.json", [[etcd], [roles]])
    assert read_plan(tmp_path / "plan.json") == [
        Planned(name="etcd", program=True, wave=1),
        Planned(name="roles", needs=("etcd",), wave=2),
    ]


@pytest.mark.parametrize("content", ["", "[", "{}", "[1]", '[{"name": "etcd"}]', '[{"needs": [], "strange": 1}]'])
def test_another_files_plan_is_none(tmp_path: Path, content: str) -> None:
    assert read_plan(tmp_path / "gone.json") == []
    (tmp_path / "plan.json").write_text(content)
    assert read_plan(tmp_path / "plan.json") == []


class TestTheHost:
    def test_every_moment_belongs_to_one_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        clock = HostClock("python", began=99.0)

        def after(seconds: float, happened: BootEvent | str) -> None:
            now[0] += seconds
            clock(turned_to(happened) if isinstance(happened, str) else happened)

        after(0.0, "session")
        after(0.5, "keys")
        after(0.25, LAUNCH)
        after(0.125, BootEvent(task="etcd", state="started", seconds=0.1))
        after(8.0, BootEvent(task="etcd", state="ready", seconds=8.0))
        after(0.125, BootEvent(task="READY", state="ready", seconds=8.125))
        after(0.0, "session")
        now[0] += 0.5
        assert clock.parts() == {"python": 1.0, "session": 1.0, "keys": 0.25, LAUNCH: 0.125, BOOT: 8.125}
        assert list(clock.parts()) == ["python", "session", "keys", LAUNCH, BOOT]
        assert sum(clock.parts().values()) == now[0] - 99.0

    def test_a_machines_clock_never_counts_more_than_was_waited(self) -> None:
        clock = HostClock(LAUNCH, began=time.monotonic())
        clock(BootEvent(task="READY", state="ready", seconds=3600.0))
        assert clock.parts()[LAUNCH] >= 0.0

    def test_it_begins_when_the_kernel_made_the_process(self) -> None:
        # Whatever a process does before it asks is in its first part: here it says that it is up, and waits for us.
        program = "print('up', flush=True); input()\nfrom cluster.timings import HostClock\n"
        program += "print(HostClock('python').parts()['python'])"
        before = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process:
            made = time.monotonic()
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            up = time.monotonic()
            output, _errors = process.communicate("go\n")
            ended = time.monotonic()
        tick = 1 / os.sysconf("SC_CLK_TCK")
        assert up - made - tick <= float(output) <= ended - before + tick
