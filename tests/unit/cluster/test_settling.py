"""What is given back after a start."""

from __future__ import annotations

from typing import cast

from cluster.api import Api
from cluster.errors import ApiUnavailable
from cluster.supervisor.settling import settle


class Asked:
    """An API that remembers in which order it was asked and waited for."""

    def __init__(self, *, there: bool = True) -> None:
        self.there = there
        self.told: list[str] = []

    def fetch(self, path: str) -> bytes:
        self.told.append(path)
        if not self.there:
            raise ApiUnavailable("refused")
        return b""

    def pause(self, _seconds: float) -> None:
        self.told.append("pause")


COLLECTION = "/debug/pprof/heap?gc=1"


def test_the_api_server_collects_twice_but_not_at_once() -> None:
    asked = Asked()
    settle(cast("Api", asked), asked.pause)
    assert asked.told == ["pause", COLLECTION, COLLECTION]


def test_an_api_server_that_does_not_answer_is_left_alone() -> None:
    asked = Asked(there=False)
    settle(cast("Api", asked), asked.pause)
    assert asked.told == ["pause", COLLECTION]
