"""Real machines for tests: one shared by all that only look, and fresh ones for those that break things."""

from __future__ import annotations

import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster import local
from cluster.api import Api
from cluster.binaries import cache
from cluster.errors import Problem
from cluster.machine import BootEvent, MachineConfig, MachineStatus
from cluster.spec import ClusterSpec, Manifest, NodeSpec

FAKE_NODES = (NodeSpec(name="gpu-a", gpus=4), NodeSpec(name="gpu-b", gpus=4))
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a real node needs root")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is in this folder needs a cluster."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("cluster")


def until(condition: Callable[[], Any], seconds: float = 60.0, what: str = "") -> Any:
    """The first true answer of `condition`; API refusals count as not yet."""
    deadline = time.monotonic() + seconds
    tick = threading.Event()
    last: object = None
    while time.monotonic() < deadline:
        try:
            if last := condition():
                return last
        except Problem as problem:
            last = problem.message
        tick.wait(0.05)
    pytest.fail(f"not in {seconds} s: {what or condition}; last: {last!r}")


class SandboxApi(Api):
    """An API inside a sandbox, called from the host: each request is sent from the sandbox's network.

    A network namespace is a thread's own, so only the calling thread is inside, and only for the request.
    """

    init_pid: int

    @classmethod
    def of(cls, kubeconfig: Path, init_pid: int) -> SandboxApi:
        api = cls.from_kubeconfig(kubeconfig)
        assert isinstance(api, SandboxApi)
        api.init_pid = init_pid
        return api

    def _send(self, *args: Any, **kwargs: Any) -> Any:
        with Path("/proc/thread-self/ns/net").open() as own, Path(f"/proc/{self.init_pid}/ns/net").open() as theirs:
            _setns(theirs.fileno())
            try:
                return super()._send(*args, **kwargs)
            finally:
                _setns(own.fileno())


def _setns(descriptor: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@dataclass
class Machine:
    """A running machine and hands to it."""

    config: MachineConfig
    events: list[BootEvent]

    @property
    def home(self) -> Path:
        return self.config.home

    @property
    def api(self) -> Api:
        """As the learner."""
        return self.api_as("kubeconfig")

    def api_as(self, kubeconfig: str) -> Api:
        """As the identity of a kubeconfig of the session."""
        return SandboxApi.of(self.home / kubeconfig, self.status.init_pid)

    @property
    def status(self) -> MachineStatus:
        return local.status(self.home)

    def state_of(self, component: str) -> tuple[str, int]:
        """(state, restarts)."""
        return next((c.state, c.restarts) for c in self.status.components if c.name == component)

    def host_pid(self, program: str) -> int:
        """The host's process id of a program in the sandbox."""
        for process in psutil.Process(self.status.init_pid).children(recursive=True):
            try:
                if Path(process.exe()).name == program:
                    return process.pid
            except psutil.Error:
                continue
        pytest.fail(f"no process of {program}")

    def desk(self, script: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """A shell script at the learner's place."""
        command = local.desk_command(self.home, ["bash", "-c", script], {"LANG": "C.UTF-8", "TERM": "dumb"})
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **more)

    def pods(self, selector: str = "", namespace: str = "team-a") -> list[dict[str, Any]]:
        return self.api.list("v1", "Pod", namespace, labels=selector)


@pytest.fixture(scope="session")
def binaries() -> Path:
    """The pinned programs; built here if they have to be."""
    return cache.ensure(None, None)


def machine_config(
    home: Path,
    binaries: Path,
    *,
    real: bool = False,
    addons: tuple[str, ...] = (),
    name: str = "lab-test",
    hidden: tuple[Path, ...] = (),
) -> MachineConfig:
    nodes = (NodeSpec(name="lab", real=True, gpus=4), *FAKE_NODES) if real else FAKE_NODES
    spec = ClusterSpec(addons=addons, nodes=nodes, manifests=(NAMESPACE,))
    return MachineConfig(
        name=name, home=home, binaries=binaries, spec=spec, workdir="work", namespace="team-a", hidden=hidden
    )


def started(config: MachineConfig, snapshots: Path | None = None) -> Machine:
    events: list[BootEvent] = []
    local.start(config, events.append, snapshots)
    return Machine(config, events)


@dataclass
class Cold:
    """What is remembered of the first machine of the recipe, which is gone."""

    events: list[BootEvent]
    inventory: dict[Identity, Manifest]
    kubeconfig: str


@pytest.fixture(scope="session")
def cold_and_warm(tmp_path_factory: pytest.TempPathFactory, binaries: Path) -> Iterator[tuple[Cold, Machine]]:
    """One machine with everything (a real node, fake nodes, all add-ons), and another from its snapshot."""
    if os.geteuid() != 0:
        pytest.skip("a real node needs root")
    folder = tmp_path_factory.mktemp("shared")
    config = machine_config(folder / "home", binaries, real=True, addons=("jobset", "lws", "kueue"))
    first = started(config, folder / "snapshots")
    try:
        cold = Cold(first.events, inventory(first), (first.home / "kubeconfig").read_text())
        local.stop(config.home)
        yield cold, started(config, folder / "snapshots")
    finally:
        local.stop(config.home)


@pytest.fixture(scope="session")
def machine(cold_and_warm: tuple[Cold, Machine]) -> Machine:
    """The machine that all share who only look. It is a warm one: most learners have such a one."""
    return cold_and_warm[1]


Identity = tuple[str, str, str]
"""kind.group, namespace, name"""


def inventory(machine: Machine) -> dict[Identity, Manifest]:
    """Every object of every kind that can be listed."""
    found: dict[Identity, Manifest] = {}
    api = machine.api
    versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in api.call("GET", "/apis")["groups"])]
    for version in versions:
        path = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for resource in api.call("GET", path)["resources"]:
            if "/" in resource["name"] or "list" not in resource["verbs"]:
                continue
            group = version.rpartition("/")[0]
            for item in api.call("GET", f"{path}/{resource['name']}")["items"]:
                meta = item["metadata"]
                found[f"{resource['kind']}.{group}", meta.get("namespace", ""), meta["name"]] = item
    return found


@pytest.fixture
def fresh(tmp_path: Path, binaries: Path) -> Iterator[Callable[..., Machine]]:
    """Start machines of one's own; all are stopped at the end."""
    homes: list[Path] = []

    def start(name: str = "home", snapshots: Path | None = None, **more: Any) -> Machine:
        homes.append(tmp_path / name)
        return started(machine_config(tmp_path / name, binaries, **more), snapshots)

    yield start
    for home in homes:
        local.stop(home)
