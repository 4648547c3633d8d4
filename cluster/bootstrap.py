"""Objects every lab machine has besides Kubernetes' own: roles of the learner and the grader, DNS, fake nodes.

Owns these manifests as data; `cluster.steps` applies them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cluster.components.nodes import COREDNS_ACCOUNT
from cluster.identities import GRADERS, KUBELET_CLIENT, LEARNERS, SCRIPTS
from cluster.spec import GPU, Manifest, NodeSpec

_RBAC = "rbac.authorization.k8s.io"
_KWOK_TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}


def roles() -> list[Manifest]:
    """The learner is a cluster admin; the grader reads everything but secrets and changes nothing.

    A lab's scripts read everything, and may run commands in pods: less would fail what they are written to look at.
    """
    return [
        _binding("batchlab:learners", "cluster-admin", "Group", LEARNERS),
        _binding("batchlab:kubelet-client", "system:kubelet-api-admin", "User", KUBELET_CLIENT),
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "batchlab:grader"},
            "rules": [
                _read(
                    "",
                    ["bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes"],
                ),
                _read("", ["persistentvolumeclaims", "persistentvolumes", "pods", "pods/log", "podtemplates"]),
                _read("", ["replicationcontrollers", "resourcequotas", "serviceaccounts", "services"]),
                *(_read(group, ["*"]) for group in _READABLE_GROUPS),
                {"nonResourceURLs": ["/metrics", "/readyz", "/version"], "verbs": ["get"]},
            ],
        },
        _binding("batchlab:graders", "batchlab:grader", "Group", GRADERS),
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "batchlab:script"},
            "rules": [
                _read("*", ["*"]),
                {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
                {"nonResourceURLs": ["*"], "verbs": ["get"]},
            ],
        },
        _binding("batchlab:scripts", "batchlab:script", "Group", SCRIPTS),
    ]


_READABLE_GROUPS = (
    "apps",
    "batch",
    "events.k8s.io",
    "scheduling.k8s.io",
    "resource.k8s.io",
    "apiextensions.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "jobset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
    "kueue.x-k8s.io",
    "visibility.kueue.x-k8s.io",
    "kubeflow.org",
    "trainer.kubeflow.org",
    "batch.volcano.sh",
    "scheduling.volcano.sh",
    "preferred.jp",
)


def dns() -> list[Manifest]:
    """CoreDNS's identity, as kubeadm makes it."""
    account = COREDNS_ACCOUNT
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": account.name, "namespace": account.namespace},
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "system:coredns"},
            "rules": [
                _read("", ["endpoints", "services", "pods", "namespaces"]),
                _read("discovery.k8s.io", ["endpointslices"]),
            ],
        },
        _binding("system:coredns", "system:coredns", "ServiceAccount", account.name, account.namespace),
    ]


def namespace_objects(namespace: str, authority: Path) -> list[Manifest]:
    """What kube-controller-manager puts into each namespace, as it makes it. Without the first no pod is accepted,
    without the second no container of one starts. `authority`: the file of kube-apiserver's certificate authority."""
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "kube-root-ca.crt",
                "namespace": namespace,
                # The words of kube-controller-manager (rootcacertpublisher).
                "annotations": {
                    "kubernetes.io/description": "Contains a CA bundle that can be used to verify the kube-apiserver "
                    "when using internal endpoints such as the internal service IP or kubernetes.default.svc. No "
                    "other usage is guaranteed across distributions of Kubernetes clusters."
                },
            },
            "data": {"ca.crt": authority.read_text()},
        },
    ]


def fake_node(node: NodeSpec) -> Manifest:
    """A node for KWOK to play: roomy in everything but GPUs; tainted, where it is, so that nothing lands by chance."""
    resources = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    if node.gpus:
        resources[GPU] = str(node.gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": node.name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "type": "kwok",
                **node.labels,
            },
        },
        "spec": {"taints": [_KWOK_TAINT]} if node.taint else {},
        "status": {"capacity": resources, "allocatable": resources},
    }


def gpu_patch(node: NodeSpec) -> dict[str, Any]:
    """The merge patch of a real node's status that gives it GPUs it does not have.

    kubelet keeps what it does not know until it restarts (it then zeroes extended resources).
    """
    count = {GPU: str(node.gpus)}
    return {"status": {"capacity": count, "allocatable": count}}


def _read(group: str, resources: list[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": resources, "verbs": ["get", "list", "watch"]}


def _binding(name: str, role: str, kind: str, subject: str, namespace: str = "") -> Manifest:
    who: dict[str, str] = {"kind": kind, "name": subject}
    if kind == "ServiceAccount":
        who["namespace"] = namespace
    else:
        who["apiGroup"] = _RBAC
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [who],
    }
