"""Every well-known cause on recorded objects, and none on objects that are well."""

from __future__ import annotations

import copy

import pytest

from grader.diagnosis import Fault
from tests.unit.diagnosis.conftest import Load

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("cluster", "target", "cause", "fault", "words"),
    [
        (
            "trials",
            "jobset/excl",
            "no-free-domain",
            "learner",
            "JobSet lab/excl needs 3 free lab.example.com/rack domains, one for each Job; the cluster has 2",
        ),
        ("trials", "job/excl-workers-0", "no-free-domain", "learner", "followers come only after their leader"),
        ("trials", "pod/excl-workers-0-0", "no-free-domain", "learner", "Pod lab/excl-workers-0-0-fbrkc waits for one"),
        (
            "trials",
            "jobset/slow",
            "failure-eaten-by-backoff-limit",
            "learner",
            (
                "pods of Job lab/slow-w-0 failed (3), but the Job has backoffLimit: 6 and makes new ones: a JobSet "
                "reacts to the failure of a Job only, so the restarts of JobSet lab/slow stay at 0"
            ),
        ),
        ("trials", "job/slow-w-0", "failure-eaten-by-backoff-limit", "learner", "backoffLimit: 6"),
        (
            "trials",
            "jobset/order",
            "failure-rule-hidden",
            "learner",
            "the rule leaderIsFatal of JobSet lab/order can never apply: anything comes before it",
        ),
        (
            "trials",
            "job/nons",
            "no-namespace-selector",
            "learner",
            "ClusterQueue nons has no namespaceSelector, so it admits from no namespace, though it is Active",
        ),
        ("trials", "cq/nons", "no-namespace-selector", "learner", "ClusterQueue nons"),
        ("trials", "lq/nons", "no-namespace-selector", "learner", "ClusterQueue nons"),
        (
            "trials",
            "job/typo",
            "flavor-missing",
            "learner",
            "ClusterQueue typo is inactive: it names the ResourceFlavor h100, which does not exist",
        ),
        (
            "trials",
            "job/noqueue",
            "local-queue-missing",
            "learner",
            "there is no LocalQueue nosuch in namespace lab (there is LocalQueue gpuonly, nons, small, typo)",
        ),
        (
            "trials",
            "job/big",
            "never-fits",
            "learner",
            (
                "Job lab/big can never be admitted: it asks for 16 nvidia.com/gpu, of which ClusterQueue small can "
                "have 8 at most"
            ),
        ),
        ("trials", "workload/job-big", "never-fits", "learner", "Job lab/big can never be admitted"),
        (
            "trials",
            "job/mixed",
            "resource-not-covered",
            "learner",
            "the pods ask for cpu, memory, and ClusterQueue gpuonly covers only nvidia.com/gpu",
        ),
        (
            "trials",
            "jobset/plain",
            "no-queue-label",
            "learner",
            "JobSet lab/plain has no label kueue.x-k8s.io/queue-name, so Kueue never saw it",
        ),
        (
            "queues",
            "jobset/wide",
            "waits-for-quota",
            "nobody",
            (
                "JobSet lab/wide waits for quota: 4 more nvidia.com/gpu needed in ClusterQueue team-a; used by "
                "JobSet lab/first (4), LeaderWorkerSet lab/queued (2)"
            ),
        ),
        (
            "queues",
            "job/toobig",
            "never-fits",
            "learner",
            "6 at most (4 of its own and 2 to borrow in cohort ml)",
        ),
        ("queues", "job/onheld", "cluster-queue-stopped", "learner", "ClusterQueue held is stopped (stopPolicy: Hold)"),
        ("queues", "job/onstopped", "local-queue-stopped", "learner", "LocalQueue lab/stopped is stopped"),
        ("queues", "job/onnowhere", "cluster-queue-missing", "learner", "leads to ClusterQueue gone, which does not"),
        ("queues", "lq/nowhere", "cluster-queue-missing", "learner", "leads to ClusterQueue gone"),
        ("queues", "pod/queued-1-1", "waits-for-quota", "nobody", "2 more nvidia.com/gpu needed"),
        ("queues", "lws/queued", "waits-for-quota", "nobody", "LeaderWorkerSet lab/queued waits for quota"),
        (
            "queues",
            "job/greedy",
            "unschedulable",
            "learner",
            (
                "no node takes Pod lab/greedy-fvpfd: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu; it asks "
                "for 9 nvidia.com/gpu, and no node it may use has more than 8"
            ),
        ),
        ("queues", "job/nine", "unschedulable", "nobody", "the most that a node it may use has free is 5 of 8"),
        (
            "queues",
            "job/untolerated",
            "unschedulable",
            "learner",
            "it does not tolerate kwok.x-k8s.io/node=fake:NoSchedule",
        ),
        (
            "queues",
            "lws/wide",
            "no-free-domain",
            "learner",
            (
                "LeaderWorkerSet lab/wide needs 3 free lab.example.com/rack domains, one for each group; the cluster "
                "has 2, 2 of them taken by LeaderWorkerSet lab/queued, LeaderWorkerSet lab/serve"
            ),
        ),
        (
            "queues",
            "jobset/onfail",
            "failure-eaten-by-restart-policy",
            "learner",
            "(restartPolicy: OnFailure, backoffLimit: 6)",
        ),
        (
            "webhook",
            "jobset/unhooked",
            "webhook-not-answering",
            "environment",
            "the webhook mpod.kb.io does not answer, so Job lab/unhooked-w-0 can't make its parts",
        ),
        (
            "images",
            "pod/nosuch",
            "image-missing",
            "learner",
            "node lab has no image nosuch:1 for Pod team-a/nosuch, and a lab can pull none (there is busybox:1.35, ",
        ),
        ("images", "pod/never", "image-missing", "learner", "no image nosuch:1"),
        ("images", "pod/bad", "image-missing", "learner", "no image NoSuch:1"),
    ],
)
def test_the_cause_is_found(load: Load, cluster: str, target: str, cause: str, fault: str, words: str) -> None:
    found = load(cluster).why(target)
    assert found.cause is not None, found
    assert (found.cause.id, str(found.cause.fault)) == (cause, fault)
    assert words in found.cause.says
    assert found.cause.where
    assert found.cause.look_at.startswith("kubectl ")
    assert not found.healthy


