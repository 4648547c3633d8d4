"""Keeping a real node's GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from cluster.api import Api
from cluster.errors import ApiUnavailable, WatchExpired
from cluster.spec import GPU, NodeSpec
from cluster.supervisor.gpus import keep_gpus

LAB = NodeSpec(name="lab", real=True, gpus=4)
Script = list[str | Exception]
"""What one watch tells: `gone` (somebody took the GPUs away), `news` (something else changed), or an error."""


class Over(Exception):
    """The script has come to its end."""


class Cluster:
    """One node, and the watches of a script, one after the other."""

    def __init__(self, *watches: Script, gpus: str = "4") -> None:
        self.gpus = gpus
        self.watches = list(watches)
        self.looks = 0
        self.fields: set[str] = set()

    def list_page(self, _version: str, _kind: str, *, fields: str) -> tuple[list[dict[str, Any]], str]:
        self.fields.add(fields)
        return [], "7"

    def watch(self, _version: str, _kind: str, version: str, *, fields: str) -> Iterator[tuple[str, dict[str, Any]]]:
        assert version == "7"
        self.fields.add(fields)
        if not self.watches:
            raise Over
        for event in self.watches.pop(0):
            if isinstance(event, Exception):
                raise event
            if event == "gone":
                self.gpus = "0"
            yield "BOOKMARK" if event == "bookmark" else "MODIFIED", {}

    def get(self, _version: str, _kind: str, _name: str) -> dict[str, Any]:
        self.looks += 1
        return {"status": {"capacity": {GPU: self.gpus}, "allocatable": {GPU: self.gpus}}}

    def merge(self, _version: str, _kind: str, _name: str, patch: dict[str, Any], *, subresource: str) -> None:
        assert subresource == "status"
        self.gpus = patch["status"]["capacity"][GPU]


def _given_again(cluster: Cluster) -> int:
    given: list[str] = []
    with pytest.raises(Over):
        keep_gpus(cast("Api", cluster), LAB, lambda: given.append(cluster.gpus), pause=lambda: None)
    assert set(given) <= {"4"}
    assert cluster.fields == {"metadata.name=lab"}
    return len(given)


def test_what_is_gone_before_the_watch_began_is_given_at_once() -> None:
    assert _given_again(Cluster(gpus="0")) == 1


def test_each_time_they_are_taken_away_they_are_given_again() -> None:
    assert _given_again(Cluster(["news", "gone", "news", "gone"])) == 2


def test_a_bookmark_is_no_reason_to_look() -> None:
    cluster = Cluster(["bookmark", "bookmark"])
    assert _given_again(cluster) == 0
    assert cluster.looks == 2  # once as each watch begins


@pytest.mark.parametrize("trouble", [ApiUnavailable("refused"), WatchExpired()])
def test_it_goes_on_after_the_api_server_went_away(trouble: Exception) -> None:
    assert _given_again(Cluster(["news", trouble], ["gone"])) == 1
