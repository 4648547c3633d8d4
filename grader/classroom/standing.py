"""What the record of one session tells: how far its learner is, and what each step took.

Owns the reading of entries; only what a record holds counts, never the figures that stand beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from grader.progress.book import LONGEST_PAUSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_STEPS = 100
"""Of a lab that is not known here: a record may name any number."""


@dataclass(slots=True, kw_only=True)
class StepStanding:
    """One step. `seconds` are those at work while it was the first step that had not passed."""

    passed: float | None = None
    """When it first passed (Unix time)."""
    tries: int = 0
    """Checks that somebody asked for and that it did not pass, before it first did."""
    hints: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Standing:
    """One learner in one lab. Times are Unix seconds, of the learner's own clock."""

    lab: str
    steps: dict[str, StepStanding] = field(default_factory=dict)
    """In the lab's order."""
    started: float | None = None
    last: float | None = None
    checks: int = 0
    resets: int = 0
    content: str = ""
    """Digest of the lab's files at the last entry."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was drawn for the learner."""

    @property
    def passed(self) -> int:
        """How many steps passed at some time."""
        return sum(step.passed is not None for step in self.steps.values())

    @property
    def at(self) -> str:
        """The first step that never passed; "" where all did."""
        return next((name for name, step in self.steps.items() if step.passed is None), "")

    @property
    def finished(self) -> float | None:
        """When the last step first passed, if all did."""
        times = [step.passed for step in self.steps.values()]
        return max((at for at in times if at is not None), default=None) if times and None not in times else None

    @property
    def seconds(self) -> float:
        """Time at work until all had passed, pauses of more than a quarter of an hour left out."""
        return sum(step.seconds for step in self.steps.values())


def standing_of(lab: str, entries: Sequence[Mapping[str, Any]], order: Sequence[str] = ()) -> Standing:
    """What `entries` tell of one learner; `order`: the steps of the lab, where it is known here."""
    found = Standing(lab=lab)
    names = list(order) or _order_in(entries)
    found.steps = {name: StepStanding() for name in names}
    before: float | None = None
    for entry in entries:
        at = _time(entry["at"])
        if before is not None and 0.0 < at - before <= LONGEST_PAUSE and (here := found.at):
            found.steps[here].seconds += at - before
        before = at
        found.started = at if found.started is None else found.started
        found.last = at
        found.content = str(entry.get("content", ""))
        _note(found, entry, at)
    return found


def _note(found: Standing, entry: Mapping[str, Any], at: float) -> None:
    match entry.get("what"):
        case "start" | "reset" as what:
            found.resets += what == "reset"
            drawn = entry.get("drawn")
            found.values = drawn if isinstance(drawn, dict) else {}
        case "hint":
            if (step := found.steps.get(str(entry.get("step")))) is not None:
                step.hints += 1
        case "check":
            counted, here = bool(entry.get("counted")), found.at
            found.checks += counted
            steps = entry.get("steps")
            if entry.get("same") and here:
                found.steps[here].tries += counted
            for name, checks in steps.items() if isinstance(steps, dict) else ():
                _note_step(found.steps.get(name), checks, at, counted=counted and name == here)


def _note_step(step: StepStanding | None, checks: Any, at: float, *, counted: bool) -> None:
    """Only the first open step is tried: a check of a whole lab looks at those behind it, too."""
    if step is None or step.passed is not None or not isinstance(checks, dict) or not checks:
        return
    if all(state == "passed" for state in checks.values()):
        step.passed = at
    else:
        step.tries += counted


def _order_in(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The steps as the entry has them that looked at most of them."""
    told = [list(entry["steps"]) for entry in entries if isinstance(entry.get("steps"), dict)]
    names = max(told, key=len, default=[])
    return list(dict.fromkeys([*names, *(name for steps in told for name in steps)]))[:MOST_STEPS]


def _time(text: Any) -> float:
    return datetime.fromisoformat(str(text)).timestamp()