@pytest.mark.parametrize(
    ("cluster", "target"),
    [
        ("trials", "pod/serve-0-1"),
        ("trials", "pod/excl-workers-2-1"),
        ("trials", "job/plain-workers-0"),
        ("trials", "pod/plain-workers-0-0"),
        ("trials", "jobset/anyok"),
        ("trials", "cq/small"),
        ("trials", "lq/small"),
        ("trials", "node/gpu-a1"),
        ("queues", "jobset/first"),
        ("queues", "job/first-w-0"),
        ("queues", "pod/first-w-0-0"),
        ("queues", "workload/jobset-first"),
        ("queues", "pod/queued-0-1"),
        ("queues", "cq/team-a"),
        ("images", "pod/good"),
    ],
)
def test_what_is_well_has_no_cause(load: Load, cluster: str, target: str) -> None:
    found = load(cluster).why(target)
    assert found.cause is None
    assert found.healthy


def test_without_a_queue_in_its_namespace_nothing_lacks_a_label(load: Load) -> None:
    cluster = load("trials")
    cluster.drop("LocalQueue")
    for target in ("jobset/plain", "lws/serve"):
        found = cluster.why(target)
        assert (found.cause, found.healthy) == (None, True)


def test_what_failed_as_its_policy_says_has_no_cause_and_is_not_well(load: Load) -> None:
    found = load("trials").why("jobset/quick")
    assert (found.cause, found.healthy) == (None, False)
    assert "ReachedMaxRestarts" in found.state


def test_a_success_policy_is_told_beside_the_end(load: Load) -> None:
    assert "successPolicy Any: one finished Job of workers is enough" in load("trials").why("jobset/anyok").state


def test_roles_that_wait_for_others_are_named(load: Load) -> None:
    assert "v waits for w Complete (dependsOn)" in load("queues").why("jobset/dep").state


