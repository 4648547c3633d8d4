"""What *Surviving loss* says of signals, checkpoints, disruptions, flavors and elastic Jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cluster.errors import ApiRefused
from tests.cluster.articles import (
    FAKE,
    IDLE,
    NAMESPACE,
    condition,
    events,
    evict,
    job,
    listens,
    of_job,
    only_pod,
    pod,
    remove,
    runs,
    shown,
)
from tests.cluster.conftest import Machine, needs_root, until

pytestmark = needs_root
BATCH, JOBSET, KUEUE = "batch/v1", "jobset.x-k8s.io/v1alpha2", "kueue.x-k8s.io/v1beta2"
GRACE = 6
DISRUPTED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "script", "code", "at_once"),
    [
        ("deaf", "echo listens; exec tail -f /dev/null", 137, False),
        ("in-front", "trap 'exit 7' TERM; echo listens; tail -f /dev/null; true", 137, False),
        ("behind", "trap 'exit 7' TERM; echo listens; tail -f /dev/null & wait", 7, True),
    ],
)
def test_who_hears_the_signal(machine: Machine, name: str, script: str, code: int, at_once: bool) -> None:
    api = machine.api
    api.apply(pod(name, script, restartPolicy="Never", terminationGracePeriodSeconds=GRACE))
    runs(machine, name)
    listens(machine, name)
    _pods, version = api.list_page("v1", "Pod", NAMESPACE)
    api.delete("v1", "Pod", name, NAMESPACE)
    ended: dict[str, Any] = {}
    killed_at = datetime.now(UTC)
    for verb, seen in api.watch("v1", "Pod", version, seconds=60):
        if seen["metadata"].get("name") != name:
            continue
        if "deletionTimestamp" in seen["metadata"]:
            killed_at = max(killed_at, moment(seen["metadata"]["deletionTimestamp"]))
        for status in seen["status"].get("containerStatuses", []):
            ended = status["state"].get("terminated") or ended
        if verb == "DELETED":
            break
    assert ended["exitCode"] == code
    left = (killed_at - moment(ended["finishedAt"])).total_seconds()
    assert (left > 1) is at_once, f"{left} s before the grace period was over"


@pytest.fixture
def claim(machine: Machine) -> Iterator[None]:
    """The volume and the claim of *Data for training*."""
    objects = [
        shown("data-for-training", "PersistentVolume", "shared"),
        shown("data-for-training", "PersistentVolumeClaim", "checkpoints"),
    ]
    for manifest in objects:
        machine.api.apply(manifest)
    yield
    remove(machine, *objects)
    until(lambda: machine.api.get("v1", "PersistentVolume", "shared") is None)


def test_the_next_pod_goes_on_from_the_checkpoint(machine: Machine, claim: None) -> None:
    steps = shown("surviving-loss", "Job", "steps")
    machine.api.apply(steps)
    first = only_pod(machine, of_job("steps"))
    started = moment(first["status"]["containerStatuses"][0]["state"]["running"]["startedAt"])
    until(lambda: (datetime.now(UTC) - started).total_seconds() > 4, what="a few steps")
    evict(machine, first["metadata"]["name"])

    def second() -> dict[str, Any] | None:
        found = only_pod(machine, of_job("steps"))
        return found if found["metadata"]["uid"] != first["metadata"]["uid"] else None

    name = until(second)["metadata"]["name"]
    said = until(lambda: machine.desk(f"kubectl logs {name}").stdout)
    assert said.startswith("from step ")
    assert int(said.split()[2]) >= 3
    found = machine.api.get(BATCH, "Job", "steps", NAMESPACE)
    assert found is not None
    assert not found["status"].get("failed")
    remove(machine, steps)
    until(lambda: machine.pods(of_job("steps")) == [])


def test_an_empty_dir_outlives_the_container_and_not_the_pod(machine: Machine) -> None:
    script = "echo x >> /d/starts; trap exit TERM; until [ -e /tmp/fail ]; do sleep 0.2; done; exit 1"
    volumes, mounts = [{"name": "d", "emptyDir": {}}], [{"name": "d", "mountPath": "/d"}]
    manifest = pod("starts", script, volumes=volumes, mounts=mounts)
    machine.api.apply(manifest)
    runs(machine, "starts")
    count = "kubectl exec starts -- sh -c 'wc -l < /d/starts'"
    assert machine.desk(count).stdout.strip() == "1"
    machine.desk("kubectl exec starts -- touch /tmp/fail")
    until(lambda: machine.desk(count).stdout.strip() == "2")
    remove(machine, manifest)
    until(lambda: machine.api.get("v1", "Pod", "starts", NAMESPACE) is None)
    machine.api.apply(manifest)
    runs(machine, "starts")
    assert machine.desk(count).stdout.strip() == "1"
    remove(machine, manifest)


def test_a_pod_that_ends_with_0_at_TERM_completes_its_job(machine: Machine) -> None:  # noqa: N802  # the signal's name
    # Without a policy the Job counts a pod that is being deleted as failed, unless it sees it succeed first.
    pods = {"terminationGracePeriodSeconds": GRACE}
    machine.api.apply(job("polite", IDLE, pods=pods, podFailurePolicy=DISRUPTED))
    name = only_pod(machine, of_job("polite"))["metadata"]["name"]
    listens(machine, name)
    machine.api.delete("v1", "Pod", name, NAMESPACE)

    def complete() -> Any:
        found = machine.api.get(BATCH, "Job", "polite", NAMESPACE)
        return condition(found, "Complete")

    assert until(complete)["reason"] == "CompletionsReached"
    remove(machine, job("polite"))


@pytest.mark.parametrize(
    ("how", "reason", "policy", "counted"),
    [
        ("delete", "", DISRUPTED, True),
        ("evict", "EvictionByEvictionAPI", None, True),
        ("evict", "EvictionByEvictionAPI", DISRUPTED, False),
        ("taint", "DeletionByTaintManager", DISRUPTED, False),
    ],
)
def test_what_counts_as_a_failure(machine: Machine, how: str, reason: str, policy: Any, counted: bool) -> None:
    api = machine.api
    name = f"lost-{how}-{'ignored' if policy else 'plain'}"
    more = {"podFailurePolicy": policy} if policy else {}
    api.apply(job(name, pods=FAKE, backoffLimit=0, **more))
    first = only_pod(machine, of_job(name))
    lost, node = first["metadata"]["name"], first["spec"]["nodeName"]
    own = (api.get("v1", "Node", node) or {})["spec"].get("taints", [])
    if how == "delete":
        api.delete("v1", "Pod", lost, NAMESPACE)
    elif how == "evict":
        evict(machine, lost)
    else:
        going = {"key": "spot", "value": "going", "effect": "NoExecute"}
        api.merge("v1", "Node", node, {"spec": {"taints": [*own, going]}})
    # The pod is there for two seconds more: that is how fake nodes delete.
    told = until(lambda: api.get("v1", "Pod", lost, NAMESPACE)["metadata"].get("deletionTimestamp"))  # type: ignore[index]
    assert told
    seen = api.get("v1", "Pod", lost, NAMESPACE)
    if seen is not None:
        assert condition(seen, "DisruptionTarget").get("reason", "") == reason
    if how == "taint":
        api.merge("v1", "Node", node, {"spec": {"taints": own}})
    if counted:
        failed = until(lambda: condition(api.get(BATCH, "Job", name, NAMESPACE), "Failed"))
        assert failed["reason"] == "BackoffLimitExceeded"
    else:
        until(lambda: only_pod(machine, of_job(name))["metadata"]["name"] != lost)
        found = api.get(BATCH, "Job", name, NAMESPACE)
        assert found is not None
        assert not found["status"].get("failed")
    remove(machine, job(name))


def test_a_failure_policy_wants_pods_that_are_not_restarted(machine: Machine) -> None:
    manifest = job("wrong", pods={"restartPolicy": "OnFailure"}, podFailurePolicy=DISRUPTED)
    with pytest.raises(ApiRefused, match="restartPolicy"):
        machine.api.create(manifest, dry_run=True)


def test_a_set_that_lost_a_pod_restarts_and_does_not_count_it(machine: Machine) -> None:
    api, selector = machine.api, "jobset.sigs.k8s.io/jobset-name=train"
    jobset = shown("surviving-loss", "JobSet", "train")
    api.apply(jobset)

    def both(unlike: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
        pods = [one for one in machine.pods(selector) if one["metadata"]["uid"] not in unlike]
        return pods if [one["status"].get("phase") for one in pods] == ["Running"] * 2 else []

    before = until(both)
    evict(machine, before[0]["metadata"]["name"])
    until(lambda: both(frozenset(one["metadata"]["uid"] for one in before)), 90)
    status = (api.get(JOBSET, "JobSet", "train", NAMESPACE) or {})["status"]
    assert (status["restarts"], status.get("restartsCountTowardsMax", 0)) == (1, 0)
    assert "applying RestartJobSetAndIgnoreMaxRestarts failure policy action" in events(machine, "train")
    remove(machine, jobset)
    until(lambda: machine.pods(selector) == [])


def test_a_flavor_gives_node_selector_and_toleration(machine: Machine) -> None:
    api = machine.api
    objects = [
        shown("surviving-loss", "ResourceFlavor", "reserved"),
        shown("surviving-loss", "ResourceFlavor", "spot"),
        shown("surviving-loss", "ClusterQueue", "training"),
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": "training", "namespace": NAMESPACE},
            "spec": {"clusterQueue": "training"},
        },
    ]
    for manifest in objects:
        api.apply(manifest)
    for node, capacity in (("gpu-a", "reserved"), ("gpu-b", "spot")):
        api.merge("v1", "Node", node, {"metadata": {"labels": {"example.com/capacity": capacity}}})
    jobs = []
    for name, capacity, node in (("first", "reserved", "gpu-a"), ("second", "spot", "gpu-b")):
        manifest = job(name, pods={"tolerations": FAKE["tolerations"]})
        manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "training"}
        manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 1}}
        api.apply(manifest)
        jobs.append(manifest)
        found = only_pod(machine, of_job(name))
        assert found["spec"]["nodeSelector"] == {"example.com/capacity": capacity}
        assert found["spec"]["nodeName"] == node
        tolerated = any(one.get("key") == "example.com/spot" for one in found["spec"]["tolerations"])
        assert tolerated is (capacity == "spot")
    remove(machine, *objects, *jobs)


def test_an_indexed_job_grows_and_shrinks_at_its_end(machine: Machine) -> None:
    api = machine.api
    api.apply(job("elastic", pods=FAKE, completionMode="Indexed", parallelism=2, completions=2))

    def indexes() -> list[str]:
        return sorted(
            one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
            for one in machine.pods(of_job("elastic"))
            if "deletionTimestamp" not in one["metadata"]
        )

    until(lambda: indexes() == ["0", "1"])
    with pytest.raises(ApiRefused, match=r"Invalid value: 3: can only be modified in tandem with spec\.parallelism"):
        api.merge(BATCH, "Job", "elastic", {"spec": {"completions": 3}}, namespace=NAMESPACE)
    for count in (4, 1):
        patch = {"spec": {"parallelism": count, "completions": count}}
        api.merge(BATCH, "Job", "elastic", patch, namespace=NAMESPACE)
        until(lambda count=count: indexes() == [str(index) for index in range(count)])  # type: ignore[misc]
    remove(machine, job("elastic"))
