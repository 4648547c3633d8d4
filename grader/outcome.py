"""How the results of checks add up: to the state of a step, to a run, to an exit code.

Owns these sums, so that reports, progress, verification and the TUI never count differently; knows nothing
of how a result came about or how it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.results import Result

EXIT_PASSED: Final = 0
EXIT_NOT_PASSED: Final = 1
EXIT_LAB: Final = 2
EXIT_ENVIRONMENT: Final = 3
EXIT_BUG: Final = 4

_WORST_FIRST = (State.ERROR, State.FAILED, State.WAITING, State.SKIPPED)


def step_state(states: Iterable[State]) -> State:
    """The state of a step from its checks': the worst of error, failed, waiting, skipped; else passed.

    A step without any result was not looked at: skipped.
    """
    seen = set(states)
    if not seen:
        return State.SKIPPED
    return next((state for state in _WORST_FIRST if state in seen), State.PASSED)


def states_by_step(results: Iterable[Result]) -> dict[str, State]:
    """Step id → state, in the order in which the steps first appear in `results`."""
    checks: dict[str, list[State]] = {}
    for result in results:
        checks.setdefault(result.step_id, []).append(result.state)
    return {step: step_state(states) for step, states in checks.items()}


def exit_code(results: Iterable[Result]) -> int:
    """What a command that checked ends with.

    0 all passed · 1 something failed, waits or was skipped, or nothing was looked at · 3 something could
    not be judged because the cluster or the machine failed · 4 because we did · 2 because the lab is wrong itself.
    Ours outrank the learner's: a broken grader must not read as a failed exercise.
    """
    results = list(results)
    errors = [result for result in results if result.state is State.ERROR]
    if any(result.our_bug for result in errors):
        return EXIT_BUG
    if errors:
        return EXIT_LAB if all(result.lab_fault for result in errors) else EXIT_ENVIRONMENT
    passed = bool(results) and all(result.state is State.PASSED for result in results)
    return EXIT_PASSED if passed else EXIT_NOT_PASSED
