"""What a cell is asked to run, and how that ended, as data that crosses a process boundary.

Owns the two documents; how a cell is made and bounded is `cluster.sandbox.script_cell`'s, what a script's end means
is its caller's. Scripts come from labs, and labs from anybody.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from cluster.i18n import _

Cause = Literal["", "time", "output", "memory", "processes", "files", "start"]
"""What ended a script before it ended by itself: it ran out of time, of output, of memory or of processes; the work
folder was too large to be shown to it; it could not be started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One script: the name it is called by, and its text."""

    name: str
    text: str
    seconds: float = 30.0
    """How long it may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Scripts to run one after the other in one cell, until one of them fails.

    `library`: further files beside them, by name. With `keeps`, what they leave in the work folder becomes the
    learner's, and they may change the cluster; without, they look at a copy and may only read.
    """

    scripts: tuple[Script, ...]
    env: dict[str, str] = field(default_factory=dict)
    library: dict[str, str] = field(default_factory=dict)
    keeps: bool = False

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Order:
        """The inverse of `to_json`. ValueError, KeyError or TypeError where it is none."""
        raw = json.loads(text)
        return cls(**{**raw, "scripts": tuple(Script(**script) for script in raw["scripts"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the last script that ran ended. `exit`: its exit code, 128 + n where signal n ended it; None where it was
    ended for `cause`. `output`: the end of what it said, both streams together."""

    script: str
    exit: int | None
    cause: Cause = ""
    output: str = ""
    refused: str = ""
    """What the cluster refused it, in kubectl's words, wherever the script sent those."""

    @property
    def good(self) -> bool:
        """It ended by itself, with 0."""
        return self.exit == 0 and not self.cause

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Ending:
        """The inverse of `to_json`. ValueError, KeyError or TypeError where it is none."""
        return cls(**json.loads(text))


def why_ended(ending: Ending) -> str:
    """What ended a script that did not end by itself, one sentence."""
    sentences = {
        "time": _("{script} was ended: it took too long"),
        "output": _("{script} was ended: it said more than 1 MiB"),
        "memory": _("{script} ran out of memory"),
        "processes": _("{script} started more processes than it may"),
        "files": _("{script} can't be run: the work folder holds more than 48 MiB or 10000 files"),
        "start": _("{script} can't be run: its place could not be made"),
        "": _("{script} ended"),
    }
    return sentences[ending.cause].format(script=ending.script)
