"""Check blocks: what they hold, and where each mistake in one is placed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.lab.parse import parse_lab

Spoil = Callable[..., list[str]]
SAYS = "  says: the pod hello runs\n"
"""Line 37 of lab.md, the second line of the check `pod-runs`."""


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        (SAYS, "", ["36:3: missing key 'says'"]),
        (SAYS, "  says: ''\n", ["37:9: says: must not be empty"]),
        (SAYS, SAYS + "  hold: onse\n", ["38:9: hold: must be 'once' or 'now', not 'onse' (did you mean 'once'?)"]),
        (SAYS, SAYS + "  weight: 0\n", ["38:11: weight: must be 1 or more"]),
        (SAYS, SAYS + "  weight: 1.5\n", ["38:11: weight: must be a whole number, not 1.5"]),
        ("  within: 20\n", "  within: 301\n", ["39:11: within: must be 300 or less"]),
        ("  within: 20\n", "  within: true\n", ["39:11: within: must be a whole number, not true"]),
        ("  within: 20\n", "  within: 20\n  within: 30\n", ["40:3: duplicate key 'within' (first on line 39)"]),
        ("  after: [pod-file]\n", "  after: pod-file\n", ["38:10: after: must be a list, not 'pod-file'"]),
        (
            "  after: [pod-file]\n",
            "  after: [pod-fil]\n",
            ["38:11: no check 'pod-fil' in this lab (did you mean 'pod-file'?)"],
        ),
        (
            "  after: [pod-file]\n",
            "  after: [where-answer]\n",
            [
                "38:10: 'after' goes round in a circle: pod-runs → where-answer → pod-runs",
                "38:11: check 'where-answer' comes later in the lab: name one that comes before",
            ],
        ),
        ("  after: [pod-file]\n", "  after: [pod-runs]\n", ["36:3: a check can't come after itself"]),
        (
            SAYS,
            SAYS + "  kind: resource\n",
            [
                (
                    "38:3: unknown key 'kind'; allowed: id, says, after, hold, within, weight, look_at, resource, "
                    "resources, file, records, answer, quotes, exec, happened, script, python (did you mean 'id'?)"
                )
            ],
        ),
        (
            SAYS,
            SAYS + "  file: {file: a.txt}\n",
            ["42:3: 'resource' beside 'file': a check has one kind, make two checks of it"],
        ),
        (
            "    of: {kind: Pod, name: hello}\n",
            "    of: {kind: Pod, nam: hello}\n",
            [
                (
                    "42:21: resource.of: unknown key 'nam'; allowed: kind, name, selector, owner, apiVersion, "
                    "namespace (did you mean 'name'?)"
                )
            ],
        ),
        ("    match: {status: {phase: Running}}\n", "    match:\n", ["43:11: match: is blank"]),
        (
            "    match: {status: {phase: Running}}\n",
            "    match: {status: {phase: }}\n",
            ["43:29: phase: is blank"],
        ),
        (
            "    match: {status: {phase: Running}}\n",
            "    match: [Running]\n",
            ["43:12: resource.match: must be a mapping (key: value), not a list"],
        ),
        (
            "    file: pod.yaml\n",
            "    file: ../pod.yaml\n",
            ["30:11: file.file: '../pod.yaml' is not a file inside the work folder"],
        ),
        (
            "    of: {kind: Pod, name: hello}\n",
            "    of: {kind: JobSet, name: hello}\n",
            ["42:5: the cluster has no JobSet without the add-on 'jobset'"],
        ),
    ],
)
def test_each_refusal_with_its_place(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil("lab.md", old, new) == [f"lab.md:{problem}" for problem in problems]


CHECK = "- id: pod-runs\n" + SAYS


def added(spoil: Spoil, text: str) -> list[str]:
    """What lint finds when `text` comes before the check `pod-runs`: its first line is 36."""
    return spoil("lab.md", CHECK, text + CHECK)


UNTRANSLATED = "lab.ko.md:10:1: check 'new' of lab.md has no words in this step"


def new(kind: str, more: str = "") -> str:
    """Three lines and `kind`, whose first line is 38, at column 3."""
    return f"- id: new\n  says: x\n  {kind}\n{more}"


def test_a_check_without_a_kind(spoil: Spoil) -> None:
    assert added(spoil, new("weight: 1")) == [
        UNTRANSLATED,
        (
            "lab.md:36:3: no kind: one of resource, resources, file, records, answer, quotes, exec, happened, script, "
            "python says what is checked"
        ),
    ]


def test_a_misspelt_kind_is_told_once(spoil: Spoil) -> None:
    found = added(spoil, new("ansewr: {}"))
    assert found[0] == UNTRANSLATED
    assert len(found) == 2
    assert found[1].startswith("lab.md:38:3: unknown key 'ansewr'; allowed: id, ")
    assert found[1].endswith("(did you mean 'answer'?)")


@pytest.mark.parametrize(
    ("count", "problem"),
    [
        ("many", "38:39: resources.count: must be a whole number or a mapping (key: value), not 'many'"),
        ("{mix: 1}", "38:40: resources.count: unknown key 'mix'; allowed: min, max (did you mean 'min'?)"),
        ("{min: x}", "38:45: resources.count.min: must be a whole number, not 'x'"),
    ],
)
def test_a_value_of_two_shapes_is_refused_in_the_words_of_its_shape(spoil: Spoil, count: str, problem: str) -> None:
    assert added(spoil, new("resources: {of: {kind: Pod}, count: " + count + "}")) == [
        UNTRANSLATED,
        f"lab.md:{problem}",
    ]


def test_a_blank_value_is_told_beside_what_it_leads_to(spoil: Spoil) -> None:
    found = added(spoil, new("resources: {of: {kind: Pod}, count: }"))
    assert found[1].startswith("lab.md:38:14: resources: ")
    assert found[2:] == ["lab.md:38:39: count: is blank"]


def test_places_inside_a_template_of_many_lines(spoil: Spoil) -> None:
    more = (
        "    file: a.txt\n    each: {kind: Pod}\n    line: |\n      a={{ metadata.name }}\n      b={{ metadata.name }\n"
    )
    found = added(spoil, new("records:", more))
    assert found[0] == UNTRANSLATED
    (problem,) = found[1:]
    assert problem.startswith("lab.md:43:1: records.line: the template ")


def test_the_place_of_a_template_deep_in_a_match(spoil: Spoil) -> None:
    more = "    of: {kind: Pod, name: x}\n    match:\n      spec:\n        nodeName: '{{ x | nope }}'\n"
    problem = added(spoil, new("resource:", more))[1]
    assert problem.startswith("lab.md:42:19: resource.match: the template ")


def test_selectors_are_read(spoil: Spoil) -> None:
    problem = added(spoil, new("resources: {of: {kind: Pod, selector: 'a=b,,'}, count: 1}"))[1]
    assert problem.startswith("lab.md:38:41: resources.of.selector: ")


def test_a_name_that_with_does_not_have(spoil: Spoil) -> None:
    problem = added(spoil, new("answer: {file: a, fields: {a: '{{ pd.x }}'}, with: {pod: {kind: Pod, name: x}}}"))[1]
    assert problem.startswith("lab.md:38:")
    assert "(did you mean pod?)" in problem


def test_before_names_a_check_of_the_kind_happened(spoil: Spoil) -> None:
    reference = "{kind: Pod, name: x, before: pod-file}"
    found = added(spoil, new("answer: {file: a, fields: {a: '{{ p.kind }}'}, with: {p: " + reference + "}}"))
    assert found == [
        UNTRANSLATED,
        "lab.md:38:89: 'pod-file' is no check of the kind 'happened': there is no moment before it",
    ]


def test_before_names_an_unknown_check(spoil: Spoil) -> None:
    reference = "{kind: Pod, name: x, before: pod-fil}"
    found = added(spoil, new("answer: {file: a, fields: {a: '{{ p.kind }}'}, with: {p: " + reference + "}}"))
    assert found[1] == "lab.md:38:89: no check 'pod-fil' in this lab (did you mean 'pod-file'?)"


def test_a_function_checks_py_lacks(spoil: Spoil, lab: Path) -> None:
    (lab / "checks.py").write_text("def pods_differ(world):\n    ...\n")
    assert added(spoil, new("python: {function: pods_difer}")) == [
        UNTRANSLATED,
        "lab.md:38:22: no function 'pods_difer' in checks.py (did you mean 'pods_differ'?)",
    ]


def test_a_key_that_is_wrong_itself(spoil: Spoil, lab: Path) -> None:
    (lab / "checks.py").write_text("def f(world):\n    ...\n")
    problem = added(spoil, new("python: {function: f, arguments: {'A b': 1}}"))[1]
    assert problem.startswith("lab.md:38:37: python.arguments: key 'A b': ")


def test_blank_is_a_value_for_functions_only(spoil: Spoil, lab: Path) -> None:
    (lab / "checks.py").write_text("def f(world, a):\n    ...\n")
    assert added(spoil, new("python: {function: f, arguments: {a: }}")) == [UNTRANSLATED]


def test_an_id_given_twice_in_two_steps(spoil: Spoil) -> None:
    found = spoil("lab.md", "- id: where-answer\n", "- id: pod-file\n")
    assert "lab.md:59:7: check id 'pod-file' again (first on line 27)" in found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("just: a mapping\n", "27:1: a check block must be a list: begin each check with '- id:'"),
        ("text\n", "27:1: a check block must be a list: begin each check with '- id:'"),
        ("- text\n- [x]\n", "27:3: a check must be a mapping (key: value)"),
        ("- [x]\n", "27:3: a check must be a mapping (key: value)"),
        ("", "27:1: is empty"),
        ("- id: a\n---\n- id: b\n", "29:1: a second YAML document: one is allowed here"),
        ("- id: [\n", None),
    ],
)
def test_blocks_that_are_no_list_of_checks(lab: Path, text: str, problem: str | None) -> None:
    path = lab / "lab.md"
    before, _open, rest = path.read_text().partition("```yaml check\n")
    path.write_text(before + "```yaml check\n" + text + rest[rest.index("```") :])
    found = [str(each).removeprefix(f"{lab}/") for each in parse_lab(lab)[1]]
    assert found[0].startswith(("lab.md:27:", "lab.md:28:"))
    if problem is not None:
        assert f"lab.md:{problem}" in found
