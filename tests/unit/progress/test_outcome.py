"""How states add up."""

from __future__ import annotations

import pytest

from grader.outcome import exit_code, states_by_step, step_state
from grader.results import Result, State

P, F, W, S, E = State.PASSED, State.FAILED, State.WAITING, State.SKIPPED, State.ERROR


def result(state: State, step: str = "s", our_bug: bool = False) -> Result:
    return Result(check="c", step=1, step_id=step, says="", state=state, our_bug=our_bug)


@pytest.mark.parametrize(
    ("states", "expected"),
    [([P, P], P), ([P, S], S), ([W, S, P], W), ([W, F, S], F), ([F, E, W], E), ([], S)],
)
def test_step_takes_the_worst(states: list[State], expected: State) -> None:
    assert step_state(states) is expected


def test_steps_keep_their_order() -> None:
    results = [result(P, "b"), result(P, "a"), result(F, "b")]
    assert list(states_by_step(results).items()) == [("b", F), ("a", P)]


@pytest.mark.parametrize(
    ("states", "code"),
    [([P, P], 0), ([P, F], 1), ([P, W], 1), ([P, S], 1), ([F, E], 3), ([E], 3), ([], 1)],
)
def test_exit_codes(states: list[State], code: int) -> None:
    assert exit_code(map(result, states)) == code


def test_our_bug_outranks_everything() -> None:
    assert exit_code([result(F), result(E), result(E, our_bug=True)]) == 4
