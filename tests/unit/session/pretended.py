"""A lab that needs nothing, and machines that only pretend to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cluster import local
from cluster.binaries import cache
from cluster.machine import BootEvent, Layout, MachineConfig, MachineStatus
from cluster.spec import ClusterSpec, NodeSpec
from grader.lab.model import Lab


def make_lab(*, real: bool = False, lab_id: str = "lab-toy") -> Lab:
    return Lab(
        id=lab_id,
        title="A toy",
        minutes=5,
        after=(),
        workdir="gsb-toy",
        namespace="toys",
        cluster=ClusterSpec(nodes=(NodeSpec(name="lab", real=real, gpus=4),)),
        intro="Play.",
        steps=(),
        folder=Path("/nowhere") / lab_id,
        language="en",
    )


@dataclass
class PretendedMachines:
    """Stands in for `cluster.local`: remembers what it was asked, and fails where it is told to."""

    states: dict[Path, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    configs: list[MachineConfig] = field(default_factory=list)
    snapshots: list[Path | None] = field(default_factory=list)
    failure: BaseException | None = None
    on_start: Callable[[MachineConfig], object] | None = None

    def start(
        self, config: MachineConfig, on_event: Callable[[BootEvent], None], snapshots: Path | None = None
    ) -> None:
        self.calls.append("start")
        self.snapshots.append(snapshots)
        self.configs.append(config)
        self.states[config.home] = "starting"
        Layout(config.home).logs.mkdir(parents=True, exist_ok=True)
        on_event(BootEvent(task="etcd", state="started", seconds=0.1))
        if self.on_start:
            self.on_start(config)
        if self.failure is not None:
            on_event(BootEvent(task="etcd", state="failed", seconds=0.4, detail="it ended"))
            raise self.failure
        on_event(BootEvent(task="etcd", state="ready", seconds=0.5))
        on_event(BootEvent(task="READY", state="ready", seconds=1.5))
        self.states[config.home] = "running"

    def stop(self, home: Path) -> bool:
        self.calls.append("stop")
        return self.states.pop(home, None) is not None

    def status(self, home: Path) -> MachineStatus:
        return MachineStatus(state=self.states.get(home, "stopped"))  # type: ignore[arg-type]  # a test's own words


def pretend(monkeypatch: pytest.MonkeyPatch, programs: Path) -> PretendedMachines:
    """Put them in the place of the real ones, with the programs already there."""
    pretended = PretendedMachines()
    for name in ("start", "stop", "status"):
        monkeypatch.setattr(local, name, getattr(pretended, name))
    monkeypatch.setattr(cache, "ensure", lambda *_args: programs)
    monkeypatch.setenv("BATCHLAB_IGNORE_ROOM", "1")  # they take none of the machine that the tests run on
    return pretended
