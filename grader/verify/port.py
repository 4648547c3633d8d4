"""What a verification needs of a running lab, and nothing more.

Owns the `Driver` protocol; `grader.verify.driver` drives a real session, tests a pretended one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grader.lab.values import Value
    from grader.results import Result


class Driver(Protocol):
    """One running lab of our own. Every method may raise a `Problem`: then its state is unknown."""

    def reset(self) -> None:
        """Begin the lab again; return when it is ready."""

    def run_script(self, script: Path) -> tuple[int, str]:
        """Run a script with bash at the learner's place; its exit code and the end of its output."""

    def check(self, steps: Sequence[str] | None, achievements: Mapping[str, float]) -> list[Result]:
        """Check these steps (None: all), with exactly these achievements remembered (check → Unix time)."""

    def snapshot_work(self) -> None:
        """Keep the work folder as it is now, times of files included; an earlier snapshot is forgotten."""

    def use_values(self, values: Mapping[str, Value]) -> None:
        """From now on these are the session's values: for scripts and checks at once, in start objects after the
        next reset."""

    def restore_work(self) -> None:
        """Put the work folder back as it was kept, in place."""

    def answers(self) -> list[tuple[str, str]]:
        """(check, right answer) of what learners have to find out, as the lab shows it now."""

    def keep(self) -> str:
        """Leave it running at the end, for a person to look at; its session folder."""
