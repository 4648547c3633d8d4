"""The forms of `happened` on what a real cluster did.

The trace was recorded from LWS 0.8.0 on a real node: `llm` is applied, its leader llm-0 is deleted by hand,
/tmp/fail is made in llm-0-1, and VERSION=v2 is rolled out. It is abridged to the fields that lives are read
from. What a played trace would not show is in it: the hand deletion takes the leader twice, the first time in
the background, the second time by LWS in the foreground while the new leader still starts; the failed container
is reported ended a second before it is reported restarted; old workers outlive their leader.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from grader.checks import CheckSource
from grader.checks.happened import Happened
from grader.checks.happened.forms import Account
from grader.checks.recorded import RecordedChange, RecordedCluster, RecordedHistory
from grader.checks.work import WorkFolder
from grader.checks.world import World

TRACE = Path(__file__).parent / "traces" / "lws-0.8.0-real-node.jsonl"
START = 1_796_036_500
APPLIED, BY_HAND, FAILED, BACK, ROLLING, ROLLED = (START + after for after in (45, 56, 58.5, 65, 75.9, 90))

RECREATED = """
recreated:
  of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
  group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
  group: "0"
"""
ROLL = """
rolled:
  of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
  group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
  owner: {kind: LeaderWorkerSet, name: llm}
  revision: metadata.labels["leaderworkerset.sigs.k8s.io/template-revision-hash"]
  from: {spec: {containers: [{env: []}]}}
  to: {spec: {containers: [{env: [{name: VERSION, value: v2}]}]}}
"""

Read = Callable[[str, float], Account]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """What a form makes of the trace up to a time."""
    lines = [json.loads(line) for line in TRACE.read_text(encoding="utf-8").splitlines()]
    every = [RecordedChange(**line) for line in lines]

    def account(text: str, until: float) -> Account:
        raw = {"id": "a-check", "says": "it is so", "happened": yaml.safe_load(text)}
        kind = CheckSource.model_validate(raw).check().kind
        assert isinstance(kind, Happened)
        world = World(
            cluster=RecordedCluster(),
            history=RecordedHistory([change for change in every if change.at <= until]),
            work=WorkFolder(tmp_path),
            namespace="infer",
            lab_folder=tmp_path,
            checks={},
            now=datetime.fromtimestamp(until, UTC),
        )
        return kind.form.account(world)

    return account


def test_nothing_yet(read: Read) -> None:
    account = read(RECREATED, APPLIED)
    assert (account.passed, account.moving) == (False, False)
    assert account.finding.saw == "no container of group 0 has exited"


def test_deleted_by_hand(read: Read) -> None:
    account = read(RECREATED, BY_HAND)
    assert (account.passed, account.moving) == (False, False)
    assert account.finding.saw == "pods of group 0 were deleted, no container had exited"


def test_failed_and_not_back(read: Read) -> None:
    account = read(RECREATED, FAILED)
    assert (account.passed, account.moving) == (False, True)
    assert account.finding.saw.startswith("llm-0-1 exited; still the same pod as before: llm-0 (")


def test_failed_and_back(read: Read) -> None:
    """Four seconds after it was deleted by hand, and it stays so after the roll."""
    for until in (BACK, ROLLED):
        account = read(RECREATED, until)
        assert account.passed
        assert [round(incident.start - START, 1) for incident in account.incidents] == [58.0]
        assert [round(incident.end - START, 1) for incident in account.incidents] == [62.0]


def test_group_1_was_not(read: Read) -> None:
    account = read(RECREATED.replace('"0"', '"1"'), ROLLED)
    assert not account.passed
    assert account.finding.saw == "pods of group 1 and of other groups were deleted, no container had exited"


def test_not_rolled_by_a_recreation(read: Read) -> None:
    assert read(ROLL, BACK).finding.saw == "no group has been replaced by such pods"


def test_rolling(read: Read) -> None:
    account = read(ROLL, ROLLING)
    assert (account.passed, account.moving) == (False, True)
    assert account.finding.saw == "not new yet: llm-0-1"


def test_rolled(read: Read) -> None:
    account = read(ROLL, ROLLED)
    assert account.passed
    assert account.incidents[0].evidence[1:] == ("Pod infer/llm-1", "Pod infer/llm-0")
