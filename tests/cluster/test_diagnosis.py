"""The well-known troubles of `tests/data/trials`, made on a real cluster of fake nodes, and what is said of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster import local
from cluster.api import Api
from cluster.errors import ApiRefused
from grader.checks.recorded import RecordedHistory
from grader.checks.work import WorkFolder
from grader.checks.world import World
from grader.diagnosis import Diagnosis, Fault, diagnose
from grader.diagnosis.names import parse_target
from grader.history.reader import HistoryReader
from grader.lab.catalogue import load_lab
from grader.session.lifecycle import start_session, stop_session
from grader.session.places import history_file, session_home
from tests.cluster.conftest import Machine, SandboxApi, needs_root, until

DATA = Path(__file__).resolve().parents[1] / "data"
LAB = "lab-trials"
GPU = "nvidia.com/gpu"
KUEUE = "kueue.x-k8s.io/v1beta2"
HOOKS = ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "jobset-mutating-webhook-configuration")
PATIENCE = 120.0


@dataclass
class Ground:
    """A session of the lab for trials."""

    home: Path
    api: Api
    """As the learner."""
    reader: Api
    """As the grader."""

    def apply(self, file: str) -> None:
        """The objects of a trial."""
        for obj in yaml.safe_load_all((DATA / "trials" / file).read_text(encoding="utf-8")):
            self.api.apply(obj)

    def why(self, target: str, namespace: str = "lab") -> Diagnosis | None:
        """The diagnosis now, as `grader why` makes it."""
        with HistoryReader(history_file(self.home)) as history:
            world = World(
                cluster=self.reader,
                history=history,
                work=WorkFolder(self.home / "work"),
                namespace=namespace,
                lab_folder=DATA,
                checks={},
            )
            return diagnose(world, *parse_target(target))

    def until_caused(self, target: str, cause: str, namespace: str = "lab") -> Diagnosis:
        """The diagnosis once it has that cause ("" for none)."""

        def so() -> Diagnosis | None:
            found = self.why(target, namespace)
            said = found.cause.id if found and found.cause else ""
            return found if found and said == cause else None

        found = until(so, PATIENCE, f"{cause or 'no cause'} of {target}")
        assert isinstance(found, Diagnosis)
        return found

    def until_well(self, target: str, namespace: str = "lab") -> Diagnosis:
        """The diagnosis once nothing is wrong any more."""
        what = f"{target} to be well"
        found = until(lambda: (found := self.why(target, namespace)) and found.healthy and found, PATIENCE, what)
        assert isinstance(found, Diagnosis)
        return found

    def grader(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`grader` on the host."""
        program = "from grader.cli import main; main()"
        line = [sys.executable, "-c", program, *words]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, binaries: Path) -> Iterator[Ground]:
    """One machine for all trials."""
    del binaries  # they are there, then
    if os.geteuid() != 0:
        pytest.skip("the machine needs no root, but only root may enter its network from outside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("trials")))
        patch.setenv("BATCHLAB_LABS", str(DATA / "labs"))
        patch.setenv("LC_ALL", "C.UTF-8")
        home = session_home(LAB)
        home.parent.mkdir(parents=True)
        try:
            start_session(load_lab(LAB), on_event=lambda _event: None)
            init = local.status(home).init_pid
            ground = Ground(
                home, SandboxApi.of(home / "kubeconfig", init), SandboxApi.of(home / "grader.kubeconfig", init)
            )
            yield ground
        finally:
            stop_session(LAB, on_event=lambda _event: None)


@pytest.fixture(scope="module")
def trials(ground: Ground) -> Ground:
    """With all trials on it but those that have a test of their own."""
    for file in sorted(path.name for path in (DATA / "trials").glob("*.yaml")):
        if not file.startswith(("01-", "03-")):
            ground.apply(file)
    return ground


def job(name: str, gpus: int, pods: int = 1, queue: str = "", kind: str = "Job") -> dict[str, Any]:
    """A Job, or a JobSet with one, of some pods with some GPUs each."""
    container = {"name": "main", "image": "main:1", "resources": {"limits": {GPU: str(gpus)}}}
    tolerations = [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}]
    template = {"spec": {"restartPolicy": "Never", "tolerations": tolerations, "containers": [container]}}
    spec: dict[str, Any] = {"parallelism": pods, "completions": pods, "template": template}
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    metadata = {"name": name, "namespace": "lab", "labels": labels}
    if kind == "JobSet":
        spec = {"replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": spec}}]}
        return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}


