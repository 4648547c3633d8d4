"""What the tests of boards share: one time zone, boards of real labs, and objects that are made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from grader.board.build import build_board
from grader.board.model import Board
from grader.board.store import Store
from grader.history.model import Change
from tests import histories


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local times are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Cluster:
    """Objects that come and go."""

    def __init__(self) -> None:
        self.store = Store()
        self._versions = 0

    def put(self, kind: str, name: str, *, api_version: str = "v1", verb: Any = "MODIFIED", **more: Any) -> None:
        """`more`: namespace, labels, owners, meta, and the object's own parts (spec, status, …)."""
        self._versions += 1
        space = more.pop("namespace", "lab")
        meta = {"name": name, "namespace": space, "uid": more.pop("uid", f"{kind}-{name}")}
        meta |= {"labels": more.pop("labels", {}), "ownerReferences": more.pop("owners", [])}
        meta |= more.pop("meta", {})
        obj = {"apiVersion": api_version, "kind": kind, "metadata": meta, **more}
        self.store.apply(
            [
                Change(
                    at=1.0,
                    verb=verb,
                    api_version=api_version,
                    kind=kind,
                    namespace=space,
                    name=name,
                    uid=meta["uid"],
                    resource_version=str(self._versions),
                    object=obj,
                )
            ]
        )

    def pod(self, name: str, phase: str = "Running", *, ready: bool = True, **more: Any) -> None:
        """A pod of one container; `more` also: node, gpus, conditions, statuses."""
        gpus = {"limits": {"nvidia.com/gpu": str(more.pop("gpus", 1))}}
        conditions = more.pop("conditions", [{"type": "Ready", "status": "True" if ready else "False"}])
        spec = {"nodeName": more.pop("node", "n1"), "containers": [{"name": "c", "resources": gpus}]}
        status = {"phase": phase, "conditions": conditions, "containerStatuses": more.pop("statuses", [])}
        self.put("Pod", name, spec=spec, status=status, **more)

    def node(self, name: str, gpus: int = 4, *, ready: bool = True, cordoned: bool = False, **more: Any) -> None:
        status = {
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
        }
        self.put("Node", name, namespace="", spec={"unschedulable": cordoned}, status=status, **more)

    @property
    def board(self) -> Board:
        return build_board(self.store, "lab")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def recorded(name: str, namespace: str) -> Board:
    """The board at the end of a kept history."""
    store = Store()
    store.apply(histories.load(name))
    return build_board(store, namespace)
