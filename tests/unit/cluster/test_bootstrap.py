"""Roles and nodes that every machine has."""

from __future__ import annotations

from cluster.bootstrap import fake_node, roles
from cluster.spec import NodeSpec
from grader.history.kinds import RECORDED


def rules() -> list[dict[str, list[str]]]:
    (role,) = [m for m in roles() if m["kind"] == "ClusterRole" and m["metadata"]["name"] == "batchlab:grader"]
    found: list[dict[str, list[str]]] = role["rules"]
    return found


def test_the_grader_may_read_every_kind_that_is_recorded() -> None:
    groups = {group for rule in rules() for group in rule.get("apiGroups", [])}
    needed = {kind.api_version.rpartition("/")[0] for kind in RECORDED}
    assert needed <= groups


def test_the_grader_may_change_nothing_and_read_no_secret() -> None:
    assert {verb for rule in rules() for verb in rule["verbs"]} == {"get", "list", "watch"}
    core = {resource for rule in rules() if "" in rule.get("apiGroups", []) for resource in rule["resources"]}
    assert "pods" in core
    assert not core & {"secrets", "*"}


def test_a_fake_node_is_tainted_labelled_and_has_its_gpus() -> None:
    node = fake_node(NodeSpec(name="gpu-a", gpus=4, labels={"rack": "r1"}))
    assert node["metadata"]["labels"]["rack"] == "r1"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "gpu-a"
    assert node["spec"]["taints"] == [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "4"


def test_a_node_without_gpus_does_not_name_them() -> None:
    assert "nvidia.com/gpu" not in fake_node(NodeSpec(name="cpu"))["status"]["capacity"]
