"""From objects to lines: what real labs look like, and what is told of each state."""

from __future__ import annotations

from typing import Any

import pytest

from grader.board.model import Level, QueueLine, QuotaLine, Ref, WorkloadLine
from grader.board.store import MOST_EVENTS
from tests.unit.board.conftest import Cluster, recorded

LWS = {"leaderworkerset.sigs.k8s.io/name": "llm", "leaderworkerset.sigs.k8s.io/group-index": "0"}
KUEUE = "kueue.x-k8s.io/v1beta2"


class TestRealLabs:
    def test_lab_lws_has_two_groups_on_the_real_node(self) -> None:
        board = recorded("lab-lws", "infer")
        assert [(line.ref.name, line.used, line.gpus, line.fake) for line in board.nodes] == [
            ("lab", 4, 4, False),
            ("gpu-a", 0, 4, True),
            ("gpu-b", 0, 4, True),
        ]
        assert [(line.title, line.part, line.ready, line.wanted, line.gpus) for line in board.owners] == [
            ("lws/llm", False, 4, 4, 4),
            ("group 0", True, 2, 2, 2),
            ("group 1", True, 2, 2, 2),
        ]
        assert {line.state for line in board.pods} == {"Running"}
        assert board.queues == ()

    def test_lab_cohort_has_queues_with_quota_and_who_waits(self) -> None:
        board = recorded("lab-cohort", "team-a")
        queues = [line for line in board.queues if isinstance(line, QueueLine)]
        assert [(line.ref.name, line.cohort, line.admitted, line.waiting) for line in queues] == [
            ("team-a", "ml", 1, 1),
            ("team-b", "ml", 1, 0),
        ]
        quotas = [line for line in board.queues if isinstance(line, QuotaLine)]
        assert [(line.used, line.nominal, line.borrowed, line.says) for line in quotas] == [
            (4, 4, 0, "4 of 4"),
            (4, 4, 0, "4 of 4"),
        ]
        waiting = [line for line in board.queues if isinstance(line, WorkloadLine) and line.level is Level.WAITING]
        assert [(line.title, line.gpus, line.state) for line in waiting] == [("job/extra", 2, "Evicted")]
        extra = next(line for line in board.owners if line.title == "job/extra")
        assert (extra.state, extra.level) == ("Queued", Level.WAITING)

    def test_lab_jobset_says_that_it_was_restarted(self) -> None:
        train = recorded("lab-jobset", "team-a").owners[0]
        assert (train.title, train.ready, train.wanted) == ("jobset/train", 3, 3)
        assert train.state == "Running, restarted 1×"

    def test_the_latest_event_is_first(self) -> None:
        times = [line.at for line in recorded("lab-lws", "infer").events]
        assert times[0] == max(times)
        assert len(times) > 20


