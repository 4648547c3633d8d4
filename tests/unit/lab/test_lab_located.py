"""YAML with places: every value knows its line and column; what is stricter than YAML."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.lab import located as module
from grader.lab.located import Located, read_document, read_documents
from grader.lab.problems import LabProblem, Source


def read(text: str, first_line: int = 1, indent: int = 0) -> tuple[Located | None, list[str]]:
    found: list[LabProblem] = []
    document = read_document(Source(Path("f"), text), found, first_line=first_line, indent=indent)
    return document, [str(problem) for problem in found]


def value_of(text: str) -> object:
    document, found = read(text)
    assert found == []
    assert document is not None
    return document.value


def problems_of(text: str) -> list[str]:
    return read(text)[1]


def test_values_are_those_json_has() -> None:
    text = "{a: 1, b: 1.5, c: true, d: False, e: null, f: ~, g: 'x', h: [1, {i: j}], k: 0o17, l: 0644, m: 0x10}"
    assert value_of(text) == {
        "a": 1,
        "b": 1.5,
        "c": True,
        "d": False,
        "e": None,
        "f": None,
        "g": "x",
        "h": [1, {"i": "j"}],
        "k": "0o17",
        "l": 0o644,
        "m": 16,
    }


@pytest.mark.parametrize("text", ["12:30", "2026-01-02", "2026-01-02T03:04:05Z", "1:20:30.5", "="])
def test_what_only_yaml_1_1_takes_for_a_number_or_date_stays_text(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize("key", ["on", "yes", "1", "2026-01-02", "true"])
def test_keys_are_the_text_that_is_written(key: str) -> None:
    assert value_of(f"{key}: x") == {key: "x"}


@pytest.mark.parametrize("word", ["yes", "No", "on", "OFF"])
def test_words_that_are_booleans_to_some_are_refused(word: str) -> None:
    assert problems_of(f"a: {word}") == [
        f"f:1:4: '{word}' is a boolean to some readers: write true or false, or put it in quotes"
    ]
    assert value_of(f"a: '{word}'") == {"a": word}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "f:3:1: duplicate key 'a' (first on line 1)"),
        ("a: {b: 1, b: 2}\n", "f:1:11: duplicate key 'b' (first on line 1)"),
        ("a: 1\n'a': 3\n", "f:2:1: duplicate key 'a' (first on line 1)"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", "f:2:5: '<<' is not supported: write the keys out"),
        ("a: !!python/name:os.system x\n", None),
        ("a: !secret x\n", "f:1:4: tag !secret: YAML tags are not allowed"),
        ("a: !thing [x]\n", "f:1:4: tag !thing: YAML tags are not allowed"),
        ("a: !!set {x}\n", "f:1:4: tag tag:yaml.org,2002:set: YAML tags are not allowed"),
        ("? [a]\n: 1\n", "f:1:3: a key must be text"),
        ("~: 1\n", "f:1:1: a key must be text"),
        ("a: .nan\n", "f:1:4: '.nan' is no number that can be used"),
        ("a: -.inf\n", "f:1:4: '-.inf' is no number that can be used"),
        ("a: !!int x\n", "f:1:4: 'x' is no number that can be used"),
        ("a: " + "9" * 5000 + "\n", "f:1:4: '" + "9" * 40 + "' is no number that can be used"),
        ('a: "\\ud800"\n', None),
        ("a: 1\n---\nb: 2\n", "f:3:1: a second YAML document: one is allowed here"),
        ("# nothing\n", "f:1:1: is empty"),
        ("", "f:1:1: is empty"),
        ("a:\n\tb: 1\n", "f:2:1: not YAML: a tab: YAML is indented with spaces"),
        (
            "a: b: c\n",
            "f:1:5: not YAML: a ':' that can't stand here: quote text that holds ': ', or check the indent",
        ),
        ("a: 1\nb: \x07\n", "f:2:4: not YAML: a control character that may not stand in a file"),
        ("a: [1,\n", None),
        ("a: *unknown\n", "f:1:4: not YAML: found undefined alias 'unknown'"),
    ],
)
def test_each_refusal_with_its_place(text: str, problem: str | None) -> None:
    found = problems_of(text)
    assert len(found) == 1
    if problem is not None:
        assert found == [problem]


def test_all_that_is_wrong_is_told_in_one_run_and_the_first_of_two_keys_counts() -> None:
    document, found = read("a: yes\na: no\nb: !x 1\n")
    assert [problem.split(": ")[0] for problem in found] == ["f:1:4", "f:2:1", "f:2:4", "f:3:4"]
    assert document is not None
    assert document.value["a"] is True
    assert document.place(("a",)) == (1, 4)


def test_aliases_are_values_within_bounds() -> None:
    assert value_of("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


def test_an_alias_bomb_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    found = problems_of("\n".join(lines))
    assert len(found) == 1
    assert found[0].endswith("aliases stand for more than 10000 values")


def test_an_alias_to_its_own_parent_ends() -> None:
    found = problems_of("a: &x\n  b: *x\n")
    assert [problem.split(": ", 1)[1] for problem in found] == ["nested deeper than 64 levels"]


@pytest.mark.parametrize("depth", [70, 500, 5000])
def test_deep_nesting_is_refused_and_never_a_crash(depth: int) -> None:
    found = problems_of("[" * depth + "]" * depth)
    assert len(found) == 1


def test_the_slow_loader_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: yes\nb:\n  - {c: 1}\n  - c: 2\n"
    fast = read(text)
    monkeypatch.setattr(module, "_FAST", yaml.SafeLoader)
    slow = read(text)
    assert slow[1] == fast[1]
    assert slow[0] is not None
    assert fast[0] is not None
    assert slow[0].value == fast[0].value
    for path in [("a",), ("b", 0, "c"), ("b", 1, "c")]:
        assert slow[0].place(path) == fast[0].place(path)
    assert len(problems_of("[" * 5000)) == 1
    half = "half of a surrogate pair is no character"
    assert problems_of('"\\ud800": 1\nb: "\\ud800"\n') == [f"f:1:1: {half}", f"f:2:4: {half}"]


def test_places_in_the_file() -> None:
    document, _found = read("a: 1\nb:\n  - {c: 가나, d: 2}\n  - x\n", first_line=11, indent=4)
    assert document is not None
    assert document.place(()) == (11, 5)
    assert document.place(("a",)) == (11, 8)
    assert document.place(("a",), key=True) == (11, 5)
    assert document.place(("b", 0, "d")) == (13, 20)
    assert document.place(("b", 0, "d"), key=True) == (13, 17)
    assert document.place(("b", 1)) == (14, 9)


def test_a_path_that_leads_nowhere_is_passed_over() -> None:
    document, _found = read("a: {b: {c: 1}}")
    assert document is not None
    assert document.existing(("a", "SomeModel", "b", "missing")) == ("a", "b")
    assert document.place(("a", "SomeModel", "b", "missing")) == document.place(("a", "b"))


def test_documents_of_a_file() -> None:
    found: list[LabProblem] = []
    documents = read_documents(Source(Path("f"), "---\n# no\n---\na: 1\n---\nb: 2\n"), found)
    assert [document.value for document in documents] == [None, {"a": 1}, {"b": 2}]
    assert documents[2].place(()) == (6, 1)
    assert found == []
