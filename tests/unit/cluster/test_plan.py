"""The order of a start, and the shell that `--dry-run` prints for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cluster.addons import ADDONS
from cluster.components import go
from cluster.components.model import Component, SocketProbe
from cluster.machine import MachineConfig, Sidecar
from cluster.plan import plan, shell, waves, write_files
from cluster.spec import ClusterSpec, NodeSpec
from tests.unit.conftest import Golden

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def binaries(tmp_path: Path) -> Path:
    """As much of a binaries folder as a plan reads."""
    folder = tmp_path / "binaries"
    (folder / "manifests").mkdir(parents=True)
    settings = {"controller_manager_config.yaml": "kind: Configuration\nmetrics: {bindAddress: ':8443'}\n"}
    for name in ADDONS:
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": settings}
        (folder / "manifests" / f"{name}.json").write_text(json.dumps([config_map]))
    return folder


def machine(
    binaries: Path, *, real: bool = True, addons: tuple[str, ...] = ("jobset", "lws", "kueue")
) -> MachineConfig:
    nodes = [NodeSpec(name="gpu-a", gpus=4)]
    if real:
        nodes.append(NodeSpec(name="lab", real=True, gpus=4, labels={"rack": "a"}))
    return MachineConfig(
        name="lab-x",
        home=Path("/home-of/lab-x"),
        binaries=binaries,
        spec=ClusterSpec(addons=addons, nodes=tuple(nodes)),
        sidecars=(Sidecar(name="recorder", argv=("recorder",), socket="/run/r.sock"),),
        privileged=True,
    )


def position(config: MachineConfig) -> dict[str, int]:
    return {task.name: number for number, wave in enumerate(waves(plan(config))) for task in wave}


def test_no_manager_starts_before_every_crd_is_served(binaries: Path) -> None:
    at = position(machine(binaries))
    for manager in ("jobset", "lws", "kueue"):
        for addon in ("jobset", "lws", "kueue"):
            assert at[manager] > at[f"{addon}-established"]


def test_whoever_calls_as_a_service_account_waits_for_the_default_roles(binaries: Path) -> None:
    # Without them it may not ask which API groups exist, and a manager gives up at once.
    needs = {task.name: task.needs for task in plan(machine(binaries))}
    for caller in ("jobset", "lws", "kueue", "kwok", "coredns"):
        assert "default-roles" in needs[caller], caller


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_an_addons_own_objects_come_before_its_probe_and_are_restored(binaries: Path, warm: bool) -> None:
    config = replace(machine(binaries, addons=("jobset", "trainer")), warm=warm)
    at = position(config)
    if warm:  # they are in the datastore
        assert "trainer-objects" not in at
        assert at["trainer"] < at["trainer-probe"]
    else:
        assert at["trainer"] < at["trainer-objects"] < at["trainer-probe"] < at["start-manifests"]


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_no_manager_waits_for_the_lease_of_another_machines(binaries: Path, warm: bool) -> None:
    at = position(replace(machine(binaries, addons=("mpi-operator",)), warm=warm))
    assert at["mpi-operator-lease"] < at["mpi-operator"] < at["mpi-operator-probe"]


def test_a_manager_that_looks_for_certificates_in_one_place_is_shown_them_there(binaries: Path) -> None:
    (trainer,) = [task for task in plan(machine(binaries, addons=("jobset", "trainer"))) if task.name == "trainer"]
    assert isinstance(trainer, Component)
    served = (Path("/home-of/lab-x/pki/trainer"), Path("/tmp/k8s-webhook-server/serving-certs"))
    assert served in trainer.mounts
    settings = yaml.safe_load(trainer.files[Path("/home-of/lab-x/etc/trainer.yaml")])
    # Its configuration is read strictly: a key of the others' would end it.
    assert settings["webhook"] == {"host": "127.0.0.1", "port": 9473}
    assert settings["certManagement"] == {"enable": False}
    assert "internalCertManagement" not in settings


def test_the_labs_objects_come_after_everything_else(binaries: Path) -> None:
    at = position(machine(binaries))
    last = at.pop("start-manifests")
    assert all(number < last for number in at.values())


def test_containerd_does_not_wait_for_the_api(binaries: Path) -> None:
    assert position(machine(binaries))["containerd"] == 0


def test_programs_with_settings_of_their_own_are_programs_of_a_machine(binaries: Path) -> None:
    components = {task.name: task for task in plan(machine(binaries)) if isinstance(task, Component)}
    assert go.RUNTIMES.keys() <= components.keys()
    ours = {"recorder"}
    for name in components.keys() - ours:
        assert components[name].env.items() >= go.environment(name).items(), name


def test_a_lab_of_fake_nodes_runs_no_container_program(binaries: Path) -> None:
    names = set(position(machine(binaries, real=False, addons=())))
    assert not names & {"containerd", "kubelet", "coredns", "images", "real-node"}
    assert {"kwok", "fake-nodes"} <= names


def test_an_unknown_need_is_named() -> None:
    task = Component(name="a", argv=("a",), ready=SocketProbe("/x"), needs=("ghost",))
    with pytest.raises(ValueError, match=r"a needs unknown \['ghost'\]"):
        waves([task])


def test_a_cycle_is_named() -> None:
    one = Component(name="one", argv=("1",), ready=SocketProbe("/x"), needs=("two",))
    two = Component(name="two", argv=("2",), ready=SocketProbe("/x"), needs=("one",))
    with pytest.raises(ValueError, match="need each other"):
        waves([one, two])


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_dry_run_is_the_golden_shell(binaries: Path, golden: Golden, warm: bool) -> None:
    printed = shell(replace(machine(binaries), warm=warm)).replace(str(binaries), "/binaries")
    golden(f"dry-run-lab{'-warm' if warm else ''}.txt", printed.replace(str(CHECKOUT), "/batchlab"))


@pytest.mark.parametrize("addons", [("jobset", "trainer", "mpi-operator"), ("training-operator",)], ids="-".join)
def test_dry_run_of_kubeflows_addons_is_the_golden_shell(
    binaries: Path, golden: Golden, addons: tuple[str, ...]
) -> None:
    printed = shell(machine(binaries, real=False, addons=addons)).replace(str(binaries), "/binaries")
    golden(f"dry-run-{'-'.join(addons)}.txt", printed.replace(str(CHECKOUT), "/batchlab"))


def test_every_file_a_component_names_is_written(binaries: Path, tmp_path: Path) -> None:
    config = machine(binaries)
    moved = MachineConfig(
        name=config.name, home=tmp_path / "home", binaries=binaries, spec=config.spec, privileged=True
    )
    (moved.home / "pki").mkdir(parents=True)
    write_files(moved)
    files = [path for task in plan(moved) if isinstance(task, Component) for path in task.files]
    assert files
    assert all(path.read_text() for path in files)


def test_a_machine_survives_its_json(binaries: Path) -> None:
    config = machine(binaries)
    assert MachineConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_ready_waits_for_all_but_what_nobody_wants_before(binaries: Path, warm: bool) -> None:
    late = Sidecar(name="examiner", argv=("examiner",), socket="/run/e.sock", late=True)
    before = machine(binaries)
    tasks = plan(replace(before, sidecars=(*before.sidecars, late), warm=warm))
    after = {task.name for task in tasks if not task.awaited}
    # A warm kube-controller-manager would do nothing for a second: what pods need of it, the last step makes.
    assert after == ({"examiner", "kube-controller-manager", "api-health"} if warm else {"examiner"})
    by_name = {task.name: task for task in tasks}
    assert by_name["examiner"].needs == ("start-manifests",)
    assert "start-manifests" not in by_name["recorder"].needs
