"""mpi-operator: kubeflow.org/v2beta1, MPIJob.

It has no webhook and no configuration file, listens on a port for its health that is written into the program, and
can't do without leader election.
"""

from __future__ import annotations

from cluster.addons.model import Addon, Lease
from cluster.components.service_accounts import ServiceAccount

_NAMESPACE = "mpi-operator"
_METRICS = 9485

MPI_OPERATOR = Addon(
    name="mpi-operator",
    program="mpi-operator",
    account=ServiceAccount("mpi-operator", _NAMESPACE, "mpi-operator"),
    webhook_port=0,
    health_port=8080,
    health_path="/healthz",
    metrics_port=_METRICS,
    certificates_off=None,
    argv=(f"--lock-namespace={_NAMESPACE}", f"--monitoring-port={_METRICS}"),
    lease=Lease(namespace=_NAMESPACE, name="mpi-operator"),
    probes=(
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {
                "mpiReplicaSpecs": {
                    "Launcher": {"template": {"spec": {"containers": [{"name": "c", "image": "probe"}]}}},
                }
            },
        },
    ),
)
