"""why: who is asked, what is printed, what is said where there is nothing of that name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.machine import ComponentStatus, MachineStatus
from grader import check_session
from grader.checks.objects import Object
from grader.checks.recorded import Trace
from grader.checks.world import World
from grader.cli import common
from grader.history import synced
from grader.history.synced import Synced
from grader.lab.model import Lab
from grader.schemas import schema_files
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader


def test_the_very_command_line_goes_to_the_examiner(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, list[str]]] = []

    def converse(path: Path, argv: list[str]) -> int:
        asked.append((path, argv))
        return 0

    monkeypatch.setattr(common, "converse", converse)
    assert grader("why", "job/train", "lab-toy", "-n", "other", "--json").code == 0
    ((path, argv),) = asked
    assert path.is_relative_to(session_home("lab-toy"))
    assert argv == ["--lang", "en", "why", "job/train", "lab-toy", "-n", "other", "--json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train"], "grader: train is not KIND/NAME\n        for example: grader why job/NAME\n"),
        (["jbo/train"], "grader: unknown kind jbo\n        did you mean job?\n"),
    ],
)
def test_what_names_nothing_is_refused_before_anybody_is_asked(grader: Grader, words: list[str], said: str) -> None:
    ran = grader("why", *words)
    assert (ran.code, ran.err) == (2, said)


# -- in the examiner ----------------------------------------------------------------------------------


@pytest.fixture
def trace(inside: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """The cluster of a session of the toy lab."""
    trace = Trace()

    @contextmanager
    def connect(home: Path, lab: Lab) -> Iterator[Callable[[], World]]:
        assert home == inside
        yield lambda: trace.world(home / "work", namespace=lab.namespace)

    monkeypatch.setattr(check_session, "connect", connect)
    monkeypatch.setattr(synced, "wait_synced", lambda _socket, _seconds: Synced(synced=True, at=trace.now))
    for name in ("toys", "team-b"):
        trace.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return trace


def pod(name: str, namespace: str = "toys", phase: str = "Running") -> Object:
    ready = "True" if phase == "Running" else "False"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"nodeName": "gpu-a"},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]},
    }


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let programs of the lab's machine be down."""

    def rest(*names: str) -> None:
        components = tuple(
            ComponentStatus(name=name, state="restarting" if name in names else "running", pid=1, restarts=1, since=1)
            for name in ("kwok", "kube-scheduler", "recorder")
        )
        monkeypatch.setattr(local, "status", lambda _home: MachineStatus(state="running", components=components))

    rest()
    return rest


def test_what_is_well_is_said_to_be(grader: Grader, trace: Trace, resting: Callable[..., None]) -> None:
    trace.put(pod("hello"))
    ran = grader("why", "pod/hello")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == " Pod toys/hello\n    Running, gpu-a\n\n nothing is wrong: Running, gpu-a\n"


def test_the_document_is_as_its_schema_says(grader: Grader, trace: Trace, resting: Callable[..., None]) -> None:
    trace.put(pod("hello"))
    document = json.loads(grader("why", "po/hello", "--json").out)
    assert document == {
        "schema": "batchlab/why/v1",
        "lab": "lab-toy",
        "language": "en",
        "of": "Pod toys/hello",
        "state": "Running, gpu-a",
        "healthy": True,
        "chain": [{"object": "Pod toys/hello", "says": "Running, gpu-a"}],
        "cause": None,
    }
    assert set(document) == set(json.loads(schema_files()["why-v1.json"])["properties"])


def test_another_namespace_can_be_meant(grader: Grader, trace: Trace, resting: Callable[..., None]) -> None:
    trace.put(pod("hello", "team-b"))
    ran = grader("why", "pod/hello")
    assert ran.code == 2
    assert ran.err == ("grader: there is no Pod 'hello' in namespace toys\n        grader why pod/hello -n team-b\n")
    assert "Pod team-b/hello" in grader("why", "pod/hello", "-n", "team-b").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pod/helo"], "there is no Pod 'helo' in namespace toys; did you mean 'hello'?"),
        (["job/x"], "there is no Job 'x' in namespace toys"),
        (["cq/x"], "there is no ClusterQueue 'x'"),
        (["pod/hello", "-n", "tems-b"], "no namespace 'tems-b'; did you mean 'team-b'?"),
        (["pod/hello", "-n", "{odd}"], "no namespace '{odd}'; there are: team-b, toys"),
        (["pod/{hello}"], "there is no Pod '{hello}' in namespace toys; did you mean 'hello'?"),
    ],
)
def test_what_is_not_there_is_named(
    grader: Grader, trace: Trace, resting: Callable[..., None], words: list[str], said: str
) -> None:
    trace.put(pod("hello"))
    ran = grader("why", *words)
    assert ran.code == 2
    assert ran.err.startswith(f"grader: {said}")


def test_a_program_that_does_not_run_is_our_fault(grader: Grader, trace: Trace, resting: Callable[..., None]) -> None:
    trace.put(pod("hello", phase="Pending"))
    assert "no well-known cause: Pending, gpu-a" in grader("why", "pod/hello").out
    resting("kwok", "recorder")
    ran = grader("why", "pod/hello")
    assert "our fault, not yours: programs of this lab do not run just now: kwok;" in ran.out
    assert json.loads(grader("why", "pod/hello", "--json").out)["cause"]["fault"] == "environment"
    assert "do not run just now: kwok;" in grader("why", "pod/other").err


def test_a_machine_that_says_nothing_of_itself_is_no_cause(
    grader: Grader, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(_home: Path) -> MachineStatus:
        raise EnvironmentProblem("silent")

    monkeypatch.setattr(local, "status", silent)
    trace.put(pod("hello", phase="Pending"))
    assert "no well-known cause" in grader("why", "pod/hello").out


def test_kinds_are_completed(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_GRADER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "grader why job")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert grader().out == "plain,job/\nplain,jobset/\n"
