"""Which kinds the recorder follows.

Owns the table; knows nothing of how they are followed. A kind that the cluster does not serve costs nothing.
Never in it: Leases (heartbeats, no news) and Secrets (the history is a plain file).
"""

from __future__ import annotations

from typing import NamedTuple


class RecordedKind(NamedTuple):
    """A kind at the version it is recorded in; the history never holds one object in two versions."""

    api_version: str
    name: str


RECORDED: tuple[RecordedKind, ...] = tuple(
    RecordedKind(api_version, name)
    for api_version, names in {
        "v1": "Pod Node Event Service Namespace PersistentVolumeClaim ConfigMap",
        "batch/v1": "Job",
        "apps/v1": "StatefulSet Deployment",
        "scheduling.k8s.io/v1": "PriorityClass",
        "scheduling.k8s.io/v1alpha1": "Workload",
        "jobset.x-k8s.io/v1alpha2": "JobSet",
        "leaderworkerset.x-k8s.io/v1": "LeaderWorkerSet",
        "kueue.x-k8s.io/v1beta2": (
            "Workload ClusterQueue LocalQueue ResourceFlavor Cohort WorkloadPriorityClass Topology"
        ),
        "trainer.kubeflow.org/v1alpha1": "TrainJob TrainingRuntime ClusterTrainingRuntime",
        "kubeflow.org/v1": "PyTorchJob TFJob XGBoostJob PaddleJob JAXJob MPIJob",
        "kubeflow.org/v2beta1": "MPIJob",
        "preferred.jp/v1alpha1": "ParallelJob",
        "batch.volcano.sh/v1alpha1": "Job",
        "scheduling.volcano.sh/v1beta1": "PodGroup Queue",
    }.items()
    for name in names.split()
)
"""`Job` and `Workload` stand in it twice: readers that care give the apiVersion too. So does `MPIJob`, which no
cluster serves in both."""
