"""Programs that run as a service account, the way they do in a pod.

Owns where a program's token, CA and namespace lie and how they are shown to it alone: bound over the
in-cluster path in a mount namespace of its own, so that client-go's in-cluster configuration just works and
no program sees another's identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cluster.machine import API_PORT, Layout, MachineConfig

IN_CLUSTER = Path("/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """`program` runs as `namespace`/`name`."""

    program: str
    namespace: str
    name: str

    def folder(self, config: MachineConfig) -> Path:
        """Where its token, ca.crt and namespace are kept."""
        return Layout(config.home).pki / "service-accounts" / self.program

    def mounts(self, config: MachineConfig) -> tuple[tuple[Path, Path], ...]:
        """The bind that shows them to the program."""
        return ((self.folder(config), IN_CLUSTER),)

    @property
    def env(self) -> dict[str, str]:
        """What kubelet sets in every container."""
        return {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(API_PORT),
            "POD_NAMESPACE": self.namespace,
        }

    @property
    def token_step(self) -> str:
        """Name of the step after which the token is there."""
        return f"token-{self.program}"
