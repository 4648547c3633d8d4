"""How far one is on a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.content import catalogue
from grader.content.standing import Standing, minutes_left, next_stop, standings
from grader.lab.catalogue import load_lab


@pytest.fixture
def path_of(content: Path) -> object:
    del content
    course = catalogue.load_course("first-steps")
    articles = {name: catalogue.load_article(name) for name in ("pods", "more-pods")}
    lab = load_lab("lab-toy")

    def path(*read: str, passed: tuple[str, ...] = ()) -> list[Standing]:
        return standings(course, articles=articles, labs={"lab-toy": lab}, read=read, passed={"lab-toy": passed})

    return path


def test_nothing_done(path_of) -> None:  # type: ignore[no-untyped-def]  # a function made above
    path = path_of()
    assert [(stop.title, stop.done, stop.ready, stop.passed, stop.total) for stop in path] == [
        ("A pod: the smallest thing", False, True, 0, 1),
        ("A first pod", False, False, 0, 2),
        ("More pods", False, False, 0, 1),
    ]
    assert next_stop(path) is path[0]
    assert minutes_left(path) == 18


def test_on_the_way(path_of) -> None:  # type: ignore[no-untyped-def]  # a function made above
    path = path_of("pods", passed=("hello", "a-step-that-is-gone"))
    assert [(stop.done, stop.ready, stop.passed) for stop in path] == [
        (True, True, 1),
        (False, True, 1),
        (False, False, 0),
    ]
    assert next_stop(path) is path[1]
    assert minutes_left(path) == 8


def test_read_ahead(path_of) -> None:  # type: ignore[no-untyped-def]  # a function made above
    path = path_of("more-pods", passed=("hello", "bye"))
    assert [stop.done for stop in path] == [False, True, True]
    assert next_stop(path) is path[0]


def test_all_done(path_of) -> None:  # type: ignore[no-untyped-def]  # a function made above
    path = path_of("pods", "more-pods", passed=("hello", "bye"))
    assert next_stop(path) is None
    assert minutes_left(path) == 0


def test_a_stop_whose_file_is_gone_is_never_done(content: Path) -> None:
    path = standings(catalogue.load_course("first-steps"), articles={}, labs={}, read=["pods"], passed={})
    assert [(stop.title, stop.done, stop.total) for stop in path] == [
        ("pods", False, 0),
        ("lab-toy", False, 0),
        ("more-pods", False, 0),
    ]
    assert next_stop(path) is path[0]
