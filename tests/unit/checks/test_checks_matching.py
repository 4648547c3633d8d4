"""Partial match: what counts as there, and how differences are told."""

from __future__ import annotations

from typing import Any

import pytest

from grader.checks.matching import differences, matches, quantity, spelled

POD = {
    "metadata": {"labels": {"a.b/c": "1", "v": "01"}, "annotations": {}},
    "spec": {
        "hostNetwork": False,
        "nodeName": "lab",
        "priority": 0,
        "containers": [
            {"name": "side", "args": ["-v", "-x"]},
            {"name": "main", "resources": {"limits": {"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": "1"}}},
        ],
        "tolerations": [
            {"key": "t", "operator": "Exists", "effect": "NoExecute"},
            {"key": "t", "operator": "Exists", "effect": "NoSchedule"},
        ],
        "overhead": None,
    },
}


@pytest.mark.parametrize(
    "wanted",
    [
        {"spec": {"nodeName": "lab"}},
        {"spec": {"hostNetwork": False, "priority": 0}},
        {"metadata": {"labels": {"a.b/c": "1"}}},
        {"metadata": {"labels": {"a.b/c": 1}}},
        {"metadata": {"annotations": {}}},
        {"spec": {"containers": [{"name": "main"}, {"name": "side"}]}},
        {"spec": {"containers": [{"args": ["-x"]}]}},
        {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}},
        {"spec": {"containers": [{"resources": {"limits": {"cpu": 1.5, "memory": "1024Mi"}}}]}},
        {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "1.5"}}}]}},
        {"spec": {"tolerations": [{"key": "t", "effect": "NoSchedule"}]}},
        {"spec": {"nodeSelector": "<absent>", "overhead": "<absent>", "nodeName": "<any>"}},
        {"spec": {"nodeSelector": None, "volumes": []}},
        {"spec": {"containers": [{"name": "side", "args": ["<only>", "-x", "-v"]}]}},
        {"spec": {"nodeName": "{{ where }}", "priority": "{{ zero }}", "hostNetwork": "{{ no }}"}},
        {"spec": {"containers": [{"name": "{{ which }}", "resources": "<any>"}]}},
    ],
    ids=str,
)
def test_matches(wanted: dict[str, Any]) -> None:
    context = {"where": "lab", "zero": 0, "no": False, "which": "main"}
    assert differences(wanted, POD, context) == []
    assert matches(wanted, POD, context)


@pytest.mark.parametrize(
    ("wanted", "path", "what", "saw"),
    [
        ({"spec": {"nodeName": "gpu-a"}}, "spec.nodeName", '"gpu-a"', '"lab"'),
        ({"spec": {"nodeName": {"a": 1}}}, "spec.nodeName", "a map", '"lab"'),
        ({"spec": {"nodeName": ["lab"]}}, "spec.nodeName", "a list", '"lab"'),
        ({"spec": {"priority": False}}, "spec.priority", "false", "0"),
        ({"spec": {"hostNetwork": 0}}, "spec.hostNetwork", "0", "false"),
        ({"spec": {"hostNetwork": "false"}}, "spec.hostNetwork", '"false"', "false"),
        ({"spec": {"priority": "<absent>"}}, "spec.priority", "nothing there", "0"),
        ({"spec": {"nodeSelector": "<any>"}}, "spec.nodeSelector", "any value", "not there"),
        ({"spec": {"nodeSelector": {"a": {"b": 1}}}}, "spec.nodeSelector.a.b", "1", "not there"),
        (
            {"spec": {"tolerations": []}},
            "spec.tolerations",
            "an empty list",
            '[{key: "t", operator: "Exists", effect: "NoExecute"}, {key:…',
        ),
        (
            {"spec": {"containers": [{"name": "side", "args": ["<only>", "-x"]}]}},
            'spec.containers["side"].args',
            '["-x"] and nothing else',
            '["-v", "-x"]',
        ),
        (
            {"spec": {"containers": [{"name": "side", "args": ["<only>", "-y"]}]}},
            'spec.containers["side"].args',
            'an element "-y"',
            '["-v", "-x"]',
        ),
        ({"metadata": {"labels": {"a.b/c": "2"}}}, 'metadata.labels["a.b/c"]', '"2"', '"1"'),
        ({"metadata": {"labels": {"v": "1"}}}, "metadata.labels.v", '"1"', '"01"'),
        (
            {"spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 2}}}]}},
            'spec.containers["main"].resources.limits["nvidia.com/gpu"]',
            "2",
            '"1"',
        ),
        ({"spec": {"containers": [{"name": "x"}]}}, 'spec.containers["x"]', 'an element with name "x"', "not there"),
        ({"spec": {"volumes": [{"name": "x"}]}}, 'spec.volumes["x"]', 'an element with name "x"', "not there"),
        (
            {"spec": {"containers": [{"image": "x"}]}},
            "spec.containers",
            'an element {image: "x"}',
            '[{name: "side", args: ["-v", "-x"]}, {name: "main", resourc…',
        ),
        (
            {"spec": {"tolerations": [{"key": "t", "effect": "x"}]}},
            'spec.tolerations["t"].effect',
            '"x"',
            '"NoExecute"',
        ),
        ({"spec": {"nodeName": "{{ where }}"}}, "spec.nodeName", '"here"', '"lab"'),
    ],
    ids=lambda value: str(value)[:40],
)
def test_differences(wanted: dict[str, Any], path: str, what: str, saw: str) -> None:
    found = differences(wanted, POD, {"where": "here"})
    assert [(each.path, each.wanted, each.saw) for each in found] == [(path, what, saw)]


def test_the_first_few() -> None:
    wanted = {"spec": {str(number): number for number in range(9)}}
    assert [each.path for each in differences(wanted, POD, {})] == ["spec.0", "spec.1", "spec.2"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", 1),
        ("1000m", "1"),
        ("1k", 1000),
        ("1Ki", 1024),
        ("1e3", "1k"),
        ("0.5", "500m"),
        ("1Gi", 1073741824),
        ("1E", 10**18),
    ],
)
def test_equal_quantities(one: object, other: object) -> None:
    assert quantity(one) == quantity(other) is not None


@pytest.mark.parametrize(
    "text", ["", "Ki", "v1", "1.2.3", "nan", "inf", "1e99999999999999999999", True, None, [], "--1", "1KiB"]
)
def test_no_quantities(text: object) -> None:
    assert quantity(text) is None


def test_spelling() -> None:
    assert spelled(("a", 0, "b.c", "d-e")) == 'a[0]["b.c"].d-e'
