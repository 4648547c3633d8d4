"""What a record tells of one learner."""

from __future__ import annotations

from typing import Any

import pytest

from grader.classroom.standing import Standing, standing_of
from tests.classes import BEGIN, STEPS, Document, check, hint, ordinary, start


def standing(*told: Document, order: tuple[str, ...] = STEPS) -> Standing:
    return standing_of("lab-toy", told, order)


def test_where_a_learner_is() -> None:
    found = standing(*ordinary(2))
    assert (found.at, found.passed, found.finished) == ("restart", 2, None)
    assert (found.started, found.last) == (BEGIN, BEGIN + 1200)
    assert found.checks == 3
    assert found.values == {"replicas": 3}


def test_what_each_step_took() -> None:
    found = standing(
        start(at=0),
        check(at=60),
        hint("groups", at=120),
        check("groups", at=180),
        check("groups", at=200),
        check("groups", "names", at=300),
        check("groups", "names", at=300 + 3600),
        check("groups", "names", "restart", at=4000),
        check(*STEPS, at=4100),
    )
    steps = found.steps
    assert [(step.tries, step.hints, step.seconds) for step in steps.values()] == [
        (1, 1, 180.0),
        (1, 0, 120.0),
        (1, 0, 100.0),
    ], "an hour's pause is no work, and what comes after the end is none either"
    assert [step.passed for step in steps.values()] == [BEGIN + 180, BEGIN + 300, BEGIN + 4000]
    assert found.finished == BEGIN + 4000
    assert found.seconds == 400.0


def test_a_check_that_found_the_same_is_a_try() -> None:
    same = {**check(at=90), "same": True}
    del same["steps"]
    assert standing(start(at=0), check(at=60), same, {**same, "counted": False}).steps["groups"].tries == 2


def test_who_only_watches_tries_nothing() -> None:
    found = standing(start(at=0), check(at=60, counted=False), check("groups", at=90, counted=False))
    assert (found.checks, found.steps["groups"].tries) == (0, 0)
    assert found.steps["groups"].passed == BEGIN + 90


def test_what_passed_once_has_passed_whatever_comes_later() -> None:
    found = standing(start(at=0), check("groups", at=60), start(at=90, again=True, replicas=4), check(at=100))
    assert (found.passed, found.resets, found.at) == (1, 1, "names")
    assert found.values == {"replicas": 4}


def test_a_step_out_of_order() -> None:
    found = standing(start(at=0), check("restart", at=60))
    assert (found.at, found.passed) == ("groups", 1)


def test_of_a_lab_that_is_not_known_here_the_record_has_the_order() -> None:
    one = check(at=60)
    one["steps"] = {"names": {"a": "failed"}}
    found = standing(start(at=0), one, check("groups", at=70), order=())
    assert list(found.steps) == list(STEPS)


def test_steps_that_the_lab_no_longer_has_do_not_count() -> None:
    assert list(standing(*ordinary(3), order=("names",)).steps) == ["names"]


def test_nothing_was_done() -> None:
    found = standing()
    assert (found.at, found.passed, found.last, found.seconds) == ("groups", 0, None, 0.0)
    assert standing(order=()).finished is None


def test_a_clock_that_goes_back_costs_no_time() -> None:
    assert standing(start(at=100), check(at=50), check(at=60)).seconds == 10.0


@pytest.mark.parametrize(
    "nonsense",
    [
        {"what": "check", "steps": {"groups": {}}},
        {"what": "check", "steps": {"groups": {"a": 3}}},
        {"what": "check", "steps": {f"step-{number}": {"a": "passed"} for number in range(10_000)}},
        {"what": "check", "steps": None},
        {"what": "hint", "step": ["groups"]},
        {"what": "start", "drawn": "all"},
        {"what": 5},
        {},
    ],
)
def test_nonsense_that_a_learner_signed(nonsense: dict[str, Any]) -> None:
    found = standing({"at": check(at=1)["at"], **nonsense}, order=())
    assert found.passed <= 100
    assert len(found.steps) <= 100