def test_more_jobs_than_racks(ground: Ground) -> None:
    """Before the others: the pods of any JobSet keep an exclusive one off their rack, and it keeps them off its own."""
    ground.apply("01-jobset-exclusive-more-jobs-than-racks.yaml")
    labels = "jobset.sigs.k8s.io/jobset-name=excl"

    def placed() -> bool:
        pods = ground.api.list("v1", "Pod", "lab", labels=labels)
        return sorted(pod["status"].get("phase") for pod in pods) == ["Pending", *["Running"] * 4]

    until(placed, PATIENCE, "two Jobs with their racks, and a leader without")
    found = ground.until_caused("jobset/excl", "no-free-domain")
    assert found.cause is not None
    said = (
        "JobSet lab/excl needs 3 free lab.example.com/rack domains, one for each Job; the cluster has 2; Pod lab/excl-"
    )
    assert found.cause.says.startswith(said)
    leader = found.cause.where[1].removeprefix("Pod lab/")

    def refused() -> bool:
        chain = (again := ground.why(f"job/{leader[: len('excl-workers-0')]}")) and again.chain
        return any("follower pod node selector not set" in link.says for link in chain or ())

    until(refused, PATIENCE, "the event of the refused follower")
    ground.api.delete("jobset.x-k8s.io/v1alpha2", "JobSet", "excl", "lab")
    until(lambda: not ground.api.list("v1", "Pod", "lab", labels=labels), PATIENCE, "excl to be gone")


@pytest.mark.parametrize(
    ("target", "cause", "words"),
    [
        ("jobset/slow", "failure-eaten-by-backoff-limit", "but the Job has backoffLimit: 6 and makes new ones"),
        ("jobset/order", "failure-rule-hidden", "the rule leaderIsFatal of JobSet lab/order can never apply"),
        ("job/nons", "no-namespace-selector", "ClusterQueue nons has no namespaceSelector"),
        ("job/typo", "flavor-missing", "it names the ResourceFlavor h100, which does not exist"),
        ("job/noqueue", "local-queue-missing", "there is no LocalQueue nosuch in namespace lab (there is LocalQueue "),
        ("job/big", "never-fits", "it asks for 16 nvidia.com/gpu, of which ClusterQueue small can have 8 at most"),
        ("job/mixed", "resource-not-covered", "the pods ask for cpu, memory, and ClusterQueue gpuonly covers only"),
        ("jobset/plain", "no-queue-label", "has no label kueue.x-k8s.io/queue-name, so Kueue never saw it"),
    ],
)
def test_a_trial_gets_its_diagnosis(trials: Ground, target: str, cause: str, words: str) -> None:
    found = trials.until_caused(target, cause)
    assert found.cause is not None
    assert words in found.cause.says
    assert found.cause.fault is Fault.LEARNER


def test_what_is_too_new_is_refused_and_nothing_is_there(ground: Ground) -> None:
    with pytest.raises(ApiRefused, match='Unsupported value: "RestartJob"'):
        ground.apply("03-jobset-restartjob-too-new.yaml")
    assert ground.why("jobset/too-new") is None


def test_what_ends_as_its_policy_says_has_no_cause(trials: Ground) -> None:
    def over(target: str, words: str) -> Any:
        found = trials.why(target)
        return found if found and words in found.state else None

    quick = until(lambda: over("jobset/quick", "ReachedMaxRestarts"), PATIENCE)
    assert (quick.cause, quick.healthy) == (None, False)
    anyok = until(lambda: over("jobset/anyok", "successPolicy Any: one finished Job of workers"), PATIENCE)
    assert (anyok.cause, anyok.healthy) == (None, True)


def test_what_cures_a_queue_cures_its_diagnosis(trials: Ground) -> None:
    trials.until_caused("job/nons", "no-namespace-selector")
    trials.api.merge(KUEUE, "ClusterQueue", "nons", {"spec": {"namespaceSelector": {"matchLabels": {"team": "x"}}}})
    trials.until_caused("job/nons", "namespace-not-matched")
    trials.api.merge(KUEUE, "ClusterQueue", "nons", {"spec": {"namespaceSelector": {"matchLabels": None}}})
    trials.until_well("job/nons")
    trials.api.merge(KUEUE, "ClusterQueue", "nons", {"spec": {"stopPolicy": "HoldAndDrain"}})
    trials.until_caused("job/nons", "cluster-queue-stopped")
    trials.api.merge(KUEUE, "ClusterQueue", "nons", {"spec": {"stopPolicy": "None"}})
    trials.until_well("job/nons")


