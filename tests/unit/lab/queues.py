"""A player of Kueue for the tests of labs' checks: jobs, and what becomes of their Workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.recorded import Trace

NAMESPACE = "team-a"
LABELS = {"kueue.x-k8s.io/queue-name": "queue"}
NOT_YET = "insufficient unused quota for nvidia.com/gpu in flavor gpu, 2 more needed"


class Kueue:
    """Jobs and what Kueue makes of them; each is told of by its job's name."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.workloads: dict[str, Object] = {}

    def job(self, name: str, kind: str = "Job", namespace: str = NAMESPACE, **labels: str) -> Object:
        """A job in a LocalQueue."""
        version = {"Job": "batch/v1", "JobSet": "jobset.x-k8s.io/v1alpha2"}[kind]
        metadata = {"name": name, "namespace": namespace, "labels": LABELS | labels}
        return self.trace.put({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {}})

    def queue(self, name: str, gpus: int, kind: str = "Job", namespace: str = NAMESPACE, **spec: Any) -> None:
        """A job with its Workload, of which Kueue has said nothing yet."""
        owner = self.job(name, kind, namespace)
        container = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
        self.workloads[name] = self.trace.put(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Workload",
                "metadata": {
                    "name": f"{kind.lower()}-{name}-1a2b3",
                    "namespace": namespace,
                    "ownerReferences": [{"kind": kind, "name": name, "uid": owner["metadata"]["uid"]}],
                },
                "spec": {
                    "queueName": "queue",
                    "podSets": [{"count": gpus, "template": {"spec": {"containers": [container]}}}],
                    **spec,
                },
            }
        )

    def becomes(self, name: str, *conditions: tuple[str, str, str, str], queue: str = "") -> None:
        """Its Workload has these conditions now: type, status, reason, message."""
        found = [dict(zip(("type", "status", "reason", "message"), each, strict=True)) for each in conditions]
        status = {"conditions": found, **({"admission": {"clusterQueue": queue}} if queue else {})}
        self.workloads[name] = self.trace.put(self.workloads[name] | {"status": status})

    def waits(self, name: str, message: str = NOT_YET, reason: str = "Pending") -> None:
        """Kueue has said why it waits."""
        self.becomes(name, ("QuotaReserved", "False", reason, message))

    def admit(self, name: str, queue: str = "team-a") -> None:
        """A ClusterQueue has let it in."""
        self.becomes(
            name, ("QuotaReserved", "True", "QuotaReserved", ""), ("Admitted", "True", "Admitted", ""), queue=queue
        )

    def preempt(self, name: str, reason: str, winner: str) -> None:
        """It had to go for another one, and waits again."""
        message = f"Preempted to accommodate a workload (UID: {self.workloads[winner]['metadata']['uid']})"
        self.becomes(
            name,
            ("QuotaReserved", "False", "Pending", NOT_YET),
            ("Admitted", "False", "NoReservation", ""),
            ("Preempted", "True", reason, message),
        )

    def finish(self, name: str) -> None:
        """Its job has succeeded."""
        self.becomes(name, ("Admitted", "True", "Admitted", ""), ("Finished", "True", "Succeeded", ""), queue="team-a")

    def delete(self, name: str) -> None:
        """Its Workload is gone."""
        self.trace.remove(self.workloads[name])