# -- queues -------------------------------------------------------------------------------------------


def test_a_cluster_queue_in_the_place_of_a_local_queue_is_named(load: Load) -> None:
    cluster = load("trials")
    cluster.change("Workload", "job-noqueue", spec={"queueName": "small"})
    cluster.drop("LocalQueue")
    found = cluster.why("job/noqueue").cause
    assert found is not None
    assert found.says == (
        "there is no LocalQueue small in namespace lab; small is a ClusterQueue, and the label wants a LocalQueue"
        " (there is no LocalQueue)"
    )


def test_a_namespace_that_the_selector_leaves_out(load: Load) -> None:
    cluster = load("trials")
    cluster.change("ClusterQueue", "nons", spec={"namespaceSelector": {"matchLabels": {"team": "x"}}})
    found = cluster.why("job/nons").cause
    assert found is not None
    assert found.id == "namespace-not-matched"
    assert found.says == "the namespaceSelector of ClusterQueue nons does not match namespace lab"
    cluster.change("Namespace", "lab", metadata={"labels": {"team": "x"}})
    assert cluster.why("job/nons").cause is None


def test_a_queue_that_is_inactive_for_another_reason_says_it(load: Load) -> None:
    cluster = load("trials")
    inactive = {"type": "Active", "status": "False", "reason": "AdmissionCheckNotFound", "message": "no check x"}
    cluster.change("ClusterQueue", "small", status={"conditions": [inactive]})
    found = cluster.why("job/big").cause
    assert found is not None
    assert (found.id, found.says) == ("cluster-queue-inactive", "ClusterQueue small is inactive: no check x")


def test_numbers_decide_and_not_an_old_message(load: Load) -> None:
    """Kueue leaves a message as it was until it looks again."""
    cluster = load("trials")
    group = cluster.find("ClusterQueue", "small")["spec"]["resourceGroups"][0]
    group["flavors"][0]["resources"][0]["nominalQuota"] = "16"
    assert cluster.why("job/big").cause is None
    group["flavors"][0]["resources"][0]["nominalQuota"] = "15"
    assert (cause := cluster.why("job/big").cause) is not None
    assert cause.id == "never-fits"


def test_what_lacks_no_quota_is_not_told_to_wait_for_it(load: Load) -> None:
    cluster = load("queues")
    workload = cluster.find("Workload", "jobset-wide")
    workload["status"]["conditions"][0]["message"] = (
        'couldn\'t assign flavors to pod set w: topology "dc" allows to fit only 1 out of 2 pod(s)'
    )
    found = cluster.why("jobset/wide")
    assert found.cause is None
    assert not found.healthy
    assert 'topology "dc"' in "".join(link.says for link in found.chain)


def test_an_admitted_workload_waits_for_nothing(load: Load) -> None:
    cluster = load("queues")
    cluster.change("ClusterQueue", "team-a", spec={"namespaceSelector": None})
    assert cluster.why("jobset/first").cause is None, "it runs already"


# -- pods ---------------------------------------------------------------------------------------------


def test_an_image_that_is_there_and_pulled_all_the_same(load: Load) -> None:
    cluster = load("images")
    pod = cluster.find("Pod", "nosuch")
    pod["spec"]["containers"][0] |= {"image": "busybox", "imagePullPolicy": "Always"}
    found = cluster.why("pod/nosuch").cause
    assert found is not None
    assert found.id == "image-pulled-always"
    assert "imagePullPolicy: Always" in found.says


