"""How a verdict came about: what was read, what decided, and never the answer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.errors import ApiUnavailable
from grader.checks import KINDS
from grader.checks.base import Check
from grader.checks.engine import run_checks
from grader.checks.recorded import Trace
from grader.checks.trace import MOST_READ, some_of
from grader.results import Result, State

if TYPE_CHECKING:
    from grader.checks.objects import Object

SECRET = "0c5e7d1a-secret"
"""What a learner is to find out."""


@dataclass
class Step:
    number: int
    id: str
    checks: list[Check]


@dataclass
class Lab:
    id: str
    steps: list[Step]


def pod(**more: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hello", "namespace": "default", "resourceVersion": "812", "labels": {"app": "x"}, **more},
        "spec": {"nodeName": SECRET},
        "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "message": f"no room on {SECRET}"}]},
    }


def explained(work: Path, trace: Trace, kind: str, spec: dict[str, Any], **envelope: Any) -> Result:
    check = Check(id="c", says="it is so", kind=KINDS[kind].model_validate(spec), **envelope)
    lab = Lab("lab-x", [Step(1, "one", [check])])
    [result] = run_checks(lab, lambda: trace.world(work, checks={"c": check}), patience=False)
    return result


@pytest.fixture
def trace() -> Trace:
    trace = Trace()
    trace.put(pod())
    return trace


ONE = {"kind": "Pod", "name": "hello"}
ALL = {"kind": "Pod", "selector": "app=x"}
KINDS_THAT_HIDE: list[tuple[str, dict[str, Any], str, str]] = [
    ("answer", {"file": "a", "fields": {"node": "{{ p.spec.nodeName }}"}, "with": {"p": ONE}}, "node={}", "node=gpu-z"),
    (
        "records",
        {"file": "a", "each": ALL, "line": "pod={{ metadata.name }} node={{ spec.nodeName }}"},
        "pod=hello node={}",
        "pod=hello node=gpu-z",
    ),
    ("quotes", {"file": "a", "of": ONE}, "no room on {}", "no room at all"),
    ("file", {"file": "a", "mentions": ["{{ p.spec.nodeName }}"], "with": {"p": ONE}}, "it is {}", "it is gpu-z"),
]


@pytest.mark.parametrize(("kind", "spec", "right", "wrong"), KINDS_THAT_HIDE, ids=[one[0] for one in KINDS_THAT_HIDE])
@pytest.mark.parametrize("answered", ["rightly", "wrongly", "not at all"])
def test_no_answer_is_told(
    tmp_path: Path, trace: Trace, kind: str, spec: dict[str, Any], right: str, wrong: str, answered: str
) -> None:
    if answered != "not at all":
        (tmp_path / "a").write_text(right.format(SECRET) if answered == "rightly" else wrong)
    result = explained(tmp_path, trace, kind, spec)
    assert result.state is (State.PASSED if answered == "rightly" else State.FAILED)
    assert result.decided
    assert not [line for line in (*result.read, *result.decided) if SECRET in line]
    assert SECRET not in str(result.finding)


def test_what_was_read_is_told_with_versions_and_digests(tmp_path: Path, trace: Trace) -> None:
    (tmp_path / "a").write_text("node=gpu-z")
    os.utime(tmp_path / "a", (1_764_500_000, 1_764_500_000))
    result = explained(tmp_path, trace, *KINDS_THAT_HIDE[0][:2])
    file, objects = result.read
    assert file.startswith("a: 10 bytes, written ")
    # sha256sum of the file says the same
    assert file.endswith("sha256 1ddbf51701c9…")
    assert objects == "Pod default/hello: 1, now, resourceVersion 812"


def test_the_name_of_an_object_that_is_asked_for_is_not_told(tmp_path: Path, trace: Trace) -> None:
    owned = {"ownerReferences": [{"kind": "Job", "name": "train", "uid": "u"}]}
    trace.put(pod(name=SECRET, **owned))
    owner = {"kind": "Pod", "owner": {"kind": "Job", "name": "train"}}
    spec = {"file": "a", "fields": {"pod": "{{ p.metadata.name }}"}, "with": {"p": owner}}
    (tmp_path / "a").write_text("pod=other")
    result = explained(tmp_path, trace, "answer", spec)
    assert any("Pod of Job train in default: 1, now" in line for line in result.read)
    assert SECRET not in str(result)


def test_entries_of_the_history_are_numbered(tmp_path: Path, trace: Trace) -> None:
    result = explained(tmp_path, trace, "resource", {"of": {"kind": "Pod", "name": "hello"}, "absent": True})
    assert result.state is State.FAILED
    trace.remove(trace.cluster.objects[0])
    result = explained(tmp_path, trace, "resource", {"of": {"kind": "Pod", "name": "hello"}, "absent": True})
    assert result.state is State.PASSED
    nothing, history = result.read
    assert nothing == "Pod default/hello: none, now"
    assert history.startswith("history of Pod default/hello: 2 changes, entries 1 to 2, ")
    assert result.decided[0] == "Pod default/hello: was there, by the history, and is gone"


def test_an_account_of_another_check_is_read_for_both(tmp_path: Path, trace: Trace) -> None:
    never = Check(id="n", says="n", kind=KINDS["happened"].model_validate({"never": {"of": ONE}}))
    again = Check(id="m", says="m", kind=never.kind)
    lab = Lab("lab-x", [Step(1, "one", [never, again])])
    world = trace.world(tmp_path, checks={"n": never, "m": again})
    first, second = run_checks(lab, lambda: world, patience=False)
    assert first.read
    assert first.read == second.read


def test_what_decided_of_a_failure(tmp_path: Path, trace: Trace) -> None:
    result = explained(tmp_path, trace, "resource", {"of": ONE, "match": {"status": {"phase": "Failed"}}})
    assert result.decided == (
        'wanted status.phase "Failed"',
        'saw status.phase is "Running"',
        "nothing is on its way, so waiting would not help",
    )


@pytest.mark.parametrize(
    ("hold", "last"),
    [("once", "it stays passed, whatever becomes of this later"), ("now", "it is looked at anew each time")],
)
def test_what_decided_of_a_pass(tmp_path: Path, trace: Trace, hold: str, last: str) -> None:
    spec = {"of": ONE, "match": {"status": {"phase": "Running"}, "spec": {"nodeName": "<any>"}}}
    result = explained(tmp_path, trace, "resource", spec, hold=hold)
    assert result.decided == ("Pod default/hello: as asked in status.phase, spec.nodeName", last)
    result = explained(tmp_path, trace, "resources", {"of": ALL, "count": 1, "same": ["spec.nodeName"]}, hold=hold)
    assert result.decided == ("Pod[app=x] in default: holds for count, same", last)


def test_what_was_not_looked_at_says_why(tmp_path: Path, trace: Trace) -> None:
    kind = KINDS["resource"].model_validate({"of": {"kind": "Pod", "name": "gone"}})
    checks = [Check(id="a", says="a", kind=kind), Check(id="b", says="b", kind=kind, after=("a",))]
    checks.append(Check(id="c", says="c", kind=kind))
    lab = Lab("lab-x", [Step(1, "one", checks)])
    _a, b, c = run_checks(lab, lambda: trace.world(tmp_path), patience=False, achievements={"c": 1_764_500_000.0})
    assert (b.read, b.decided) == ((), ("it was not looked at, because a does not pass",))
    assert c.read == ()
    assert c.decided[0].endswith("and stays passed")
    assert c.decided[1] == "it was not looked at again"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("hello", ("looked at now, it holds still", "Pod default/hello: it is there")),
        ("gone", ("looked at now, it would not: there is no Pod default/gone",)),
    ],
)
def test_what_stays_passed_is_looked_at_anew_where_one_asks(
    tmp_path: Path, trace: Trace, name: str, told: tuple[str, ...]
) -> None:
    kind = KINDS["resource"].model_validate({"of": {"kind": "Pod", "name": name}})
    lab = Lab("lab-x", [Step(1, "one", [Check(id="c", says="c", kind=kind)])])
    [result] = run_checks(lab, lambda: trace.world(tmp_path), anew=True, achievements={"c": 1_764_500_000.0})
    assert (result.state, result.achieved) == (State.PASSED, 1_764_500_000.0)
    assert result.decided[1:] == told
    assert len(result.read) >= 1


def test_what_can_not_be_looked_at_anew_stays_passed(tmp_path: Path, trace: Trace) -> None:
    trace.cluster.trouble = ApiUnavailable("the API is away")
    kind = KINDS["resource"].model_validate({"of": {"kind": "Pod", "name": "hello"}})
    lab = Lab("lab-x", [Step(1, "one", [Check(id="c", says="c", kind=kind)])])
    [result] = run_checks(lab, lambda: trace.world(tmp_path), anew=True, achievements={"c": 1_764_500_000.0})
    assert result.state is State.PASSED
    assert result.decided[1] == "looked at now, nobody could tell: the API is away"


def test_of_many_lines_the_first_are_told() -> None:
    lines = [str(number) for number in range(MOST_READ + 5)]
    assert some_of(lines[:MOST_READ]) == tuple(lines[:MOST_READ])
    assert some_of(lines) == (*lines[: MOST_READ - 1], "and 6 more")
