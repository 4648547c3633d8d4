"""Clusters as they were recorded on a real one, and diagnoses of them.

`tests/data/recorded/*.jsonl` hold one object a line, what nobody reads taken out: `trials` half a minute after
everything of `tests/data/trials` was applied, `queues` some minutes later with cohorts, exclusive groups, gated
pods and jobs that ask for too much, `webhook` a JobSet while JobSet's webhook for pods could not be reached,
`images` pods of a real node, `teams` a namespace with a ResourceQuota beside one with a queue.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.checks.objects import Object, meta
from grader.checks.recorded import RecordedCluster, RecordedHistory
from grader.checks.settling import instant
from grader.checks.work import WorkFolder
from grader.checks.world import World
from grader.diagnosis import Diagnosis, diagnose
from grader.diagnosis.names import parse_target

RECORDED = Path(__file__).resolve().parents[2] / "data" / "recorded"


class Recorded:
    """Objects that can be changed before they are looked at."""

    def __init__(self, objects: list[Object], work: Path) -> None:
        self.objects = objects
        self.work = work
        self.cluster = RecordedCluster()
        times = [instant(obj.get("lastTimestamp")) or 0.0 for obj in objects]
        self.now = max(times, default=0.0) or 1_796_040_000.0

    def find(self, kind: str, name: str) -> Object:
        """The object, to be changed."""
        return next(obj for obj in self.objects if obj["kind"] == kind and meta(obj)["name"].startswith(name))

    def change(self, kind: str, name: str, **parts: Any) -> None:
        """Parts of an object are replaced key by key; None takes a key away."""
        obj = self.find(kind, name)
        for part, values in parts.items():
            for key, value in values.items():
                obj.setdefault(part, {})[key] = value
                if value is None:
                    del obj[part][key]

    def drop(self, kind: str, name: str = "") -> None:
        """Objects of that kind whose name begins so are not there."""
        self.objects = [
            obj for obj in self.objects if obj["kind"] != kind or not str(meta(obj)["name"]).startswith(name)
        ]

    def world(self, namespace: str = "") -> World:
        """A fresh look."""
        self.cluster = RecordedCluster(copy.deepcopy(self.objects))
        own = next((str(meta(obj)["name"]) for obj in self.objects if obj["kind"] == "Namespace"), "lab")
        return World(
            cluster=self.cluster,
            history=RecordedHistory(),
            work=WorkFolder(self.work),
            namespace=namespace or own,
            lab_folder=self.work,
            checks={},
            now=datetime.fromtimestamp(self.now, UTC),
        )

    def why(self, target: str, namespace: str = "") -> Diagnosis:
        """The diagnosis of KIND/NAME, where NAME may be the beginning of a name."""
        kind, name = parse_target(target)
        found = diagnose(self.world(), kind, str(meta(self.find(kind, name))["name"]), namespace)
        assert found is not None, target
        return found


Load = Callable[[str], Recorded]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A recorded cluster by the name of its file."""

    def read(name: str) -> Recorded:
        lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return Recorded([json.loads(line) for line in lines], tmp_path)

    return read
