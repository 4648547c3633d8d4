"""Hearing of changes without recording them: heartbeats, and definitions of kinds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from grader.history import replay
from grader.history.store import HistoryReader
from tests.unit.history.conftest import DEFINITION, LEASE, LWS, POD, eventually

if TYPE_CHECKING:
    import pytest

    from tests.unit.history.conftest import Lab


def test_heartbeats_are_heard_of_and_need_no_look(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Leases of a cluster in which nothing else happens would be a gap before long."""
    monkeypatch.setattr(replay, "LONGEST", 5)
    lab.cluster.serve(LEASE)
    lab.cluster.put(LEASE, "gpu-a")
    with lab.recording() as recorder:
        eventually(lambda: lab.cluster.watches(LEASE))
        for _beat in range(20):
            lab.cluster.put(LEASE, "gpu-a")
        last = lab.cluster.revision
        eventually(lambda: last in recorder._journal.heard)
        lab.cluster.hold(True)
        lab.cluster.put(POD, "brief")
        lab.cluster.delete(POD, "brief")
        lab.kill(recorder)
        lab.cluster.hold(False)
        lab.cluster.revive(forget=True)
        assert lab.story() == [("ADDED", "brief"), ("DELETED", "brief")]
        exact = [query for path, query in lab.cluster.requests if query.get("resourceVersionMatch") == "Exact"]
        assert exact
        assert all(int(query["resourceVersion"]) > last for query in exact)
        with HistoryReader(lab.database) as history:
            assert not list(history.changes("Lease")), "heard of, and not recorded"
    assert lab.gaps() == []


def test_where_listening_begins_nothing_counts_as_heard(lab: Lab) -> None:
    """It begins at the newest revision, which is anybody's: as heard it would hide a change from a replay."""
    lab.cluster.serve(LEASE)
    lab.cluster.other_writes(3)
    with lab.recording() as recorder:
        eventually(lambda: recorder._heartbeats.listening)
        assert lab.cluster.watches(LEASE) == [str(lab.cluster.revision)]
        beat = lab.cluster.put(LEASE, "gpu-a")
        eventually(lambda: int(beat["metadata"]["resourceVersion"]) in recorder._journal.heard)
        assert lab.cluster.revision - 1 not in recorder._journal.heard


def test_kinds_are_looked_for_once_a_definition_was_heard_of(lab: Lab) -> None:
    lab.cluster.serve(DEFINITION)
    with lab.recording(discover_seconds=0.01) as recorder:
        eventually(lambda: recorder._definitions.listening)
        recorder._definitions.heard_at = -1e9  # long ago
        eventually(lambda: recorder._between_discoveries(time.monotonic()) > 1)
        lab.cluster.serve(LWS)
        lab.cluster.put(DEFINITION, "leaderworkersets")
        lab.cluster.put(LWS, "llm")
        eventually(lambda: lab.cluster.watches(LWS))
        eventually(lambda: recorder._between_discoveries(time.monotonic()) == 0.01)
