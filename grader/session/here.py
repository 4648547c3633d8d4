"""Where this process runs: on the host, in a lab's shell, or as the examiner's child inside the sandbox.

Owns that one answer, because the same commands run in all three places and do different things: on the host
they may start and stop machines; in a lab's shell they can only ask the examiner; the examiner's child sees
the session folder and the cluster. Knows nothing of what the commands do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.collections.address import lab_of_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

INSIDE = "BATCHLAB_INSIDE"
"""Environment variable of a lab's shell: the lab's id."""
INSIDE_SOCKET = Path("/run/batchlab/desk/grader.sock")
"""Where a lab's shell finds its examiner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What an examiner's child was given: the session folder, and files the asking side opened for it."""

    home: Path
    files: Mapping[str, int] = field(default_factory=dict)
    """Name → descriptor. The asking side lives in another mount namespace, so a path would say nothing."""

    @property
    def lab(self) -> str:
        """The lab of the session, as its folder is called."""
        return lab_of_folder(self.home.name)


_examination: Examination | None = None


def become_examiner(home: Path, files: Mapping[str, int] | None = None) -> None:
    """From now on this process answers for the session in `home`."""
    global _examination  # noqa: PLW0603  # a process is in one place for its whole life
    _examination = Examination(home=home, files=dict(files or {}))


def examination() -> Examination | None:
    """What this process examines; None on the host and in a lab's shell."""
    return _examination


def shell_of() -> str:
    """The lab in whose shell this process runs; "" elsewhere."""
    return "" if _examination else os.environ.get(INSIDE, "")
