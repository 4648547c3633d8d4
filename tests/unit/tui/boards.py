"""Boards for tests: feeds that answer at once, from kept histories or from many pods that are made up."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from cluster.errors import Problem
from grader.board.build import build_board
from grader.board.describe import describe
from grader.board.feed import Look, Trust
from grader.board.model import Ref
from grader.board.store import Store
from grader.history.model import Change
from tests import histories

AT = 1_796_046_700.0
"""A moment soon after the kept histories: 13:51:40 UTC."""


class PretendedFeed:
    """A `BoardFeed` in which a test makes things happen."""

    def __init__(self, changes: list[Change] | None = None, namespace: str = "infer") -> None:
        self.store = Store()
        self.namespace = namespace
        self.trust = Trust.LIVE
        self.trouble: Problem | None = None
        self.reason = " Pod infer/llm-0\n    Running\n\n nothing is wrong: Running\n"
        self.answered = threading.Event()
        """`why` answers once it is set."""
        self.answered.set()
        self.looks = 0
        self.closed = False
        self.store.apply(changes or [])

    def look(self) -> Look:
        self.looks += 1
        if self.trouble is not None:
            raise self.trouble
        board = build_board(self.store, self.namespace)
        return Look(board=board, trust=self.trust, since=AT, until=AT)

    def describe(self, ref: Ref) -> str:
        return describe(self.store, ref)

    def why(self, ref: Ref) -> str:
        self.answered.wait(10)
        if self.trouble is not None:
            raise self.trouble
        return f" {ref.kind}\n{self.reason}"

    def close(self) -> None:
        self.closed = True


def recorded(name: str, namespace: str) -> PretendedFeed:
    """The board at the end of a kept history."""
    return PretendedFeed(histories.load(name), namespace)


def many(pods: int, nodes: int = 20) -> PretendedFeed:
    """A cluster full of pods of one Job."""
    feed = PretendedFeed(namespace="lab")
    feed.store.apply(_node(number) for number in range(nodes))
    feed.store.apply(pod(number, nodes) for number in range(pods))
    return feed


def pod(number: int, nodes: int = 20, version: int = 1, **status: Any) -> Change:
    """One of many pods, in its `version`."""
    meta: dict[str, Any] = {"name": f"big-{number:03d}", "namespace": "lab", "uid": f"pod-{number}"}
    meta |= {"labels": {"batch.kubernetes.io/job-name": "big"}, "creationTimestamp": "2026-11-30T13:50:00Z"}
    ready = {"type": "Ready", "status": "True"}
    spec = {"nodeName": f"node-{number % nodes:02d}", "containers": [{"name": "c", "resources": _GPU}]}
    return _change(
        "Pod", meta, {"spec": spec, "status": {"phase": "Running", "conditions": [ready], **status}}, version
    )


_GPU = {"limits": {"nvidia.com/gpu": "1"}}


def _node(number: int) -> Change:
    status = {"allocatable": {"nvidia.com/gpu": "16"}, "conditions": [{"type": "Ready", "status": "True"}]}
    meta: dict[str, Any] = {"name": f"node-{number:02d}", "uid": f"node-{number}", "labels": {"type": "kwok"}}
    return _change("Node", meta, {"spec": {}, "status": status})


def _change(kind: str, meta: dict[str, Any], more: dict[str, Any], version: int = 1) -> Change:
    return Change(
        at=AT,
        verb="MODIFIED" if version > 1 else "ADDED",
        api_version="v1",
        kind=kind,
        namespace=meta.get("namespace", ""),
        name=meta["name"],
        uid=meta["uid"],
        resource_version=str(version),
        object={"apiVersion": "v1", "kind": kind, "metadata": meta, **more},
    )


def deleted(change: Change) -> Change:
    """The end of what `change` is about."""
    return replace(change, verb="DELETED")
