"""Templates: what they give, and that nothing of Python is within their reach."""

from __future__ import annotations

import pytest

from grader.checks.templates import BadTemplateError, NoValueError, expression, names, problem, render, rendered

POD = {
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n", "labels": {"a.b/c": "1"}, "items": "odd"},
    "spec": {
        "containers": [
            {"name": "side", "env": [{"name": "X", "value": "side"}]},
            {
                "name": "main",
                "env": [
                    {"name": "X", "value": "main"},
                    {"name": "EMPTY"},
                    {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a.b/c']"}}},
                    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                ],
            },
        ]
    },
    "status": {"ready": True, "conditions": [{"type": "Ready", "status": "True", "message": "fine"}]},
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("plain {text}", "plain {text}"),
        ("{{ pod.metadata.name }}-{{ namespace }}", "p-n"),
        ("{{ pod.metadata.labels['a.b/c'] }}", "1"),
        ("{{ pod.metadata.items }}", "odd"),
        ("{{ pod | env('X') }}", "side"),
        ("{{ pod | env('X', 'main') }}", "main"),
        ("{{ pod | env('EMPTY') }}", ""),
        ("{{ pod | env('LABEL') }}", "1"),
        ("{{ (pod | condition('Ready')).message }}", "fine"),
        ("{{ (pod.spec.containers | named('main')).env | length }}", "4"),
        ("{{ pod.status.ready }}", "true"),
        ("{{ 1 + 1 }}", "2"),
        ("{% for c in pod.spec.containers %}{{ c.name }} {% endfor %}", "side main "),
    ],
)
def test_renders(source: str, text: str) -> None:
    assert render(source, {"pod": POD, "namespace": "n"}) == text


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("{{ pod.status.podIP }}", "there is no podIP"),
        ("{{ pod.status.podIP.x }}", "there is no podIP"),
        ("{{ pod | env('Y') }}", "Pod n/p has no variable Y"),
        ("{{ pod | env('NODE') }}", "Pod n/p has no spec.nodeName"),
        ("{{ (pod | condition('Bad')).status }}", "Pod n/p has no condition Bad"),
        ("{{ pod.spec.containers | named('third') }}", "there is no third"),
        ("{{ none }}", "there is no value"),
    ],
)
def test_lacks_a_value(source: str, detail: str) -> None:
    with pytest.raises(NoValueError) as raised:
        render(source, {"pod": POD})
    assert raised.value.detail == detail


def test_an_empty_value_is_none_where_text_is_searched() -> None:
    with pytest.raises(NoValueError):
        rendered("{{ pod | env('EMPTY') }}", {"pod": POD})


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ pod.__class__ }}",
        "{{ pod['__class__'] }}",
        "{{ pod | attr('__class__') }}",
        "{{ '{0.__class__.__mro__}'.format(pod) }}",
        "{{ '{x.__class__}'.format_map({'x': 1}) }}",
        "{{ pod.update({'a': 1}) }}",
        "{{ pod.spec.containers.append(1) }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ lipsum() }}",
        "{{ range(10) }}",
        "{{ namespace() }}",
        "{{ (pod | env).__globals__ }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
    ],
)
def test_no_way_out(source: str) -> None:
    before = repr(POD)
    with pytest.raises((NoValueError, BadTemplateError)):
        render(source, {"pod": POD})
    assert repr(POD) == before


def test_too_long() -> None:
    with pytest.raises(BadTemplateError):
        render("{{ 'x' * 200000 }}", {})


def test_faults_are_ours() -> None:
    with pytest.raises(BadTemplateError):
        render("{{ 1 / 0 }}", {})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{{ pod.name }}", ""),
        ("{{ namespace }}", ""),
        ("plain", ""),
        ("{{ pod.name }", "the template '{{ pod.name }' is wrong: unexpected '}'"),
        ("{{ pod | nope }}", "the template '{{ pod | nope }}' is wrong: No filter named 'nope'."),
        ("{{ pdo.name }}", "the template '{{ pdo.name }}' uses pdo, which nothing defines here (did you mean pod?)"),
    ],
)
def test_problems_are_told_before_rendering(source: str, message: str) -> None:
    assert problem(source, {"pod"}) == message


def test_pointers() -> None:
    assert expression("{{ leader.status.podIP }}.svc") == "{leader.status.podIP}.svc"
    assert expression("{{ leader.status.podIP }}") == "leader.status.podIP"
    assert expression("{{ worker | env('ADDRESS') }}.svc") == "{ADDRESS}.svc"
    assert expression("{{ worker|env(\"ADDRESS\", 'main') }}") == "ADDRESS"
    assert names("{{ a.b }} {{ c }}") == {"a", "c"}
