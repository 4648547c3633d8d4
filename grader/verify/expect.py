"""What the results of checks must be at each point of a verification, and what is said where they are not.

Owns these rules; runs nothing. A problem names the check and what it saw, so that an author need not run it
again to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.lab.model import Lab
    from grader.results import Result


def dependents(lab: Lab, check: str) -> frozenset[str]:
    """Every check that is skipped while `check` does not pass, over any number of `after`."""
    found = {check}
    grown = True
    while grown:
        more = {one.id for step in lab.steps for one in step.checks if one.id not in found and found & {*one.after}}
        grown = bool(more)
        found |= more
    return frozenset(found - {check})


def nothing_passes(results: Iterable[Result]) -> list[str]:
    """Problems of a lab in which nothing has been done."""
    return [
        _("{check} passes although nothing has been done").format(check=result.check)
        for result in results
        if result.state is State.PASSED
    ]


def all_pass(results: Iterable[Result]) -> list[str]:
    """Problems where everything looked at should pass; errors are not the lab's and left out."""
    return [
        _("{check} does not pass: {why}").format(check=result.check, why=why(result))
        for result in results
        if result.state not in (State.PASSED, State.ERROR)
    ]


def exactly_one_fails(results: Iterable[Result], check: str, skipped: frozenset[str]) -> list[str]:
    """Problems of a wrong answer that `check` must catch: its dependents are skipped, the rest passes."""
    return list(_exactly(results, check, skipped))


def errors(results: Iterable[Result]) -> list[Result]:
    """The results that nobody can judge a lab by."""
    return [result for result in results if result.state is State.ERROR]


def fallen(lab: Lab, before: Mapping[str, float], results: Iterable[Result]) -> tuple[list[str], list[str]]:
    """Of checks that passed with what was achieved and do not without: (those that may, problems).

    `hold: once` may; `hold: now` is looked at each time, so it must pass both times.
    """
    may, problems = [], []
    for result in results:
        if result.state in (State.PASSED, State.ERROR):
            continue
        hold = lab.check(result.check)[1].hold
        if hold == "once" and result.check in before:
            may.append(result.check)
        else:
            problems += all_pass([result])
    return may, problems


def differs(own: Iterable[Result], others: Iterable[Result], values: str) -> list[str]:
    """A problem where the same answers pass with the `values` of somebody else as they do with one's own."""
    passed = {result.check for result in own if result.state is State.PASSED}
    still = {result.check for result in others if result.state is State.PASSED}
    if passed - still:
        return []
    message = _("what was made for these values passes with {values} too: an answer can be copied")
    return [message.format(values=values)]


def why(result: Result) -> str:
    """What a check saw, in one line."""
    seen = result.finding.saw or result.finding.wanted or result.says
    match result.state:
        case State.WAITING:
            return _("still waiting after {seconds} s: {seen}").format(seconds=round(result.seconds), seen=seen)
        case State.SKIPPED:
            return _("skipped: {seen}").format(seen=seen)
    return seen


def _word(state: State) -> str:
    return {
        State.PASSED: _("passed"),
        State.FAILED: _("failed"),
        State.WAITING: _("waiting"),
        State.SKIPPED: _("skipped"),
        State.ERROR: _("error"),
    }[state]


def _exactly(results: Iterable[Result], check: str, skipped: frozenset[str]) -> Iterator[str]:
    for result in results:
        if result.state is State.ERROR:
            continue
        if result.check == check:
            if result.state is State.PASSED:
                yield _("{check} passes on this wrong answer").format(check=check)
            elif result.state is not State.FAILED:
                yield _("{check} does not fail on this wrong answer, it is {state}: {why}").format(
                    check=check, state=_word(result.state), why=why(result)
                )
        elif result.check in skipped:
            if result.state is not State.SKIPPED:
                yield _("{check} comes after {named} and should be skipped, it is {state}").format(
                    check=result.check, named=check, state=_word(result.state)
                )
        elif result.state is not State.PASSED:
            yield _("{check} does not pass either: {why}").format(check=result.check, why=why(result))
