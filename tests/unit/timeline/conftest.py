"""What the tests of timelines share: real histories, one time zone, and pods that are played."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from grader.history.model import Change, Gap
from grader.timeline.build import TimelineBuilder
from grader.timeline.model import Group, Row, Timeline
from tests import histories

T0 = 1_764_500_000.0
"""When played histories begin: 10:53:20 UTC."""


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local times are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def lws() -> Timeline:
    """lab-lws on a real cluster, after its step 5: a container of group 0 was made to fail."""
    return timeline_of(histories.load("lab-lws"), "infer")


def timeline_of(
    changes: list[Change], namespace: str = "lab", *, live: bool = False, gaps: tuple[Gap, ...] = (), more: float = 0.0
) -> Timeline:
    builder = TimelineBuilder(namespace)
    builder.add(changes)
    return builder.timeline(changes[-1].at + more if changes else T0, live=live, gaps=gaps)


def row(timeline: Timeline, label: str) -> Row:
    (found,) = [each for _group, each in timeline.rows if each.label == label]
    return found


def group(timeline: Timeline, name: str, part: str = "") -> Group:
    (found,) = [each for each in timeline.groups if (each.name, each.part) == (name, part)]
    return found


class Play:
    """Pods that come and go: each call is one change, at `seconds` after T0."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._versions = 0

    def pod(self, seconds: float, name: str, verb: Any = "MODIFIED", *, uid: str = "", **more: Any) -> None:
        """`more`: phase, node, labels, doomed, statuses, conditions, owners, created (seconds)."""
        meta: dict[str, Any] = {"name": name, "namespace": "lab", "uid": uid or f"uid-{name}"}
        meta |= {"labels": more.get("labels", {}), "ownerReferences": more.get("owners", [])}
        if "created" in more:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(T0 + more["created"]))
            meta["creationTimestamp"] = stamp
        if more.get("doomed"):
            meta["deletionTimestamp"] = "2025-11-30T10:54:00Z"
        status = {"phase": more.get("phase", "Pending"), "containerStatuses": more.get("statuses", [])}
        status["conditions"] = more.get("conditions", [])
        obj = {"metadata": meta, "spec": {"nodeName": more.get("node")}, "status": status}
        self.change(seconds, "Pod", verb, obj)

    def change(self, seconds: float, kind: str, verb: Any, obj: dict[str, Any], api_version: str = "v1") -> None:
        self._versions += 1
        meta = obj["metadata"]
        self.changes.append(
            Change(
                seq=self._versions,
                at=T0 + seconds,
                verb=verb,
                api_version=api_version,
                kind=kind,
                namespace=meta.get("namespace", ""),
                name=meta["name"],
                uid=meta["uid"],
                resource_version=str(self._versions),
                object={"apiVersion": api_version, "kind": kind, **obj},
            )
        )


@pytest.fixture
def play() -> Play:
    return Play()
