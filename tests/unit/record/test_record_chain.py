"""A record with anything in it changed: every such change is seen, and named by its entry."""

from __future__ import annotations

from typing import Any

import pytest

from grader.record.chain import clock_went_back, examine
from grader.record.keys import digest, fits
from tests.classes import Document, Learner, bent, check, key, start


@pytest.fixture
def record() -> Document:
    return Learner().record()


def faults(record: Document) -> list[tuple[int | None, str]]:
    return [(fault.entry, fault.message) for fault in examine(record["head"], record["entries"])]


def other(value: Any) -> Any:
    """A value of the same kind that is another one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case None:
            return "x"
        case str():
            return f"{value}x"
        case list():
            return [*value, 1]
    return {**value, "x": {}}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [path, *(found for key, inner in value.items() for found in leaves(inner, (*path, key)))]
    return [path]


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value


def get(document: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


def test_a_record_is_sound_as_it_was_written(record: Document) -> None:
    assert len(record["entries"]) == 5
    assert faults(record) == []


def test_no_field_of_an_entry_can_be_changed(record: Document) -> None:
    tried = 0
    for number, entry in enumerate(record["entries"]):
        for path in leaves(entry)[1:]:
            changed = bent(record)
            put(changed["entries"][number], path, other(get(entry, path)))
            found = [at for at, _message in faults(changed)]
            # An entry that claims another number is told by the number it claims.
            assert found[:1] == [changed["entries"][number]["seq"]], (number, path, found)
            tried += 1
    assert tried > 50


def test_no_field_can_be_taken_out_or_put_in(record: Document) -> None:
    for number, entry in enumerate(record["entries"]):
        for name in entry:
            changed = bent(record)
            del changed["entries"][number][name]
            assert number in [at for at, _message in faults(changed)], (number, name)
        changed = bent(record)
        changed["entries"][number]["more"] = 1
        assert number in [at for at, _message in faults(changed)]


def test_no_entry_can_be_taken_out_but_the_last(record: Document) -> None:
    for number in range(len(record["entries"]) - 1):
        changed = bent(record)
        del changed["entries"][number]
        assert faults(changed) == [(number, "is missing")]
    del record["entries"][1:3]
    assert faults(record) == [(1, "is missing, and all up to entry 2")]


def test_none_can_stand_twice_or_elsewhere(record: Document) -> None:
    count = len(record["entries"])
    for number in range(count):
        twice = bent(record)
        twice["entries"].insert(number, twice["entries"][number])
        assert [at for at, _message in faults(twice)] == [number]
        for place in range(count):
            if place != number:
                moved = bent(record)
                moved["entries"].insert(place, moved["entries"].pop(number))
                assert faults(moved), (number, place)


def test_an_entry_of_another_session_is_no_entry(record: Document) -> None:
    stranger = Learner(seed=2).record()
    record["entries"][2] = stranger["entries"][2]
    assert [at for at, _message in faults(record)] == [2]


def test_an_entry_with_its_hashes_put_right_is_still_not_signed(record: Document) -> None:
    record["entries"][1]["steps"]["groups"]["groups-check"] = "passed"
    for before, after in zip(record["entries"][1:], record["entries"][2:], strict=False):
        after["prev"] = digest(before)
    assert [at for at, _message in faults(record)] == [1, 2, 3, 4]


def test_two_histories_of_one_session_do_not_fit_together(record: Document) -> None:
    another = Learner(told=[start(at=0), check(at=10), check("groups", at=20), check(at=30)]).record()
    record["entries"][2:] = another["entries"][2:]
    [(at, message)] = faults(record)
    assert at == 2
    assert message.startswith("does not follow from what stands before it")


@pytest.mark.parametrize("name", ["format", "lab", "session", "learner", "bond"])
def test_no_field_of_the_head_can_be_changed(record: Document, name: str) -> None:
    record["head"][name] = other(record["head"][name])
    assert faults(record)


def test_another_learner_can_not_vouch_afterwards(record: Document) -> None:
    thief = key(77)
    record["head"]["learner"] = thief.public
    unsigned = {name: value for name, value in record["head"].items() if name != "bond"}
    record["head"]["bond"] = thief.sign("bond", unsigned)
    assert [at for at, _message in faults(record)] == [0], "the first entry holds the hash of the head"


@pytest.mark.parametrize("head", [None, [], {}, {"format": 1}, {"format": 9, "lab": "", "session": "", "learner": ""}])
def test_a_head_that_is_none(record: Document, head: Any) -> None:
    record["head"] = head
    assert [at for at, _message in faults(record)] == [None]


@pytest.mark.parametrize("entry", [None, 1, "text", [], {}, {"seq": "0"}, {"seq": 0, "sig": 1}])
def test_an_entry_that_is_none(record: Document, entry: Any) -> None:
    record["entries"][0] = entry
    assert faults(record)[0][0] == 0


@pytest.mark.parametrize(
    "content",
    [
        {"at": "now"},
        {"at": 5},
        {"at": "0001-01-01T00:00:00.000Z"},
        {"at": "2026-13-01T00:00:00.000Z"},
        {"steps": 3},
        {"steps": {"a": []}},
        {"lab": "lab-b"},
    ],
)
def test_nonsense_that_the_session_itself_signed(content: Document) -> None:
    told = [start(at=0), {**check(at=5), **content}]
    [(at, message)] = faults(Learner(told=told).record())
    assert at == 1
    assert message.startswith("is no entry of this version, or of another lab")


def test_a_clock_that_went_back_is_no_fault_but_seen() -> None:
    record = Learner(told=[start(at=100), check(at=50), check(at=60)]).record()
    assert faults(record) == []
    assert clock_went_back(record["entries"]) == [1]


def test_a_signature_fits_its_purpose_only() -> None:
    one = key(1)
    signature = one.sign("entry", {"a": 1})
    assert fits(one.public, "entry", {"a": 1}, signature)
    assert not fits(one.public, "seal", {"a": 1}, signature)
    assert not fits(one.public, "entry", {"a": 2}, signature)
    assert not fits(key(2).public, "entry", {"a": 1}, signature)
    for nonsense in (None, 5, "", "!!", "AAAA", signature[:-4]):
        assert not fits(one.public, "entry", {"a": 1}, nonsense)
    assert not fits("no key", "entry", {"a": 1}, signature)
