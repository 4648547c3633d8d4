"""What a check answers, as data: five states, and words for what was wanted, seen, and where.

Owns the result model that reports, progress and the TUI read; knows nothing of how a check works.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """passed · failed · waiting (not true yet, controllers still move) · skipped (after another) · error (ours)."""

    PASSED = "passed"
    FAILED = "failed"
    WAITING = "waiting"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why a check did not pass, in the language in force. Never the answer itself."""

    wanted: str = ""
    saw: str = ""
    where: tuple[str, ...] = ()
    """Object paths (`Pod infer/llm-0-1`), `file:line`, `history 12:03:11 to 12:03:40` (local time)."""
    look_at: str = ""
    """A command or field the learner can look at next."""
    why: str = ""
    """The well-known cause behind it, in one sentence; empty where there is none (see `grader.diagnosis`)."""
    plain: bool = False
    """What was seen is itself the mistake, so no cause is looked for: something was written otherwise than asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one evaluation of a check kind says. `moving`: the failure may still turn true by itself."""

    passed: bool
    finding: Finding = field(default_factory=Finding)
    moving: bool = False
    evidence: tuple[str, ...] = ()
    """What was looked at, one line each (for `--explain` and `--json`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One check of one run."""

    check: str
    step: int
    step_id: str
    says: str
    state: State
    finding: Finding = field(default_factory=Finding)
    seconds: float = 0.0
    weight: int = 1
    achieved: float | None = None
    """Unix time at which a `hold: once` check first passed; None if never or not held."""
    evidence: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """What was read for it: objects with their versions, files with their digests, entries of the history."""
    decided: tuple[str, ...] = ()
    """Which comparison decided, in words that tell no answer."""
    our_bug: bool = False
    """With `State.ERROR`: the grader itself failed (exit code 4), not the cluster or the machine (3)."""
    lab_fault: bool = False
    """With `State.ERROR`: a file of the lab is wrong, or took more than it may (exit code 2)."""