# -- more than the trials show ------------------------------------------------------------------------


def test_the_numbers_are_those_of_kueue(ground: Ground) -> None:
    """What is computed equals what Kueue says when it looks at a workload for the first time."""
    quota = {"name": GPU, "nominalQuota": "4"}

    def queue(name: str, **limits: str) -> dict[str, Any]:
        flavors = [{"name": "cohort-gpu", "resources": [{**quota, **limits}]}]
        groups = [{"coveredResources": [GPU], "flavors": flavors}]
        spec = {"cohortName": "ml", "namespaceSelector": {}, "resourceGroups": groups}
        return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}

    ground.api.apply({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "cohort-gpu"}})
    ground.api.apply(queue("team-a"))
    ground.api.apply(queue("team-b", lendingLimit="3"))
    for name in ("team-a", "team-b"):
        local_queue = {"metadata": {"name": name, "namespace": "lab"}, "spec": {"clusterQueue": name}}
        ground.api.apply({"apiVersion": KUEUE, "kind": "LocalQueue", **local_queue})
    ground.api.apply(job("first", 1, 5, "team-a", "JobSet"))
    ground.until_well("jobset/first")
    for name, gpus, cause in (("waits", 4, "waits-for-quota"), ("never", 8, "never-fits")):
        ground.api.apply(job(name, gpus, 1, "team-a"))
        found = ground.until_caused(f"job/{name}", cause)
        assert found.cause is not None
        message = until(partial(_message_of, ground, name), PATIENCE)
        if name == "waits":
            assert "2 more needed" in message
            assert (
                "2 more nvidia.com/gpu needed in ClusterQueue team-a; used by JobSet lab/first (5)" in found.cause.says
            )
            assert found.cause.fault is Fault.NOBODY
        else:
            assert "maximum capacity (7)" in message
            assert "can have 7 at most (4 of its own and 3 to borrow in cohort ml)" in found.cause.says


def _message_of(ground: Ground, name: str) -> str:
    found = ground.why(f"job/{name}")
    return (
        "".join(link.says for link in found.chain if "needed" in link.says or "maximum" in link.says) if found else ""
    )


def test_a_pod_that_no_node_takes(ground: Ground) -> None:
    ground.api.apply(job("greedy", 9))
    found = ground.until_caused("job/greedy", "unschedulable").cause
    assert found is not None
    assert "it asks for 9 nvidia.com/gpu, and no node it may use has more than 8" in found.says
    bare = job("bare", 1)
    del bare["spec"]["template"]["spec"]["tolerations"]
    ground.api.apply(bare)
    found = ground.until_caused("job/bare", "unschedulable").cause
    assert found is not None
    assert "it does not tolerate kwok.x-k8s.io/node=fake:NoSchedule" in found.says


