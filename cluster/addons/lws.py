"""LeaderWorkerSet: leaderworkerset.x-k8s.io."""

from __future__ import annotations

from cluster.addons.model import Addon
from cluster.components.service_accounts import ServiceAccount

_GROUP = "leaderworkerset.sigs.k8s.io"

LWS = Addon(
    name="lws",
    program="lws",
    account=ServiceAccount("lws", "lws-system", "lws-controller-manager"),
    webhook_port=9453,
    health_port=9454,
    metrics_port=9455,
    probes=(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {
                "leaderWorkerTemplate": {
                    "size": 2,
                    "workerTemplate": {"spec": {"containers": [{"name": "c", "image": "probe"}]}},
                }
            },
        },
        # The pod webhook is what injects LWS_* and the group labels: pods of a set must reach it, too.
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "probe-0",
                "namespace": "default",
                "labels": {f"{_GROUP}/name": "probe", f"{_GROUP}/worker-index": "0"},
                "annotations": {f"{_GROUP}/size": "2"},
            },
            "spec": {"subdomain": "probe", "containers": [{"name": "c", "image": "probe"}]},
        },
    ),
)
