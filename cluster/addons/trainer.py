"""Kubeflow Trainer: trainer.kubeflow.org, with the ClusterTrainingRuntimes that upstream brings.

A TrainJob becomes a JobSet, so it needs the add-on jobset (`cluster.spec.ADDON_NEEDS`).
"""

from __future__ import annotations

from cluster.addons.model import Addon, CertificatesOff
from cluster.components.service_accounts import ServiceAccount

_API = "trainer.kubeflow.org/v1alpha1"
_TEMPLATE = {
    "spec": {
        "replicatedJobs": [
            {
                "name": "node",
                "template": {"spec": {"template": {"spec": {"containers": [{"name": "node", "image": "probe"}]}}}},
            }
        ]
    }
}

TRAINER = Addon(
    name="trainer",
    program="trainer",
    account=ServiceAccount("trainer", "kubeflow-system", "kubeflow-trainer-controller-manager"),
    webhook_port=9473,
    health_port=9474,
    metrics_port=9475,
    certificates_off=CertificatesOff.TRAINER,
    says_certificate_folder=False,
    has_objects=True,
    probes=(
        {
            "apiVersion": _API,
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "probe"},
            "spec": {"template": _TEMPLATE},
        },
        {
            "apiVersion": _API,
            "kind": "TrainingRuntime",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {"template": _TEMPLATE},
        },
        # Its webhook refuses a TrainJob whose runtime is not there.
        {
            "apiVersion": _API,
            "kind": "TrainJob",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {"runtimeRef": {"name": "torch-distributed"}},
        },
    ),
)