def test_a_container_that_is_started_again_in_its_pod(ground: Ground) -> None:
    eaten = job("onfail", 0, 1, kind="JobSet")
    template = eaten["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    template["metadata"] = {"annotations": {"batchlab/fail": "true"}}
    template["spec"]["restartPolicy"] = "OnFailure"
    ground.api.apply(eaten)
    ground.until_caused("jobset/onfail", "failure-eaten-by-restart-policy")


def test_a_webhook_that_does_not_answer_is_ours(ground: Ground) -> None:
    hooks = (ground.api.get(*HOOKS) or {})["webhooks"]
    elsewhere = deepcopy(hooks)
    for hook in elsewhere:
        if hook["name"] == "mpod.kb.io":
            hook["clientConfig"]["url"] = hook["clientConfig"]["url"].replace(":9443/", ":9442/")
    ground.api.merge(*HOOKS, {"webhooks": elsewhere})
    try:
        ground.api.apply(job("unhooked", 0, 1, kind="JobSet"))
        found = ground.until_caused("jobset/unhooked", "webhook-not-answering").cause
    finally:
        ground.api.merge(*HOOKS, {"webhooks": hooks})
    assert found is not None
    assert found.fault is Fault.ENVIRONMENT
    assert "mpod.kb.io" in found.says
    ground.until_caused("jobset/unhooked", "no-queue-label")


def test_a_group_is_recreated_unless_its_pod_was_deleted_by_force(trials: Ground) -> None:
    """The controller loses that race once in a few times only, so it is run until it does."""

    def uids() -> dict[str, str]:
        pods = trials.api.list("v1", "Pod", "groups")
        whole = len(pods) == 6 and all("deletionTimestamp" not in pod["metadata"] for pod in pods)
        running = whole and all(pod["status"].get("phase") == "Running" for pod in pods)
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods} if running else {}

    def replaced(name: str, before: dict[str, str]) -> bool:
        now = uids()
        return bool(now) and now[name] != before[name]

    trials.until_well("lws/serve", "groups")
    before = until(uids, PATIENCE)
    trials.api.delete("v1", "Pod", "serve-1-2", "groups")
    until(lambda: replaced("serve-1", before), PATIENCE, "the group to come back")
    assert trials.until_well("lws/serve", "groups").cause is None

    def forced() -> bool:
        before = until(uids, PATIENCE)
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        trials.api.call("DELETE", "/api/v1/namespaces/groups/pods/serve-1-2", options)
        until(lambda: replaced("serve-1-2", before), PATIENCE, "the pod to come back")

        def settled() -> str:
            """Either the group is recreated, or long after it is not."""
            if replaced("serve-1", before):
                return "recreated"
            found = trials.why("lws/serve", "groups")
            return found.cause.id if found and found.cause else ""

        return bool(until(settled, PATIENCE) == "forced-delete")

    assert any(forced() for _try in range(60))
    found = trials.why("lws/serve", "groups")
    assert found is not None
    assert found.cause is not None
    assert found.cause.where == ("Pod groups/serve-1-2", "Pod groups/serve-1")


# -- as a learner asks --------------------------------------------------------------------------------


def test_the_command_answers_on_the_host_and_in_the_shell(trials: Ground) -> None:
    trials.until_caused("job/noqueue", "local-queue-missing")
    ran = trials.grader("why", "job/noqueue", LAB)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\n why      there is no LocalQueue nosuch in namespace lab" in ran.stdout
    line = ["grader", "why", "job/noqueue", "--json"]
    desk = local.desk_command(trials.home, line, {"LANG": "C.UTF-8", "TERM": "dumb"})
    inside = subprocess.run(desk, capture_output=True, text=True, check=False, timeout=120)
    assert inside.returncode == 0, inside.stderr
    document = json.loads(inside.stdout)
    assert (document["schema"], document["cause"]["id"]) == ("batchlab/why/v1", "local-queue-missing")
    missing = trials.grader("why", "lws/serve", LAB)
    assert missing.returncode == 2
    assert "grader why leaderworkerset/serve -n groups" in missing.stderr


def test_a_check_that_fails_says_why(trials: Ground) -> None:
    trials.until_caused("job/big", "never-fits")
    checks = json.loads(trials.grader("check", LAB, "--json").stdout)["steps"][0]["checks"]
    assert [check["state"] for check in checks] == ["failed", "failed"]
    for check in checks:
        assert check["finding"]["why"].startswith("Job lab/big can never be admitted")


@needs_root
def test_an_image_that_is_not_on_the_node(machine: Machine, tmp_path: Path) -> None:
    container = {"name": "c", "image": "nosuch:1", "imagePullPolicy": "IfNotPresent"}
    metadata = {"name": "imageless", "namespace": "team-a"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    machine.api.apply(pod)

    def cause() -> Any:
        reader = machine.api_as("grader.kubeconfig")
        world = World(
            cluster=reader,
            history=RecordedHistory(),
            work=WorkFolder(tmp_path),
            namespace="team-a",
            lab_folder=tmp_path,
            checks={},
        )
        found = diagnose(world, "Pod", "imageless")
        return found.cause if found else None

    found = until(cause, PATIENCE, "the image to be missing")
    machine.api.delete("v1", "Pod", "imageless", "team-a")
    assert found.id == "image-missing"
    assert "no image nosuch:1" in found.says
    assert "busybox:stable" in found.says
