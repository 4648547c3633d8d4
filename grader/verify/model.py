"""What verifying a lab found, as data.

Owns the parts of a verification and how they add up; knows nothing of how a part is carried out or shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from grader.outcome import EXIT_BUG, EXIT_ENVIRONMENT, EXIT_NOT_PASSED, EXIT_PASSED


class Phase(StrEnum):
    """text: what can be told without a cluster · start: nothing is done yet · solution: one step of it · memory: the
    solved lab, with and without what was achieved before · answers: the text does not tell them · wrong: one wrong
    answer · reset: the start again · values: all of it with other values, and that an answer made for others does not
    pass."""

    TEXT = "text"
    START = "start"
    SOLUTION = "solution"
    MEMORY = "memory"
    ANSWERS = "answers"
    WRONG = "wrong"
    RESET = "reset"
    VALUES = "values"


class PartOutcome(StrEnum):
    """ok · defect (the lab is wrong) · error (the machine, the cluster or we failed) · not run."""

    OK = "ok"
    DEFECT = "defect"
    ERROR = "error"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing a lab must prove."""

    phase: Phase
    name: str = ""
    """The step of a solution, the folder of a wrong answer, the values (`replicas=4`); else empty."""
    check: str = ""
    """With WRONG: the check that must fail."""
    says: str = ""
    """With WRONG: what is wrong with the answer."""
    outcome: PartOutcome
    problems: tuple[str, ...] = ()
    """What is wrong, in the language in force; the output of a script that failed as further lines."""
    notes: tuple[str, ...] = ()
    """What an author should know although nothing is wrong."""
    fault: Literal["", "environment", "bug"] = ""
    """With ERROR: whose."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyEvent:
    """A part begins (`part` is None) or has ended; for progress on a terminal."""

    phase: Phase
    name: str
    number: int
    """Counts from 1."""
    total: int
    part: Part | None = None


OnEvent = Callable[[VerifyEvent], None]


@dataclass(slots=True, kw_only=True)
class Spent:
    """What a verification spent its time on, in seconds; the little that is left is our own."""

    start: float = 0.0
    """Until the lab was ready for the first time."""
    resets: float = 0.0
    scripts: float = 0.0
    """Solutions and wrong answers."""
    checks: float = 0.0
    pauses: float = 0.0
    """Between two looks at a check that still waits."""
    stop: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """One verification of one lab. `at` is when it ended (Unix time); `seconds` begin with its start and end with its
    stop."""

    lab: str
    title: str
    at: float
    seconds: float
    parts: tuple[Part, ...]
    whole: bool
    """Whether everything was asked for; else only some wrong answers were."""
    unproven: tuple[str, ...] = ()
    """Checks that no wrong answer made fail, those apart whose wrong answers were not run: nothing shows that they can.
    Known only if `whole`."""
    only_by_achievement: tuple[str, ...] = ()
    """Checks that no longer hold on the solved lab, and pass because they once did."""
    resets: int = 0
    spent: Spent = field(default_factory=Spent)
    trouble: str = ""
    """What went wrong when its session was stopped."""
    our_bug: bool = False
    """Whether that was our own failure."""
    kept: str = ""
    """The session folder that was left running, because a part failed and it was asked for; else empty."""

    @property
    def exit_code(self) -> int:
        """0 proved · 1 the lab has a defect · 3 the machine or cluster failed · 4 we did."""
        errors = [part for part in self.parts if part.outcome is PartOutcome.ERROR]
        if self.our_bug or any(part.fault == "bug" for part in errors):
            return EXIT_BUG
        if errors or self.trouble:
            return EXIT_ENVIRONMENT
        fine = self.parts and all(part.outcome is PartOutcome.OK for part in self.parts)
        return EXIT_PASSED if fine else EXIT_NOT_PASSED

    def count(self, outcome: PartOutcome) -> int:
        """How many parts ended so."""
        return sum(part.outcome is outcome for part in self.parts)
