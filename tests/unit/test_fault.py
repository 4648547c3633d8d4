"""Failures and completions on purpose: which pods, what becomes of them, what is refused."""

from __future__ import annotations

from typing import Any, cast

import pytest

from cluster.api import Api
from cluster.errors import UsageProblem
from grader.fault import find_pods, steer


class Cluster:
    """As much of an API as steering pods takes."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.pods = {(pod["metadata"]["namespace"], pod["metadata"]["name"]): pod for pod in pods}
        self.patches: dict[str, dict[str, str]] = {}

    def get(self, _version: str, _kind: str, name: str, namespace: str) -> dict[str, Any] | None:
        return self.pods.get((namespace, name))

    def list(
        self, _version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[dict[str, Any]]:
        if kind == "Node":
            assert labels == "type=kwok"
            return [{"metadata": {"name": "gpu-a"}}]
        key, _, value = labels.partition("=")
        name = fields.removeprefix("metadata.name=")
        return [
            one
            for (where, called), one in self.pods.items()
            if namespace in (None, where)
            and (not labels or one["metadata"].get("labels", {}).get(key) == value)
            and (not fields or called == name)
        ]

    def merge(self, _version: str, _kind: str, name: str, patch: dict[str, Any], *, namespace: str) -> None:
        self.patches[f"{namespace}/{name}"] = patch["metadata"]["annotations"]


def pod(
    name: str, *, node: str | None = "gpu-a", phase: str = "Running", restart: str = "Never", **meta: Any
) -> dict[str, Any]:
    spec = {"restartPolicy": restart, **({"nodeName": node} if node else {})}
    metadata = {"name": name, "namespace": "team-a", "labels": {"app": "train"}, **meta}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def api(*pods: dict[str, Any]) -> tuple[Api, Cluster]:
    cluster = Cluster(*pods)
    return cast("Api", cluster), cluster


@pytest.mark.parametrize(
    ("fault", "restart", "becomes", "annotation"),
    [
        ("fail", "Never", "Failed", {"batchlab/fail": "42"}),
        ("fail", "OnFailure", "Restarted", {"batchlab/fail": "42"}),
        ("fail", "Always", "Restarted", {"batchlab/fail": "42"}),
        ("complete", "Never", "Succeeded", {"batchlab/complete": "true"}),
        ("complete", "OnFailure", "Succeeded", {"batchlab/complete": "true"}),
        ("complete", "Always", "Restarted", {"batchlab/complete": "true"}),
    ],
)
def test_what_becomes_of_a_pod_depends_on_its_restart_policy(
    fault: Any, restart: str, becomes: str, annotation: dict[str, str]
) -> None:
    port, cluster = api(pod("a", restart=restart))
    (steered,) = steer(port, find_pods(port, "team-a", ("pod/a",), ""), fault, 42)
    assert (steered.pod, steered.becomes) == ("team-a/a", becomes)
    assert steered.exit_code == (42 if fault == "fail" else 0)
    assert cluster.patches == {"team-a/a": annotation}


def test_pods_of_another_namespace_are_left_alone() -> None:
    port, cluster = api(pod("a"), pod("a", namespace="team-b"), pod("b", namespace="team-b"))
    steer(port, find_pods(port, "team-b", ("a",), "app=train"), "complete")
    assert cluster.patches == {"team-b/a": {"batchlab/complete": "true"}, "team-b/b": {"batchlab/complete": "true"}}


def test_pods_are_found_by_name_and_selector_once_each() -> None:
    port, _cluster = api(pod("a"), pod("b"), pod("c", labels={"app": "other"}))
    found = find_pods(port, "team-a", ("a", "pod/c"), "app=train")
    assert [one["metadata"]["name"] for one in found] == ["a", "c", "b"]


def test_a_selector_leaves_out_what_has_ended() -> None:
    gone = pod("c", deletionTimestamp="2026-01-01T00:00:00Z")
    port, cluster = api(pod("a", phase="Failed"), pod("b"), gone)
    steer(port, find_pods(port, "team-a", (), "app=train"), "complete")
    assert set(cluster.patches) == {"team-a/b"}
    port, cluster = api(pod("a", phase="Failed"))
    with pytest.raises(UsageProblem, match="pod a is Failed, not Running"):
        steer(port, find_pods(port, "team-a", (), "app=train"), "complete")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (pod("x", node=None), "pod x is on no node yet"),
        (pod("x", node="lab"), "pod x runs on the real node lab"),
        (pod("x", phase="Pending"), "pod x is Pending, not Running"),
        (pod("x", deletionTimestamp="2026-01-01T00:00:00Z"), "pod x is being deleted, not Running"),
    ],
)
def test_one_pod_that_cannot_be_steered_leaves_all_alone(broken: dict[str, Any], message: str) -> None:
    port, cluster = api(pod("a"), broken)
    with pytest.raises(UsageProblem, match=message):
        steer(port, find_pods(port, "team-a", ("a", "x"), ""), "fail")
    assert cluster.patches == {}


@pytest.mark.parametrize(
    ("names", "selector", "message"),
    [
        (("job/a",), "", "job/a: only pods can be told to end"),
        (("ghost",), "", "no pod ghost in the namespace team-a"),
        ((), "app=ghost", "no pod in the namespace team-a has app=ghost"),
    ],
)
def test_what_is_not_there_is_named(names: tuple[str, ...], selector: str, message: str) -> None:
    port, _cluster = api(pod("a"))
    with pytest.raises(UsageProblem, match=message):
        find_pods(port, "team-a", names, selector)


@pytest.mark.parametrize(("names", "selector"), [(("a",), ""), ((), "app=train")])
def test_where_the_pods_are_instead_is_said(names: tuple[str, ...], selector: str) -> None:
    port, _cluster = api(pod("a", namespace="team-b"), pod("a", namespace="old"), pod("c", labels={}))
    with pytest.raises(UsageProblem) as refused:
        find_pods(port, "team-a", names, selector)
    assert refused.value.advice == "it is in another namespace; look there with -n old, -n team-b"
    with pytest.raises(UsageProblem) as refused:
        find_pods(port, "team-a", ("ghost",), "")
    assert refused.value.advice == ""
