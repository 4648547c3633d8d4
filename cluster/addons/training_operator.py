"""Kubeflow's training operator, the first generation: kubeflow.org/v1, PyTorchJob, TFJob and their like.

Its MPIJob has the name of mpi-operator's in another version, so the two are never in one cluster
(`cluster.spec.NEVER_TOGETHER`). It renews its certificates by itself and can't be told not to.
"""

from __future__ import annotations

from cluster.addons.model import Addon, Rotation
from cluster.components.service_accounts import ServiceAccount

_KINDS = (
    ("PyTorchJob", "pytorchReplicaSpecs", "Worker", "pytorch"),
    ("TFJob", "tfReplicaSpecs", "Worker", "tensorflow"),
    ("XGBoostJob", "xgbReplicaSpecs", "Master", "xgboost"),
    ("PaddleJob", "paddleReplicaSpecs", "Worker", "paddle"),
    ("JAXJob", "jaxReplicaSpecs", "Worker", "jax"),
)
"""Kind, where its replicas stand, a role that may be alone, and the name that its webhook wants a container to have."""
_WEBHOOK, _HEALTH, _METRICS = 9493, 9494, 9495

TRAINING_OPERATOR = Addon(
    name="training-operator",
    program="training-operator",
    account=ServiceAccount("training-operator", "kubeflow", "training-operator"),
    webhook_port=_WEBHOOK,
    health_port=_HEALTH,
    metrics_port=_METRICS,
    hosts=("training-operator.kubeflow.svc", "127.0.0.1"),
    certificates_off=None,
    says_certificate_folder=False,
    argv=(
        f"--webhook-server-port={_WEBHOOK}",
        f"--health-probe-bind-address=127.0.0.1:{_HEALTH}",
        f"--metrics-bind-address=127.0.0.1:{_METRICS}",
        "--zap-log-level=info",
    ),
    rotation=Rotation(secret="training-operator-webhook-cert", authority="training-operator-ca"),  # noqa: S106  # a name
    probes=tuple(
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": kind,
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {
                replicas: {
                    role: {
                        "replicas": 1,
                        "restartPolicy": "Never",
                        "template": {"spec": {"containers": [{"name": container, "image": "probe"}]}},
                    }
                }
            },
        }
        for kind, replicas, role, container in _KINDS
    ),
)
