"""The local provider's answers when nothing, or half of something, is there."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import Layout, MachineConfig
from cluster.sandbox import cgroups, desk
from cluster.spec import ClusterSpec, NodeSpec


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "home" / "run").mkdir(parents=True)
    return Layout(tmp_path / "home")


@pytest.fixture
def keeper(layout: Layout) -> Iterator[int]:
    """Somebody who holds the keeper's lock, as a living keeper does; its `init_pid`."""
    with layout.keeper.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(json.dumps({"pid": 4_000_000, "init_pid": 4_000_001, "since": 5.0}))
        lock.flush()
        yield 4_000_001


def config(home: Path, *, real: bool, privileged: bool) -> MachineConfig:
    spec = ClusterSpec(nodes=(NodeSpec(name="lab", real=real, gpus=4),))
    return MachineConfig(name="lab-x", home=home, binaries=home, spec=spec, privileged=privileged)


def test_nothing_there_is_stopped_and_stopping_it_is_fine(tmp_path: Path) -> None:
    assert local.status(tmp_path / "none").state == "stopped"
    assert local.stop(tmp_path / "none") is False
    assert not (tmp_path / "none").exists()


def test_a_socket_without_a_keeper_is_a_death(layout: Layout) -> None:
    layout.control.touch()
    assert local.status(layout.home).state == "dead"
    assert local.stop(layout.home) is False
    assert local.status(layout.home).state == "stopped"


def test_a_keeper_whose_supervisor_does_not_answer_yet_is_starting(layout: Layout, keeper: int) -> None:
    status = local.status(layout.home)
    assert (status.state, status.pid, status.since) == ("starting", 4_000_000, 5.0)


def test_a_second_start_is_refused(layout: Layout, keeper: int) -> None:
    with pytest.raises(EnvironmentProblem, match="lab-x is running already"):
        local.start(config(layout.home, real=False, privileged=False), lambda _event: None)


def test_a_real_node_without_root_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="needs root") as raised:
        local.start(config(tmp_path / "home", real=True, privileged=False), lambda _event: None)
    assert "sudo" in raised.value.advice
    assert not (tmp_path / "home").exists()


def test_no_desk_without_a_machine(layout: Layout) -> None:
    with pytest.raises(EnvironmentProblem, match="not running"):
        local.desk_command(layout.home, ["bash"], {})


def test_the_desk_gets_only_the_environment_it_is_given(layout: Layout, keeper: int) -> None:
    layout.machine.write_text(config(layout.home, real=False, privileged=True).to_json())
    command = local.desk_command(layout.home, ["bash", "-l"], {"TERM": "xterm"})
    assert command[:2] == ["nsenter", "--target=4000001"]
    environment = command[command.index("env") :]
    assert environment[:3] == ["env", "-i", "TERM=xterm"]
    assert command[-3:] == ["--", "bash", "-l"]
    assert "--user" not in command


def test_an_ordinary_users_desk_enters_the_user_namespace_too(tmp_path: Path) -> None:
    command = desk.command(tmp_path, 7, ["true"], {}, privileged=False)
    assert {"--user", "--preserve-credentials"} <= set(command)


def test_what_cannot_be_removed_is_named(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "remove", lambda *_session: [Path("/sys/fs/cgroup/stuck")])
    with pytest.raises(EnvironmentProblem, match="could not remove /sys/fs/cgroup/stuck"):
        local.stop(layout.home)
