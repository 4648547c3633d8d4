"""Kueue: kueue.x-k8s.io, with its visibility API (visibility.kueue.x-k8s.io).

With its own certificate management off, Kueue 0.17 reads the metrics server's and the visibility server's
certificates from paths that are written into the program.
"""

from __future__ import annotations

from pathlib import Path

from cluster.addons.model import Addon
from cluster.components.service_accounts import ServiceAccount
from cluster.spec import GPU

_API = "kueue.x-k8s.io/v1beta2"

KUEUE = Addon(
    name="kueue",
    program="kueue",
    account=ServiceAccount("kueue", "kueue-system", "kueue-controller-manager"),
    webhook_port=9463,
    health_port=9464,
    metrics_port=9465,
    api_server_port=9466,
    hosts=("127.0.0.1", "localhost", "kueue-visibility-server.kueue-system.svc"),
    settings={"visibilityServer": {"bindAddress": "127.0.0.1", "bindPort": 9466}},
    certificate_folders=(Path("/etc/kueue/metrics/certs"), Path("/visibility")),
    probes=(
        {"apiVersion": _API, "kind": "ResourceFlavor", "metadata": {"name": "probe"}},
        {"apiVersion": _API, "kind": "Cohort", "metadata": {"name": "probe"}},
        {
            "apiVersion": _API,
            "kind": "ClusterQueue",
            "metadata": {"name": "probe"},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [
                    {
                        "coveredResources": [GPU],
                        "flavors": [{"name": "probe", "resources": [{"name": GPU, "nominalQuota": 1}]}],
                    }
                ],
            },
        },
        {
            "apiVersion": _API,
            "kind": "LocalQueue",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {"clusterQueue": "probe"},
        },
        {
            "apiVersion": _API,
            "kind": "WorkloadPriorityClass",
            "metadata": {"name": "probe"},
            "value": 1,
            "description": "",
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": "probe",
                "namespace": "default",
                "labels": {"kueue.x-k8s.io/queue-name": "probe"},
            },
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "probe"}]}}},
        },
    ),
)