def test_a_node_that_does_not_work_is_ours(load: Load) -> None:
    cluster = load("queues")
    for obj in cluster.objects:
        if obj["kind"] == "Node":
            obj["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    found = cluster.why("job/untolerated").cause
    assert found is not None
    assert found.fault is Fault.ENVIRONMENT
    for obj in cluster.objects:
        if obj["kind"] == "Node":
            obj["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    cordoned = cluster.why("job/untolerated").cause
    assert cordoned is not None
    assert cordoned.fault is Fault.LEARNER


def test_labels_that_no_node_has_are_named(load: Load) -> None:
    cluster = load("queues")
    pod = cluster.find("Pod", "untolerated")
    pod["spec"]["nodeSelector"] = {"disk": "ssd", "type": "kwok"}
    pod["status"]["conditions"][0]["message"] = (
        "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector. preemption: not helpful."
    )
    found = cluster.why("job/untolerated").cause
    assert found is not None
    assert found.says.endswith(
        "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector; no node has the labels disk=ssd"
    )


def test_with_room_for_all_a_leader_that_waits_is_not_short_of_domains(load: Load) -> None:
    cluster = load("trials")
    cluster.drop("Pod", "plain")
    for name in ("gpu-a1", "gpu-a2", "gpu-b1"):
        cluster.find("Node", name)["metadata"]["labels"]["lab.example.com/rack"] = name
    found = cluster.why("jobset/excl").cause
    assert found is not None
    assert found.id == "unschedulable"


# -- failures -----------------------------------------------------------------------------------------


def test_a_job_that_failed_is_no_failure_eaten(load: Load) -> None:
    cluster = load("trials")
    failed = {"type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded"}
    cluster.change("Job", "slow-w-0", status={"conditions": [failed]})
    assert (found := cluster.why("jobset/slow").cause) is None or found.id != "failure-eaten-by-backoff-limit"


def test_rules_that_leave_something_to_each_other_are_right(load: Load) -> None:
    cluster = load("trials")
    policy = cluster.find("JobSet", "order")["spec"]["failurePolicy"]
    policy["rules"].reverse()
    assert cluster.why("jobset/order").cause is None
    policy["rules"] = [
        {"name": "a", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]},
        {"name": "b", "action": "RestartJobSet", "targetReplicatedJobs": ["leader"]},
    ]
    assert cluster.why("jobset/order").cause is None
    policy["rules"].append({"name": "c", "action": "FailJobSet", "targetReplicatedJobs": ["leader"]})
    assert (found := cluster.why("jobset/order").cause) is not None
    assert found.says.startswith("the rule c of JobSet lab/order can never apply: b comes before it")


def test_a_webhook_of_ours_is_named_by_its_program(load: Load) -> None:
    cluster = load("webhook")
    event = cluster.find("Event", "unhooked")
    event["message"] = event["message"].replace(":9442", ":9443")
    found = cluster.why("jobset/unhooked").cause
    assert found is not None
    assert "the webhook mpod.kb.io of jobset does not answer" in found.says


def test_a_refusal_of_long_ago_or_of_a_job_that_is_whole_means_nothing(load: Load) -> None:
    cluster = load("webhook")
    cluster.now += 3600
    assert cluster.why("jobset/unhooked").cause is None
    cluster.now -= 3600
    job = cluster.find("Job", "unhooked-w-0")
    pod = cluster.find("Pod", "unhooked-job")
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "unhooked-w-0", "uid": job["metadata"]["uid"]}
    ]
    assert cluster.why("jobset/unhooked").cause is None


# -- two teams ----------------------------------------------------------------------------------------


def test_a_quota_that_is_used_up_refuses_pods(load: Load) -> None:
    cluster = load("teams")
    for target in ("jobset/gang", "job/gang-w-0"):
        found = cluster.why(target, "old").cause
        assert found is not None
        assert (found.id, found.fault) == ("resource-quota", Fault.LEARNER)
        assert found.says.startswith(
            "Job old/gang-w-0 may make no more pods: ResourceQuota old/gpus allows 4 requests.nvidia.com/gpu, "
            "of which 4 are used"
        )
        assert found.look_at == "kubectl -n old describe resourcequota gpus"
    cluster.change("ResourceQuota", "gpus", status={"used": {"requests.nvidia.com/gpu": "3"}})
    assert cluster.why("jobset/gang", "old").cause is None, "there is room again, and it will be tried again"
    cluster.drop("ResourceQuota")
    assert cluster.why("jobset/gang", "old").cause is None


