"""What *Data for training* says of access modes, and what the second pod meets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.articles import (
    FAKE,
    NAMESPACE,
    Manifest,
    condition,
    events,
    of_job,
    pod,
    remove,
    runs,
    shown,
)
from tests.cluster.conftest import Machine, needs_root, until

pytestmark = needs_root


def volume(name: str, mode: str, **source: Any) -> Manifest:
    """A volume in a class of its own name; without a source a folder of the node."""
    spec = source or {"hostPath": {"path": f"/srv/{name}", "type": "DirectoryOrCreate"}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": [mode],
            "storageClassName": name,
            "persistentVolumeReclaimPolicy": "Retain",
            **spec,
        },
    }


def claim(name: str, mode: str, storage_class: str | None = None) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "accessModes": [mode],
            "storageClassName": name if storage_class is None else storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def user(name: str, claim_name: str, *, at: str = "", read_only: str = "") -> Manifest:
    """A pod with the claim at /data; `at` is its node, `read_only` is said at the volume or the mount."""
    source: Manifest = {"claimName": claim_name}
    mount: Manifest = {"name": "d", "mountPath": "/data"}
    if read_only:
        {"volume": source, "mount": mount}[read_only]["readOnly"] = True
    where: Manifest = {"nodeSelector": {"kubernetes.io/hostname": at}} if at else {}
    if at.startswith("gpu-"):
        where["tolerations"] = FAKE["tolerations"]
    return pod(name, mounts=[mount], volumes=[{"name": "d", "persistentVolumeClaim": source}], **where)


def bound(machine: Machine, *manifests: Manifest) -> None:
    for manifest in manifests:
        machine.api.apply(manifest)
    name = manifests[-1]["metadata"]["name"]
    until(lambda: phase(machine, "PersistentVolumeClaim", name) == "Bound", what=f"claim {name} bound")


def phase(machine: Machine, kind: str, name: str) -> str:
    found = machine.api.get("v1", kind, name, NAMESPACE)
    return "" if found is None else str(found["status"].get("phase", ""))


def why_unplaced(machine: Machine, name: str) -> str:
    found = until(lambda: condition(machine.api.get("v1", "Pod", name, NAMESPACE), "PodScheduled"))
    assert (found["status"], found["reason"]) == ("False", "Unschedulable")
    return str(found["message"])


def gone(machine: Machine, *manifests: Manifest) -> None:
    """Remove all, and wait for it: volumes have no namespace, and the next test may want the same node."""
    remove(machine, *manifests)
    for manifest in manifests:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        until(
            lambda kind=kind, name=name, api=manifest["apiVersion"]: (  # type: ignore[misc]
                machine.api.get(api, kind, name, NAMESPACE) is None
            )
        )


def test_a_claim_wants_a_volume_that_has_its_mode(machine: Machine) -> None:
    objects = [volume("once-only", "ReadWriteOnce"), claim("many", "ReadWriteMany", "once-only")]
    nowhere = [claim("nowhere", "ReadWriteMany", ""), user("waits", "nowhere")]
    for manifest in (*objects, *nowhere):
        machine.api.apply(manifest)
    wanted = "no persistent volumes available for this claim and no storage class is set"
    until(lambda: wanted in events(machine, "nowhere"))
    assert "pod has unbound immediate PersistentVolumeClaims" in why_unplaced(machine, "waits")
    assert (phase(machine, "PersistentVolumeClaim", "many"), phase(machine, "Pod", "waits")) == ("Pending", "Pending")
    assert phase(machine, "PersistentVolume", "once-only") == "Available"
    gone(machine, *objects, *nowhere)


def test_two_pods_of_one_node_share_read_write_once(machine: Machine) -> None:
    objects = [volume("once", "ReadWriteOnce"), claim("once", "ReadWriteOnce")]
    bound(machine, *objects)
    pods = [user(name, "once") for name in ("once-a", "once-b")]
    for manifest in pods:
        machine.api.apply(manifest)
    for manifest in pods:
        runs(machine, manifest["metadata"]["name"])
        machine.desk(f"kubectl exec {manifest['metadata']['name']} -- sh -c 'hostname >> /data/both'")
    assert machine.desk("kubectl exec once-a -- cat /data/both").stdout == "once-a\nonce-b\n"
    gone(machine, *objects, *pods)


def test_read_write_once_pod_is_one_pod(machine: Machine) -> None:
    objects = [volume("single", "ReadWriteOncePod"), claim("single", "ReadWriteOncePod"), user("single-a", "single")]
    bound(machine, *objects[:2])
    machine.api.apply(objects[2])
    runs(machine, "single-a")
    machine.api.apply(user("single-b", "single"))
    wanted = (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another"
    )
    assert wanted in why_unplaced(machine, "single-b")
    gone(machine, *objects, user("single-b", "single"))


def test_a_local_volume_says_where_it_is(machine: Machine) -> None:
    here = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["gpu-a"]}]}
    place = {"local": {"path": "/srv"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [here]}}}
    objects = [volume("local", "ReadWriteOnce", **place), claim("local", "ReadWriteOnce")]
    bound(machine, *objects)
    pods = [user("local-a", "local", at="gpu-a"), user("local-b", "local", at="gpu-b")]
    for manifest in pods:
        machine.api.apply(manifest)
    runs(machine, "local-a")
    assert "node(s) didn't match PersistentVolume's node affinity" in why_unplaced(machine, "local-b")
    gone(machine, *objects, *pods)


@pytest.mark.parametrize(("mode", "shared"), [("ReadWriteOnce", False), ("ReadWriteMany", True)])
def test_a_disk_is_attached_to_one_node_or_many(machine: Machine, mode: str, shared: bool) -> None:
    """With the real attach controller; that the driver attached the disk is said by us in its place."""
    api, storage = machine.api, "storage.k8s.io/v1"
    name = f"disk-{mode.lower()}"
    driver = {"apiVersion": storage, "kind": "CSIDriver", "metadata": {"name": "disk.example.com"}}
    objects = [
        driver | {"spec": {"attachRequired": True}},
        volume(name, mode, csi={"driver": "disk.example.com", "volumeHandle": name}),
        claim(name, mode),
    ]
    bound(machine, *objects)
    managed = {"metadata": {"annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}}
    api.merge("v1", "Node", "gpu-a", managed)
    first, second = user(f"{name}-a", name, at="gpu-a"), user(f"{name}-b", name, at="lab")

    def attachments() -> dict[str, str]:
        """Node → attachment of this volume."""
        found = [
            one
            for one in api.list(storage, "VolumeAttachment")
            if one["spec"]["source"].get("persistentVolumeName") == name
        ]
        return {one["spec"]["nodeName"]: one["metadata"]["name"] for one in found}

    api.apply(first)
    attachment = until(lambda: attachments().get("gpu-a"))
    api.merge(storage, "VolumeAttachment", attachment, {"status": {"attached": True}}, subresource="status")
    api.apply(second)
    said = f'Multi-Attach error for volume "{name}" Volume is already used by pod(s) {name}-a'
    if shared:
        until(lambda: "lab" in attachments())
        assert said not in events(machine, f"{name}-b")
    else:
        until(lambda: said in events(machine, f"{name}-b"))
        assert list(attachments()) == ["gpu-a"]
        waiting = (api.get("v1", "Pod", f"{name}-b", NAMESPACE) or {})["status"]["containerStatuses"][0]["state"]
        assert waiting["waiting"]["reason"] == "ContainerCreating"
        remove(machine, first)
        until(lambda: list(attachments()) == ["lab"], what="the disk goes to the second pod's node")
    remove(machine, first, second)
    for held in attachments().values():
        api.delete(storage, "VolumeAttachment", held)
    gone(machine, *objects, first, second)


@pytest.mark.parametrize(("read_only", "written"), [("", True), ("volume", False), ("mount", False)])
def test_read_only_many_guards_nothing_and_read_only_does(machine: Machine, read_only: str, written: bool) -> None:
    name = f"data-{read_only or 'plain'}"
    objects = [volume(name, "ReadOnlyMany"), claim(name, "ReadOnlyMany"), user(name, name, read_only=read_only)]
    bound(machine, *objects[:2])
    machine.api.apply(objects[2])
    runs(machine, name)
    tried = machine.desk(f"kubectl exec {name} -- touch /data/x")
    assert (tried.returncode == 0) is written
    assert ("Read-only file system" in tried.stderr) is not written
    gone(machine, *objects)


def test_all_kinds_of_space_in_one_job(machine: Machine) -> None:
    objects = [
        shown("data-for-training", "PersistentVolume", "shared"),
        shown("data-for-training", "PersistentVolumeClaim", "checkpoints"),
        shown("data-for-training", "Job", "with-data"),
    ]
    bound(machine, *objects[:2])
    writer = user("writer", "checkpoints")
    machine.api.apply(writer)
    runs(machine, "writer")
    machine.desk("kubectl exec writer -- sh -c 'rm -rf /data/*; echo 1 > /data/part-0'")
    small = machine.desk("kubectl exec writer -- df -h /dev/shm").stdout
    assert "64.0M" in small
    machine.api.apply(objects[2])
    until(lambda: condition(machine.api.get("batch/v1", "Job", "with-data", NAMESPACE), "Complete"))
    logs = machine.desk(f"kubectl logs -l {of_job('with-data')}").stdout
    assert logs.count("part-0") == 2
    assert [line.split()[:2] for line in logs.splitlines() if "/dev/shm" in line] == [["tmpfs", "256.0M"]] * 2
    assert "ok" in machine.desk("kubectl exec writer -- ls /data").stdout
    gone(machine, *objects, writer)


def test_an_ephemeral_claim_belongs_to_its_pod(machine: Machine) -> None:
    template = {"spec": claim("x", "ReadWriteOnce", "")["spec"]}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
    machine.api.apply(pod("own", volumes=volumes, mounts=[{"name": "scratch", "mountPath": "/scratch"}]))
    made = until(lambda: machine.api.get("v1", "PersistentVolumeClaim", "own-scratch", NAMESPACE))
    assert [(one["kind"], one["name"]) for one in made["metadata"]["ownerReferences"]] == [("Pod", "own")]
    gone(machine, pod("own"))
    until(lambda: machine.api.get("v1", "PersistentVolumeClaim", "own-scratch", NAMESPACE) is None)


def test_a_claim_in_use_goes_with_its_pod_and_its_volume_remembers_it(machine: Machine) -> None:
    api = machine.api
    objects = [volume("kept", "ReadWriteOnce"), claim("kept", "ReadWriteOnce"), user("keeper", "kept")]
    bound(machine, *objects[:2])
    api.apply(objects[2])
    runs(machine, "keeper")
    remove(machine, objects[1])
    marked = api.get("v1", "PersistentVolumeClaim", "kept", NAMESPACE)
    assert marked is not None
    assert "deletionTimestamp" in marked["metadata"]
    gone(machine, objects[2])
    until(lambda: phase(machine, "PersistentVolume", "kept") == "Released")
    api.apply(objects[1])
    until(lambda: phase(machine, "PersistentVolumeClaim", "kept") == "Pending")
    assert phase(machine, "PersistentVolume", "kept") == "Released"
    api.merge("v1", "PersistentVolume", "kept", {"spec": {"claimRef": None}})
    until(lambda: phase(machine, "PersistentVolumeClaim", "kept") == "Bound", 90)
    gone(machine, *objects[:2])
