"""What checks expect, rendered for their author from what a session recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.author.answers import answers, values
from grader.author.expected import Expected, expectations, session_world
from grader.author.preview import authors_view
from grader.checks import KINDS
from grader.checks.base import Check
from grader.checks.recorded import Trace
from grader.history.model import Change
from grader.lab.parse import parse_lab

if TYPE_CHECKING:
    from grader.checks.world import World

EXAMPLE = Path(__file__).parents[1] / "lab" / "example" / "lab-hello"
ONE = {"kind": "Pod", "name": "hello"}
ALL = {"kind": "Pod", "selector": "app=x"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    trace = Trace()
    for name, node in (("hello", "gpu-b"), ("other", "gpu-a")):
        trace.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "hello", "labels": {"app": "x"}},
                "spec": {"nodeName": node},
                "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "message": f"on {node}"}]},
            }
        )
    return trace.world(tmp_path, namespace="hello")


def expected(kind: str, spec: dict[str, Any], world: World | None) -> list[Expected]:
    return expectations(Check(id="c", says="c", kind=KINDS[kind].model_validate(spec)), world)


def lines(found: list[Expected]) -> list[tuple[str, str | None]]:
    return [(one.what, one.value) for one in found]


ANSWER = {"file": "a", "fields": {"node": "{{ p.spec.nodeName }}", "fixed": "x"}, "with": {"p": ONE}}


def test_fields_of_an_answer(world: World) -> None:
    found = expected("answer", ANSWER, world)
    assert lines(found) == [("a: node", "gpu-b"), ("a: fixed", "x")]
    assert [one.answer for one in found] == [True, False]


def test_without_a_session_as_the_lab_says_it() -> None:
    found = expected("answer", ANSWER, None)
    assert [(one.source, one.value) for one in found] == [("{{ p.spec.nodeName }}", None), ("x", "x")]


def test_what_is_not_there_is_said(world: World) -> None:
    spec = {**ANSWER, "with": {"p": {"kind": "Pod", "name": "gone"}}}
    first, _second = expected("answer", spec, world)
    assert (first.value, first.trouble) == (None, "no Pod hello/gone")
    spec = {"file": "a", "fields": {"uid": "{{ p.spec.missing }}"}, "with": {"p": ONE}}
    [only] = expected("answer", spec, world)
    assert (only.value, only.trouble) == (None, "there is no missing")


def test_lines_of_records_and_a_message(world: World) -> None:
    spec = {"file": "a", "each": ALL, "line": "pod={{ metadata.name }} node={{ spec.nodeName }}"}
    assert lines(expected("records", spec, world)) == [
        ("a: a line for each of Pod[app=x] in hello", spec["line"]),
        ("", "pod=hello node=gpu-b"),
        ("", "pod=other node=gpu-a"),
    ]
    [message] = expected("quotes", {"file": "a", "of": ONE}, world)
    assert (message.value, message.answer) == ("on gpu-b", True)


def test_other_kinds(world: World) -> None:
    spec: dict[str, Any] = {"file": "a", "mentions": ["{{ p.spec.nodeName }}", "word"], "with": {"p": ONE}}
    found = expected("file", spec, world)
    assert [(one.value, one.answer) for one in found] == [("gpu-b", True), ("word", False)]
    match = {"spec": {"nodeName": "{{ spec.nodeName }}"}, "status": {"phase": "Running"}}
    assert lines(expected("resource", {"of": ONE, "match": match}, world)) == [
        ("Pod hello/hello: spec.nodeName", "gpu-b"),
        ("Pod hello/hello: status.phase", "Running"),
    ]
    spec = {"of": ALL, "count": {"min": 2}, "all": {"status": {"phase": "Running"}}, "same": ["spec.nodeName"]}
    assert [one.value for one in expected("resources", spec, world)] == ["{'min': 2}", "Running", "spec.nodeName"]
    [command] = expected("exec", {"command": ["ls", "-l"]}, world)
    assert command.value == "ls -l  →  exit code 0"
    assert lines(expected("happened", {"never": {"of": ONE}}, world))[0] == ("never: of.kind", "Pod")
    assert lines(expected("python", {"function": "f", "arguments": {"n": 1}}, world)) == [("checks.py", "f(n=1)")]


def test_every_kind_is_known() -> None:
    """A kind that was forgotten would be shown as Python shows it."""
    known = {"answer", "records", "quotes", "file", "resource", "resources", "exec", "happened", "python"}
    assert known <= set(KINDS)


def test_right_answers_of_a_lab(world: World, tmp_path: Path) -> None:
    lab, _problems = parse_lab(EXAMPLE)
    assert lab is not None
    assert list(answers(lab, world)) == [("where-answer", "gpu-b")]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("node=gpu-b", ["gpu-b"]),
        ("export node = gpu-b", ["export node = gpu-b"]),
        ("pod=llm-0 group=0 rack=r1", ["0", "r1"]),
        ("message=no room = none", ["no room = none"]),
        ("quota: requests.gpu=1, used", ["quota: requests.gpu=1, used"]),
        ("0/6 nodes are available", ["0/6 nodes are available"]),
        ("node=", []),
    ],
)
def test_what_is_found_out_in_a_line(line: str, found: list[str]) -> None:
    assert values(line) == found


def test_what_a_function_judges_is_taken_from_the_solved_file(world: World, tmp_path: Path) -> None:
    lab, _problems = parse_lab(EXAMPLE)
    assert lab is not None
    check = Check(id="c", says="c", kind=KINDS["python"].model_validate({"function": "f", "arguments": {"file": "a"}}))
    lab = replace(lab, steps=(replace(lab.steps[0], checks=(check,)),))
    assert list(answers(lab, world)) == []
    (tmp_path / "a").write_text("# mine\nreason=Pending\nmessage=no room here\n")
    assert list(answers(lab, world)) == [("c", "Pending"), ("c", "no room here")]


def test_a_session_is_read_where_its_recorder_wrote(tmp_path: Path) -> None:
    from tests.histories import written

    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hello", "namespace": "hello", "uid": "u", "resourceVersion": "5"},
        "spec": {"nodeName": "gpu-b"},
        "status": {"phase": "Running"},
    }
    change = Change(
        seq=1, at=1.0, verb="ADDED", api_version="v1", kind="Pod", namespace="hello", name="hello", uid="u",
        resource_version="5", object=pod,
    )  # fmt: skip
    written(tmp_path / "history.db", [change])
    lab, _problems = parse_lab(EXAMPLE)
    assert lab is not None
    with session_world(tmp_path, lab) as world:
        assert list(answers(lab, world)) == [("where-answer", "gpu-b")]
    view = authors_view(lab, tmp_path)
    assert view.session
    assert [one.value for one in view.expected["where-answer"]] == ["gpu-b"]
    nothing = authors_view(lab, tmp_path / "none")
    assert not nothing.session
    assert [one.value for one in nothing.expected["where-answer"]] == [None]
