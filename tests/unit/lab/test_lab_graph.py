"""Labs and checks in the order of what comes before what; cycles."""

from __future__ import annotations

from grader.lab.graph import circles, in_order


def test_order_is_by_what_comes_before_and_then_by_name() -> None:
    assert in_order({"d": ["b"], "c": [], "b": ["c"], "a": ["d"], "e": []}) == ["c", "b", "d", "a", "e"]


def test_names_that_are_not_in_the_graph_hold_nothing_up() -> None:
    assert in_order({"b": ["gone"], "a": ["b"]}) == ["b", "a"]


def test_circles_come_last_and_lose_nobody() -> None:
    assert in_order({"a": ["b"], "b": ["a"], "c": [], "d": ["a"], "e": ["e"]}) == ["c", "a", "b", "d", "e"]


def test_each_circle_once_from_its_first_name() -> None:
    graph = {"x": ["c"], "a": ["b"], "b": ["c"], "c": ["a"], "p": ["q"], "q": ["p"], "s": ["s"], "t": ["a"]}
    assert circles(graph) == [["a", "b", "c"], ["p", "q"], ["s"]]


def test_no_circle_where_two_ways_meet() -> None:
    assert circles({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": [], "e": ["gone"]}) == []


def test_a_long_chain_is_no_crash() -> None:
    chain = {str(number): [str(number + 1)] for number in range(5000)}
    assert circles(chain) == []
    assert circles({**chain, "5000": ["4999"]}) == [["4999", "5000"]]