def test_a_local_queue_of_another_namespace_is_named(load: Load) -> None:
    found = load("teams").why("job/lost", "old").cause
    assert found is not None
    assert (found.id, found.says) == (
        "local-queue-missing",
        (
            "there is no LocalQueue queue in namespace old (there is no LocalQueue); LocalQueue team-a/queue is in "
            "another namespace, and a job finds only the queues of its own"
        ),
    )


def test_a_priority_class_that_does_not_exist(load: Load) -> None:
    cluster = load("teams")
    found = cluster.why("job/unclassed").cause
    assert found is not None
    assert (found.id, found.says) == (
        "priority-class-missing",
        (
            "Job team-a/unclassed names the WorkloadPriorityClass hihg, which does not exist, so Kueue does not take "
            "it in (there is WorkloadPriorityClass high, low)"
        ),
    )
    cluster.find("Job", "unclassed")["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    assert cluster.why("job/unclassed").cause is None


def test_a_flavor_that_the_pods_do_not_tolerate(load: Load) -> None:
    cluster = load("teams")
    found = cluster.why("job/tainted").cause
    assert found is not None
    assert (found.id, found.says) == (
        "flavor-not-tolerated",
        (
            "the pods tolerate no flavor of ClusterQueue team-a: kwok.x-k8s.io/node=fake:NoSchedule stands in "
            "nodeTaints, and neither the pods nor the tolerations of the ResourceFlavor allow it"
        ),
    )
    # A second flavor that takes everybody: it is not the taint any more.
    flavors = cluster.find("ClusterQueue", "team-a")["spec"]["resourceGroups"][0]["flavors"]
    flavors.append({"name": "other", "resources": [{"name": GPU, "nominalQuota": "1"}]})
    other = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "other"},
        "spec": {},
    }
    cluster.objects.append(other)
    assert (cause := cluster.why("job/tainted").cause) is not None
    assert cause.id != "flavor-not-tolerated"


@pytest.mark.parametrize("toleration", [{"operator": "Exists"}, {"key": "kwok.x-k8s.io/node", "value": "fake"}])
def test_a_flavor_that_was_mended_is_not_looked_at_again(load: Load, toleration: dict[str, str]) -> None:
    cluster = load("teams")
    cluster.change("ResourceFlavor", "gpu", spec={"tolerations": [toleration]})
    found = cluster.why("job/tainted").cause
    assert found is not None
    assert (found.id, found.says) == (
        "flavor-changed",
        (
            "a flavor has been changed since Kueue looked (untolerated taint {kwok.x-k8s.io/node fake NoSchedule "
            "<nil>} in flavor gpu), and it does not look again for that: delete the job and apply it again"
        ),
    )


@pytest.mark.parametrize(("rule", "told"), [("Never", True), (None, True), ("Any", False), ("LowerPriority", False)])
def test_what_is_lent_does_not_come_back_without_a_rule(load: Load, rule: str | None, told: bool) -> None:
    cluster = load("queues")
    local = copy.deepcopy(cluster.find("LocalQueue", "qa"))
    local["metadata"] |= {"name": "of-the-lender", "uid": "1"}
    local["spec"]["clusterQueue"] = "team-b"
    cluster.objects.append(local)
    cluster.change("Workload", "jobset-wide", spec={"queueName": "of-the-lender"})
    cluster.change("ClusterQueue", "team-b", spec={"preemption": {"reclaimWithinCohort": rule} if rule else {}})
    found = cluster.why("jobset/wide").cause
    assert found is not None
    assert found.id == "waits-for-quota"
    clause = "; its own quota would do, but others borrow it, and reclaimWithinCohort is Never"
    assert found.says.endswith(clause) is told


def test_without_a_known_cause_what_kueue_says_is_told(load: Load) -> None:
    cluster = load("queues")
    workload = cluster.find("Workload", "jobset-wide")
    workload["status"]["conditions"][0]["message"] = 'couldn\'t assign flavors to pod set w: topology "dc" is too small'
    found = cluster.why("jobset/wide")
    assert found.cause is None
    assert 'topology "dc" is too small' in found.state
