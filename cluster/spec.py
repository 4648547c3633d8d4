"""What a lab asks of a cluster, as plain data.

Owns `ClusterSpec`; knows nothing of labs, of how a cluster is made, or of where it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GPU = "nvidia.com/gpu"
ADDONS = ("jobset", "lws", "kueue", "trainer", "mpi-operator", "training-operator")
ADDON_NEEDS = {"trainer": ("jobset",)}
"""Add-on → those without which it can do nothing: a lab has to name them too, so that its list is all there is."""
NEVER_TOGETHER = (("mpi-operator", "training-operator"),)
"""Add-ons that own one kind in different versions (MPIJob): a cluster has one of each pair at most."""

Manifest = dict[str, Any]
"""One Kubernetes object as JSON has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """A node of the lab: `real` runs containers (kubelet, containerd), the others are KWOK's."""

    name: str
    real: bool = False
    gpus: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    taint: bool = True
    """Whether a node of KWOK's keeps away the pods that don't tolerate one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """Add-ons by name (see ADDONS), nodes, and objects that exist when the learner arrives."""

    addons: tuple[str, ...] = ()
    nodes: tuple[NodeSpec, ...] = ()
    manifests: tuple[Manifest, ...] = ()

    @property
    def real_node(self) -> NodeSpec | None:
        """The one node that runs containers, if the lab has one (it needs root)."""
        return next((node for node in self.nodes if node.real), None)

    @property
    def fake_nodes(self) -> tuple[NodeSpec, ...]:
        """The nodes that KWOK plays."""
        return tuple(node for node in self.nodes if not node.real)
