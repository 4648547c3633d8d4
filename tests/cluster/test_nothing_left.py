"""The host after a machine equals the host before it, however the machine ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import psutil
import pytest

from cluster import local
from cluster.machine import Layout
from tests.cluster.conftest import Machine, needs_root, until
from tests.cluster.host import Host, picture

pytestmark = needs_root


@pytest.fixture
def before(tmp_path: Path) -> Host:
    return look(tmp_path)


def look(home: Path) -> Host:
    return picture(outside=home, marks=(str(home),), cgroup=Layout(home / "home").cgroup)


def differences(one: Host, other: Host) -> dict[str, object]:
    found: dict[str, object] = {}
    for field in fields(Host):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if a != b:
            found[field.name] = sorted(a ^ b)[:10] if isinstance(a, frozenset) else (a, b)
    return found


def with_pods(machine: Machine) -> Machine:
    machine.desk("kubectl run p --image=busybox:stable --image-pull-policy=IfNotPresent -- sleep 1000")
    assert machine.desk("kubectl wait --for=condition=Ready pod/p --timeout=60s").returncode == 0
    return machine


def all_processes(machine: Machine) -> list[psutil.Process]:
    keeper = psutil.Process(machine.status.pid)
    return [keeper, *keeper.children(recursive=True)]


def test_after_stop(before: Host, tmp_path: Path, fresh: Callable[..., Machine]) -> None:
    machine = with_pods(fresh(real=True))
    assert differences(before, look(tmp_path)).keys() >= {"processes", "cgroups", "namespaces"}
    assert local.stop(machine.home) is True
    assert differences(before, look(tmp_path)) == {}
    assert local.stop(machine.home) is False


def test_after_the_keeper_is_killed(before: Host, tmp_path: Path, fresh: Callable[..., Machine]) -> None:
    machine = with_pods(fresh(real=True))
    processes = all_processes(machine)
    os.kill(machine.status.pid, signal.SIGKILL)
    until(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes))
    assert machine.status.state == "dead"
    local.stop(machine.home)
    assert differences(before, look(tmp_path)) == {}


def test_after_pid_1_is_killed_without_any_stop(before: Host, tmp_path: Path, fresh: Callable[..., Machine]) -> None:
    machine = with_pods(fresh(real=True))
    keeper = psutil.Process(machine.status.pid)
    os.kill(machine.status.init_pid, signal.SIGKILL)
    until(lambda: not keeper.is_running() or keeper.status() == psutil.STATUS_ZOMBIE)
    assert machine.status.state == "stopped"
    local.stop(machine.home)
    assert differences(before, look(tmp_path)) == {}


def test_after_every_process_is_killed_at_once(before: Host, tmp_path: Path, fresh: Callable[..., Machine]) -> None:
    machine = with_pods(fresh(real=True))
    processes = all_processes(machine)
    for act in (psutil.Process.suspend, psutil.Process.kill):
        for process in processes:
            with suppress(psutil.NoSuchProcess):  # one that ended by itself, as kubelet's probes do
                act(process)
    until(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes))
    assert machine.status.state == "dead"
    local.stop(machine.home)
    assert differences(before, look(tmp_path)) == {}


def test_after_a_start_that_fails(before: Host, tmp_path: Path, binaries: Path, fresh: Callable[..., Machine]) -> None:
    broken = tmp_path / "binaries"
    broken.mkdir()
    for entry in binaries.iterdir():
        (broken / entry.name).symlink_to(entry)
    (broken / "bin").unlink()
    (broken / "bin").mkdir()
    for program in (binaries / "bin").iterdir():
        (broken / "bin" / program.name).symlink_to(program)
    (broken / "bin" / "kube-scheduler").unlink()
    (broken / "bin" / "kube-scheduler").write_text("#!/bin/sh\necho no such flag >&2; exit 3\n")
    (broken / "bin" / "kube-scheduler").chmod(0o755)
    from cluster.errors import EnvironmentProblem
    from tests.cluster.conftest import machine_config, started

    config = machine_config(tmp_path / "home", broken, real=True)
    with pytest.raises(EnvironmentProblem) as raised:
        started(config)
    assert "kube-scheduler ended: exit code 3" in raised.value.message
    assert "no such flag" in raised.value.message
    assert local.status(config.home).state == "stopped"
    assert differences(before, look(tmp_path)) == {}
