"""A machine from a snapshot: everything the first one had, and nothing of it that is its own."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cluster import local
from cluster.errors import ApiRefused, ApiUnavailable
from tests.cluster.conftest import Cold, Identity, Machine, inventory, until

# What comes and goes by itself.
PASSING = {"Event.", "Event.events.k8s.io", "Lease.coordination.k8s.io"}


@pytest.fixture(scope="session")
def cold(cold_and_warm: tuple[Cold, Machine]) -> Cold:
    return cold_and_warm[0]


def tasks(machine: Machine) -> set[str]:
    """The tasks of its plan: what the host did before has words of its own."""
    return {event.task for event in machine.events if event.state != "host"}


def test_the_second_start_is_a_warm_one(cold: Cold, machine: Machine) -> None:
    first = {event.task for event in cold.events if event.state != "host"}
    assert {"snapshot", "roles", "lws-definitions", "kueue-roles"} <= first
    assert "datastore" not in first
    assert "datastore" in tasks(machine)
    assert not {"snapshot", "roles", "lws-definitions", "kueue-roles"} & tasks(machine)


def test_it_has_the_same_objects(cold: Cold, machine: Machine) -> None:
    def lasting(found: set[Identity]) -> set[Identity]:
        return {identity for identity in found if identity[0] not in PASSING}

    wanted = lasting(set(cold.inventory))
    until(lambda: wanted <= set(inventory(machine)), what="all objects of the first machine")
    # Other tests' objects aside: nothing was made twice, or by another name.
    extra = {(kind, name) for kind, namespace, name in lasting(set(inventory(machine))) - wanted if not namespace}
    assert {name for kind, name in extra if kind.split(".")[0] in ("ClusterRole", "CustomResourceDefinition")} == set()


def test_no_uid_is_of_the_first_machine(cold: Cold, machine: Machine) -> None:
    before = {item["metadata"]["uid"] for item in cold.inventory.values() if "uid" in item["metadata"]}
    now = {item["metadata"]["uid"] for item in inventory(machine).values() if "uid" in item["metadata"]}
    assert len(before) > 300
    assert before & now == set()


def test_its_objects_are_as_old_as_the_machine(cold: Cold, machine: Machine) -> None:
    # A restore moves the last moment of the first start to now, so its first moment comes before this machine.
    began = machine.status.since - cold.events[-1].seconds - 2
    for identity, item in inventory(machine).items():
        if when := item["metadata"].get("creationTimestamp"):
            assert began < datetime.datetime.fromisoformat(when).timestamp() < time.time() + 1, identity


def test_the_keys_are_its_own(cold: Cold, machine: Machine, tmp_path: Path) -> None:
    assert (machine.home / "kubeconfig").read_text() != cold.kubeconfig
    # The learner of the first machine, even if he trusted this one's authority.
    other = yaml.safe_load(cold.kubeconfig)
    own = yaml.safe_load((machine.home / "kubeconfig").read_text())
    other["clusters"] = own["clusters"]
    (machine.home / "other.kubeconfig").write_text(yaml.safe_dump(other))
    with pytest.raises((ApiRefused, ApiUnavailable)) as refusal:
        machine.api_as("other.kubeconfig").list("v1", "Node")
    assert "401" in str(refusal.value) or "Unauthorized" in str(refusal.value)


def test_pods_trust_this_machines_authority(machine: Machine) -> None:
    published = machine.api.get("v1", "ConfigMap", "kube-root-ca.crt", "team-a")
    assert published is not None
    assert published["data"]["ca.crt"] == (machine.home / "pki/ca.crt").read_text()


def test_a_damaged_snapshot_is_said_and_made_again(fresh: Callable[..., Machine], tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    first = fresh(snapshots=snapshots)
    local.stop(first.home)
    (kept,) = snapshots.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    second = fresh(snapshots=snapshots)
    notes = [event.detail for event in second.events if event.state == "note"]
    assert len(notes) == 1
    assert "damaged" in notes[0]
    assert str(kept.with_suffix(".damaged")) in notes[0]
    assert "datastore" not in tasks(second)
    local.stop(second.home)
    third = fresh(snapshots=snapshots)
    assert "datastore" in tasks(third)
    assert third.api.get("v1", "Namespace", "team-a") is not None
