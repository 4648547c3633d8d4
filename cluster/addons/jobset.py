"""JobSet: jobset.x-k8s.io."""

from __future__ import annotations

from cluster.addons.model import Addon
from cluster.components.service_accounts import ServiceAccount

JOBSET = Addon(
    name="jobset",
    program="jobset",
    account=ServiceAccount("jobset", "jobset-system", "jobset-controller-manager"),
    webhook_port=9443,
    health_port=9444,
    metrics_port=9445,
    probes=(
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "w",
                        "template": {
                            "spec": {
                                "template": {
                                    "spec": {
                                        "restartPolicy": "Never",
                                        "containers": [{"name": "c", "image": "probe"}],
                                    }
                                }
                            }
                        },
                    }
                ]
            },
        },
    ),
)
