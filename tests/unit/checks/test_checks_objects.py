"""Paths, selectors, movement and words."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from grader.checks.objects import ABSENT, dig, parse_path
from grader.checks.selectors import parse_selector
from grader.checks.settling import instant, moving
from grader.checks.words import clock, listed, near, period, shorten, shown

OBJECT: dict[str, Any] = {
    "metadata": {"labels": {"a.b/c": "1", "d": ""}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "none": None},
    "list": [1, {"name": "n", "x": 2}],
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('metadata.labels["a.b/c"]', "1"),
        ("metadata.labels['a.b/c']", "1"),
        ("metadata.labels.d", ""),
        ('status.conditions["Ready"].status', "True"),
        ("status.conditions.Ready.status", "True"),
        ("status.conditions[0].status", "True"),
        ("list[0]", 1),
        ("list.n.x", 2),
        ("list[5]", ABSENT),
        ("list.m", ABSENT),
        ("status.none", ABSENT),
        ("status.none.more", ABSENT),
        ("metadata.labels.d.more", ABSENT),
        ("nothing.at.all", ABSENT),
    ],
)
def test_paths(path: str, value: object) -> None:
    assert dig(OBJECT, parse_path(path)) == value


@pytest.mark.parametrize("path", ["", " ", "a..b", ".a", "a.", 'a["b', "a[b]", "a[-1]", "a[]"])
def test_bad_paths(path: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # several messages
        parse_path(path)


@pytest.mark.parametrize(
    ("selector", "labels", "holds"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a=", {"a": ""}, True),
        ("a!=b", {"a": "c"}, True),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("!a", {"a": ""}, False),
        ("a in (b, c)", {"a": "c"}, True),
        ("a in (b, c)", {"a": "d"}, False),
        ("a notin (b,c)", {}, True),
        ("a notin (b,c)", {"a": "b"}, False),
        (" x.y/z = 1 , b != 2 , c in (3,4) ", {"x.y/z": "1", "c": "4"}, True),
        ("x.y/z=1,b!=2", {"x.y/z": "1", "b": "2"}, False),
    ],
)
def test_selectors(selector: str, labels: dict[str, str], holds: bool) -> None:
    assert parse_selector(selector).matches({"metadata": {"labels": labels}}) is holds


@pytest.mark.parametrize(
    "selector", ["a b", "a=b=c", ",", "a,", "a in b", "a in (b", "a like (b)", "=b", "a=b c", "(a)"]
)
def test_bad_selectors(selector: str) -> None:
    with pytest.raises(ValueError, match="selector"):
        parse_selector(selector)


NOW = datetime(2025, 11, 30, 10, 53, 20, tzinfo=UTC)


def pod(**status: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"generation": 1}, "status": status}


def unscheduled(seconds: int) -> list[dict[str, str]]:
    since = f"2025-11-30T10:53:{20 - seconds:02}Z"
    return [{"type": "PodScheduled", "status": "False", "lastTransitionTime": since}]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (pod(phase="Pending"), True),
        (pod(), True),
        (pod(phase="Running"), False),
        (pod(phase="Succeeded"), False),
        (pod(phase="Running", conditions=[{"type": "Ready", "status": "False"}]), True),
        (pod(phase="Pending", conditions=unscheduled(3)), True),
        (pod(phase="Pending", conditions=unscheduled(15)), False),
        (pod(phase="Pending", containerStatuses=[{"state": {"waiting": {"reason": "ContainerCreating"}}}]), True),
        (pod(phase="Pending", containerStatuses=[{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]), False),
        (
            pod(
                phase="Running",
                conditions=[{"type": "Ready", "status": "False"}],
                containerStatuses=[{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
            ),
            False,
        ),
        ({"kind": "Pod", "metadata": {"deletionTimestamp": "x"}, "status": {"phase": "Running"}}, True),
        ({"kind": "Job", "metadata": {"generation": 2}, "status": {"observedGeneration": 1}}, True),
        ({"kind": "Job", "metadata": {"generation": 2}, "status": {"observedGeneration": 2}}, False),
        ({"kind": "Job", "metadata": {"generation": 2}}, False),
        ({"kind": "X", "status": {"conditions": [{"type": "UpdateInProgress", "status": "True"}]}}, True),
        ({"kind": "X", "status": {"conditions": [{"type": "UpdateInProgress", "status": "False"}]}}, False),
    ],
    ids=lambda value: str(value)[:60],
)
def test_movement(obj: dict[str, Any], expected: bool) -> None:
    assert moving(obj, NOW) is expected


def test_instants() -> None:
    assert instant("2025-11-30T10:53:20Z") == NOW.timestamp()
    assert instant("2025-11-30T10:53:20.5+00:00") == NOW.timestamp() + 0.5
    assert instant("soon") is instant(None) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", '"a b"'),
        ("a\x1b[31m\u202eb\n", '"a\\x1b[31m\\u202eb\\n"'),
        ("한국어", '"한국어"'),
        ("x" * 100, '"' + "x" * 58 + "…"),
        (1, "1"),
        (True, "true"),
        (None, "null"),
        ({"a": [1, "b"], "c": {}}, '{a: [1, "b"], c: {}}'),
        ([[[[[[["deep"]]]]]]], '[[[[[[["deep"]]]]]]]'),
    ],
    ids=str,
)
def test_shown(value: object, text: str) -> None:
    assert shown(value) == text


def test_endless_values_are_shown_in_no_time() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    wide: Any = "x"
    for _level in range(50):
        wide = {"k": [wide] * 50}
    began = time.monotonic()
    assert len(shown(endless)) <= 60
    assert len(shown(wide)) <= 60
    assert time.monotonic() - began < 1


def test_escaping_never_makes_it_long() -> None:
    assert len(shorten("\x00" * 1000)) <= 240


def test_near() -> None:
    assert near("Replicas", ["replicas", "size"]) == "replicas"
    assert near("zzz", ["replicas"]) == ""


def test_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        assert clock(NOW.timestamp()) == "19:53:20"
        assert period(NOW.timestamp(), NOW.timestamp() + 61) == "19:53:20 to 19:54:21"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert os.environ.get("TZ") != "Asia/Seoul"


def test_listed() -> None:
    assert listed("abc") == "a, b, c"
    assert listed("abcdef") == "a, b, c, d, …"
