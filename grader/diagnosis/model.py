"""A diagnosis as data.

Owns what one consists of; knows nothing of how it is found or shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Whose it is: the learner's objects; our environment's; nobody's (it only has to wait)."""

    LEARNER = "learner"
    ENVIRONMENT = "environment"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One object that was looked at."""

    object: str
    """`Workload team-a/job-big-95806`."""
    says: str
    """What it says of the matter, in one line; messages of the cluster are quoted as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A well-known cause."""

    id: str
    """Stable: `never-fits`."""
    says: str
    """What is the matter, in the language in force. Never what a lab wants for an answer."""
    where: tuple[str, ...] = ()
    """The objects it is read from."""
    look_at: str = ""
    """A command that shows it."""
    fault: Fault = Fault.LEARNER


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found about one object."""

    of: str
    """The object asked about."""
    state: str
    """How it is, in one sentence, whether or not something is wrong."""
    chain: tuple[Link, ...]
    """From what decides to what is decided."""
    cause: Cause | None = None
    """None: nothing is wrong, or it is nothing well-known."""
    healthy: bool = False
    """Whether it is as it should be, as far as can be told."""