class TestPods:
    @pytest.mark.parametrize(
        ("fields", "state", "level"),
        [
            ({}, "Running", Level.OK),
            ({"ready": False}, "NotReady", Level.MOVING),
            ({"phase": "Pending"}, "ContainerCreating", Level.MOVING),
            ({"phase": "Pending", "node": None}, "Pending", Level.MOVING),
            (
                {
                    "phase": "Pending",
                    "node": None,
                    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
                },
                "Unschedulable",
                Level.WAITING,
            ),
            ({"phase": "Succeeded"}, "Completed", Level.OK),
            ({"phase": "Failed"}, "Error", Level.BAD),
            ({"phase": "Unknown"}, "Unknown", Level.BAD),
            ({"meta": {"deletionTimestamp": "2026-11-30T13:00:00Z"}}, "Terminating", Level.MOVING),
            (
                {"statuses": [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
                "CrashLoopBackOff",
                Level.BAD,
            ),
        ],
    )
    def test_states(self, cluster: Cluster, fields: dict[str, Any], state: str, level: Level) -> None:
        cluster.pod("a", **fields)
        (line,) = cluster.board.pods
        assert (line.state, line.level) == (state, level)

    def test_are_sorted_by_node_those_on_none_first(self, cluster: Cluster) -> None:
        for name, node in (("c", "n2"), ("b", "n1"), ("a", "n2"), ("z", None)):
            cluster.pod(name, node=node)
        assert [line.ref.name for line in cluster.board.pods] == ["z", "b", "a", "c"]

    def test_what_is_gone_is_gone(self, cluster: Cluster) -> None:
        cluster.pod("a")
        cluster.pod("a", verb="DELETED")
        assert cluster.board.pods == ()


class TestNodes:
    def test_gpus_of_what_ended_are_free(self, cluster: Cluster) -> None:
        cluster.node("n1", 8)
        cluster.pod("runs", gpus=2)
        cluster.pod("ends", gpus=3, meta={"deletionTimestamp": "x"})
        cluster.pod("done", "Succeeded", gpus=1)
        (line,) = cluster.board.nodes
        assert (line.used, line.ending, line.gpus, line.pods) == (5, 3, 8, 2)

    @pytest.mark.parametrize(
        ("fields", "state", "level"),
        [
            ({}, "Ready", Level.OK),
            ({"cordoned": True}, "Cordoned", Level.WAITING),
            ({"ready": False, "cordoned": True}, "NotReady", Level.BAD),
        ],
    )
    def test_states(self, cluster: Cluster, fields: dict[str, Any], state: str, level: Level) -> None:
        cluster.node("n1", **fields)
        (line,) = cluster.board.nodes
        assert (line.state, line.level) == (state, level)


class TestOwners:
    def test_a_group_without_pods_is_there_all_the_same(self, cluster: Cluster) -> None:
        template = {"size": 3}
        cluster.put(
            "LeaderWorkerSet",
            "llm",
            api_version="leaderworkerset.x-k8s.io/v1",
            spec={"replicas": 2, "leaderWorkerTemplate": template},
        )
        cluster.pod("llm-0", labels=LWS)
        lines = cluster.board.owners
        assert [(line.title, line.ready, line.wanted) for line in lines] == [
            ("lws/llm", 1, 6),
            ("group 0", 1, 3),
            ("group 1", 0, 3),
        ]
        assert {line.level for line in lines} == {Level.MOVING}

    def test_the_worst_pod_decides(self, cluster: Cluster) -> None:
        cluster.put("Job", "j", api_version="batch/v1", spec={"parallelism": 2, "completions": 2})
        marks = {"batch.kubernetes.io/job-name": "j"}
        cluster.pod("j-1", labels=marks)
        cluster.pod("j-2", "Failed", labels=marks)
        (line,) = cluster.board.owners
        assert (line.state, line.level, line.ready, line.wanted) == ("Error", Level.BAD, 1, 2)

    def test_what_failed_and_was_replaced_is_no_fault_any_more(self, cluster: Cluster) -> None:
        cluster.put("Job", "j", api_version="batch/v1", spec={"parallelism": 1, "completions": 1})
        marks = {"batch.kubernetes.io/job-name": "j"}
        cluster.pod("j-1", "Failed", labels=marks)
        cluster.pod("j-2", labels=marks)
        (line,) = cluster.board.owners
        assert (line.state, line.level, line.ready) == ("Running", Level.OK, 1)

    @pytest.mark.parametrize(
        ("spec", "conditions", "state", "level"),
        [
            ({"suspend": True}, [], "Suspended", Level.WAITING),
            ({}, [{"type": "Complete", "status": "True"}], "Completed", Level.OK),
            ({}, [{"type": "Failed", "status": "True"}], "Failed", Level.BAD),
            ({}, [], "Pending", Level.MOVING),
        ],
    )
    def test_states_of_a_job(
        self, cluster: Cluster, spec: dict[str, Any], conditions: list[dict[str, str]], state: str, level: Level
    ) -> None:
        cluster.put("Job", "j", api_version="batch/v1", spec=spec, status={"conditions": conditions})
        (line,) = cluster.board.owners
        assert (line.state, line.level) == (state, level)

    def test_jobs_of_a_jobset_are_its_parts_only(self, cluster: Cluster) -> None:
        version = "jobset.x-k8s.io/v1alpha2"
        roles = [{"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3}}}]
        cluster.put("JobSet", "train", api_version=version, spec={"replicatedJobs": roles})
        owner = {"kind": "JobSet", "name": "train", "uid": "JobSet-train", "controller": True}
        cluster.put("Job", "train-w-0", api_version="batch/v1", owners=[owner])
        assert [(line.title, line.wanted) for line in cluster.board.owners] == [("jobset/train", 6), ("w", 6)]

    def test_a_trainjob_stands_for_its_jobset(self, cluster: Cluster) -> None:
        cluster.put("TrainJob", "tune", api_version="trainer.kubeflow.org/v1alpha1", spec={})
        maker = {"kind": "TrainJob", "name": "tune", "uid": "TrainJob-tune", "controller": True}
        cluster.put("JobSet", "tune", api_version="jobset.x-k8s.io/v1alpha2", owners=[maker])
        marks = {"jobset.sigs.k8s.io/jobset-name": "tune", "jobset.sigs.k8s.io/replicatedjob-name": "node"}
        cluster.pod("tune-node-0-0-x", labels=marks)
        assert [(line.title, line.ready) for line in cluster.board.owners] == [("trainjob/tune", 1), ("node", 1)]

    def test_an_mpijob_has_its_launcher_and_its_workers(self, cluster: Cluster) -> None:
        roles = {"Launcher": {}, "Worker": {"replicas": 2}}
        version = "kubeflow.org/v2beta1"
        cluster.put("MPIJob", "sum", api_version=version, spec={"slotsPerWorker": 1, "mpiReplicaSpecs": roles})
        maker = {"kind": "MPIJob", "name": "sum", "uid": "MPIJob-sum", "controller": True}
        cluster.put("Job", "sum-launcher", api_version="batch/v1", owners=[maker])
        cluster.pod("sum-launcher-x", labels={"batch.kubernetes.io/job-name": "sum-launcher"})
        cluster.pod("sum-worker-0", owners=[maker])
        assert [(line.title, line.ready, line.wanted) for line in cluster.board.owners] == [("mpijob/sum", 2, 3)]

    def test_pods_outlive_what_made_them(self, cluster: Cluster) -> None:
        cluster.pod("llm-0", labels=LWS)
        assert [(line.title, line.ready, line.wanted) for line in cluster.board.owners] == [
            ("lws/llm", 1, 1),
            ("group 0", 1, 1),
        ]


class TestQueues:
    @staticmethod
    def queue(cluster: Cluster, name: str = "q", **more: Any) -> None:
        flavors = [{"name": "f", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "4"}]}]
        group = {"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}
        spec = {"resourceGroups": [group], "cohortName": "all", **more.pop("spec", {})}
        cluster.put("ClusterQueue", name, api_version=KUEUE, namespace="", spec=spec, **more)

    @staticmethod
    def workload(cluster: Cluster, name: str, gpus: int, queue: str = "q", **conditions: str) -> None:
        cluster.put("LocalQueue", "local", api_version=KUEUE, spec={"clusterQueue": "q"})
        usage = [{"flavors": {"nvidia.com/gpu": "f"}, "resourceUsage": {"nvidia.com/gpu": str(gpus)}}]
        said = [{"type": kind, "status": status} for kind, status in conditions.items()]
        status = {"conditions": said, "admission": {"clusterQueue": queue, "podSetAssignments": usage}}
        cluster.put("Workload", name, api_version=KUEUE, spec={"queueName": "local"}, status=status)

    def test_borrowing_is_what_is_above_ones_own(self, cluster: Cluster) -> None:
        self.queue(cluster)
        self.queue(cluster, "other")
        self.workload(cluster, "w", 6, QuotaReserved="True", Admitted="True")
        quota = next(line for line in cluster.board.queues if isinstance(line, QuotaLine) and line.ref.name == "q")
        assert (quota.used, quota.nominal, quota.borrowed, quota.says) == (6, 4, 2, "6 of 4, 2 borrowed")

    @pytest.mark.parametrize(
        ("fields", "state"),
        [
            ({"spec": {"stopPolicy": "Hold"}}, "Hold"),
            (
                {"status": {"conditions": [{"type": "Active", "status": "False", "reason": "FlavorNotFound"}]}},
                "FlavorNotFound",
            ),
        ],
    )
    def test_a_queue_that_admits_nothing_is_bad(self, cluster: Cluster, fields: dict[str, Any], state: str) -> None:
        self.queue(cluster, **fields)
        line = cluster.board.queues[0]
        assert isinstance(line, QueueLine)
        assert (line.state, line.level) == (state, Level.BAD)

    @pytest.mark.parametrize(
        ("conditions", "state", "level"),
        [
            ({}, "Queued", Level.WAITING),
            ({"QuotaReserved": "True"}, "QuotaReserved", Level.MOVING),
            ({"QuotaReserved": "True", "Admitted": "True"}, "Admitted", Level.OK),
            ({"Evicted": "True", "Admitted": "False"}, "Evicted", Level.WAITING),
            ({"Finished": "True"}, "Finished", Level.OK),
        ],
    )
    def test_states_of_a_workload(self, cluster: Cluster, conditions: dict[str, str], state: str, level: Level) -> None:
        self.queue(cluster)
        self.workload(cluster, "w", 1, **conditions)
        (line,) = [each for each in cluster.board.queues if isinstance(each, WorkloadLine)]
        assert (line.state, line.level) == (state, level)

    def test_a_workload_that_leads_nowhere_stands_at_the_end(self, cluster: Cluster) -> None:
        self.queue(cluster)
        cluster.put("Workload", "lost", api_version=KUEUE, spec={"queueName": "none"})
        last = cluster.board.queues[-1]
        assert (last.ref, last.level) == (Ref("Workload", "lab", "lost"), Level.WAITING)


class TestStore:
    def test_events_are_forgotten_from_the_oldest(self, cluster: Cluster) -> None:
        for number in range(MOST_EVENTS + 5):
            cluster.put("Event", f"e{number}", reason=str(number))
        cluster.put("Event", "e10", reason="again")
        reasons = [line.reason for line in cluster.board.events]
        assert (len(reasons), reasons[0], reasons[-1]) == (MOST_EVENTS, "again", "5")

    def test_of_kinds_with_one_name_only_ours_count(self, cluster: Cluster) -> None:
        cluster.put("Workload", "w", api_version="scheduling.k8s.io/v1alpha1")
        assert cluster.store.all("Workload") == []

    def test_a_name_means_what_came_last(self, cluster: Cluster) -> None:
        cluster.pod("a", uid="old", labels={"n": "1"})
        cluster.pod("a", uid="new", labels={"n": "2"})
        found = cluster.store.one(Ref("Pod", "lab", "a"))
        assert found is not None
        assert found["metadata"]["uid"] == "new"
        assert cluster.store.one(Ref("Pod", "other", "a")) is None

    def test_another_cluster_begins_with_nothing(self, cluster: Cluster) -> None:
        cluster.pod("a")
        before = cluster.store.version
        cluster.store.forget()
        assert cluster.store.all("Pod") == []
        assert cluster.store.version != before
