"""`grader reset` on the real thing: the lab begins again, whatever was done to it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import local
from cluster.machine import Layout
from cluster.spec import GPU
from grader.cli.shell import desk_environment
from grader.lab.catalogue import load_lab
from grader.session.lifecycle import reset_session, start_session, stop_session
from grader.session.places import session_home, work_folder
from tests.cluster.conftest import SandboxApi
from tests.messes import MESSES

LAB = "lab-lws"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, binaries: Path) -> Iterator[Path]:
    """The session of a lab that runs, after a cold start that kept its snapshot."""
    if os.geteuid() != 0:
        pytest.skip("a real node needs root")
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("resets")
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("BATCHLAB_BIN_DIR", str(binaries))
        session_home(LAB).parent.mkdir(parents=True)
        try:
            start_session(load_lab(LAB), on_event=lambda _event: None)
            yield session_home(LAB)
        finally:
            stop_session(LAB, on_event=lambda _event: None)


def at_the_desk(home: Path, script: str) -> subprocess.CompletedProcess[str]:
    line = local.desk_command(home, ["bash", "-c", script], desk_environment(LAB))
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def api(home: Path) -> SandboxApi:
    """As the learner of the machine that runs now."""
    return SandboxApi.of(home / "kubeconfig", local.status(home).init_pid)


@pytest.mark.parametrize("mess", MESSES)
def test_a_reset_copes_with(home: Path, mess: str) -> None:
    done = at_the_desk(home, MESSES[mess])
    assert done.returncode == 0, done.stderr
    (work_folder(home) / "names.txt").write_text(mess)
    before = api(home).get("v1", "Namespace", "kube-system") if mess != "nobody may do anything" else None

    reset = reset_session(load_lab(LAB), on_event=lambda _event: None)

    assert reset.kept_work is not None
    assert (reset.kept_work / "names.txt").read_text() == mess
    assert list(work_folder(home).iterdir()) == []
    assert_untouched(home)
    after = api(home).get("v1", "Namespace", "kube-system")
    assert after is not None
    assert before is None or before["metadata"]["uid"] != after["metadata"]["uid"]
    assert Path("/etc/passwd").stat().st_size > 0


def assert_untouched(home: Path) -> None:
    """What a learner finds: the lab's nodes, webhooks that answer, and none of what was there."""
    now = api(home)
    nodes = {node["metadata"]["name"]: node["status"]["allocatable"][GPU] for node in now.list("v1", "Node")}
    assert nodes == {"lab": "4", "gpu-a": "4", "gpu-b": "4"}
    namespaces = {each["metadata"]["name"]: each["status"]["phase"] for each in now.list("v1", "Namespace")}
    assert set(namespaces.values()) == {"Active"}
    assert "stuck" not in namespaces
    assert now.list("v1", "Pod") == []
    assert now.list("v1", "ResourceQuota") == []
    hooks = now.list("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
    assert [hook["metadata"]["name"] for hook in hooks] == ["lws-validating-webhook-configuration"]
    bad = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "probe", "namespace": load_lab(LAB).namespace},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {
                "size": 2,
                "workerTemplate": {"spec": {"containers": [{"name": "c", "image": "busybox:stable"}]}},
            },
        },
    }
    assert now.create(bad, dry_run=True)["spec"]["startupPolicy"] == "LeaderCreated"  # by its webhook
    assert at_the_desk(home, "test -s /etc/passwd && kubectl get nodes").returncode == 0
    assert Layout(home).events.read_text().count('"datastore"') > 0  # a warm start
