"""fail and complete: who is asked, in which namespace pods are told to end, what is said where they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cluster.api import Api
from cluster.errors import ApiUnavailable
from grader.cli import common
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader


class Cluster:
    """As much of an API as the two commands take: two namespaces with a pod `train-0` each."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, dict[str, str]]] = []

    def get(self, _version: str, _kind: str, name: str, namespace: str) -> dict[str, Any] | None:
        return self._pod(namespace) if name == "train-0" else None

    def list(
        self, _version: str, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[dict[str, Any]]:
        match kind:
            case "Namespace":
                return [{"metadata": {"name": name}} for name in ("toys", "team-b", "team-a")]
            case "Node":
                return [{"metadata": {"name": "gpu-a"}}]
        known = labels in ("", "app=train") and fields in ("", "metadata.name=train-0")
        return [self._pod(one) for one in ("toys", "team-b") if known and namespace in (None, one)]

    def merge(self, _version: str, _kind: str, name: str, patch: dict[str, Any], *, namespace: str) -> None:
        self.told.append((namespace, name, patch["metadata"]["annotations"]))

    @staticmethod
    def _pod(namespace: str) -> dict[str, Any]:
        return {
            "metadata": {"name": "train-0", "namespace": namespace},
            "spec": {"restartPolicy": "Never", "nodeName": "gpu-a"},
            "status": {"phase": "Running"},
        }


@pytest.fixture
def cluster(inside: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """The cluster of a session of the toy lab, whose own namespace is `toys`."""
    cluster = Cluster()

    def from_kubeconfig(path: Path) -> Cluster:
        assert path.is_relative_to(inside)
        return cluster

    monkeypatch.setattr(Api, "from_kubeconfig", from_kubeconfig)
    return cluster


@pytest.mark.parametrize("command", ["fail", "complete"])
def test_the_very_command_line_goes_to_the_examiner(
    grader: Grader, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    asked: list[tuple[Path, list[str]]] = []

    def converse(path: Path, argv: list[str]) -> int:
        asked.append((path, argv))
        return 0

    monkeypatch.setattr(common, "converse", converse)
    assert grader(command, "-l", "app=train", "-n", "team-b", "--lab", "lab-toy").code == 0
    ((path, argv),) = asked
    assert path.is_relative_to(session_home("lab-toy"))
    assert argv == ["--lang", "en", command, "-l", "app=train", "-n", "team-b", "--lab", "lab-toy"]


@pytest.mark.parametrize(
    ("words", "namespace", "annotations", "said"),
    [
        (
            ["complete", "train-0"],
            "toys",
            {"batchlab/complete": "true"},
            "pod toys/train-0: its containers end with exit code 0; the pod is Succeeded\n",
        ),
        (
            ["complete", "-l", "app=train", "-n", "team-b"],
            "team-b",
            {"batchlab/complete": "true"},
            "pod team-b/train-0: its containers end with exit code 0; the pod is Succeeded\n",
        ),
        (
            ["fail", "pod/train-0", "--namespace", "team-b", "--exit-code", "42"],
            "team-b",
            {"batchlab/fail": "42"},
            "pod team-b/train-0: its containers end with exit code 42; the pod is Failed\n",
        ),
    ],
)
def test_pods_of_the_labs_own_or_the_given_namespace_are_told(
    grader: Grader, cluster: Cluster, words: list[str], namespace: str, annotations: dict[str, str], said: str
) -> None:
    ran = grader(*words)
    assert (ran.code, ran.out, ran.err) == (0, said, "")
    assert cluster.told == [(namespace, "train-0", annotations)]


def test_the_document_names_the_namespace_of_each_pod(grader: Grader, cluster: Cluster) -> None:
    document = json.loads(grader("fail", "train-0", "-n", "team-b", "--json").out)
    assert document["pods"] == [{"pod": "team-b/train-0", "becomes": "Failed", "exit_code": 1}]
    assert len(cluster.told) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["complete", "train-0", "-n", "teamb"], "grader: no namespace 'teamb'; did you mean 'team-b'?\n"),
        (
            ["complete", "-l", "app=train", "-n", "team-a"],
            (
                "grader: no pod in the namespace team-a has app=train\n"
                "        it is in another namespace; look there with -n team-b, -n toys\n"
            ),
        ),
        (["fail", "ghost", "-n", "team-b"], "grader: no pod ghost in the namespace team-b\n"),
        (["fail", "-n", "team-b"], "grader: say which pods: pod/NAME, or -l with a label selector\n"),
    ],
)
def test_what_is_not_there_is_refused(grader: Grader, cluster: Cluster, words: list[str], said: str) -> None:
    ran = grader(*words)
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert cluster.told == []


def _complete(grader: Grader, monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    monkeypatch.setenv("_GRADER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    return grader().out.split()


@pytest.mark.parametrize("command", ["fail", "complete", "why"])
def test_the_option_and_the_namespaces_are_completed_in_a_labs_shell(
    grader: Grader, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    assert _complete(grader, monkeypatch, f"grader {command} --na") == ["plain,--namespace"]
    assert _complete(grader, monkeypatch, f"grader {command} -n team") == ["plain,team-a", "plain,team-b"]

    def silent(*_args: object, **_options: object) -> list[dict[str, Any]]:
        raise ApiUnavailable("away")

    monkeypatch.setattr(cluster, "list", silent)
    assert _complete(grader, monkeypatch, f"grader {command} -n team") == []


def test_on_the_host_no_namespace_is_completed(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _complete(grader, monkeypatch, "grader fail -n team") == []
