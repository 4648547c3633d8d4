"""Asking the recorder whether the history has all that the cluster has.

Owns the client's side of the recorder's socket; see `server` for the other.
"""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.unix_address import short_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_GRACE = 0.25  # seconds an answer may take on its way beyond the time the recorder was given


@dataclass(frozen=True, slots=True)
class Synced:
    """What the recorder answered."""

    synced: bool
    """Whether every change that the API server had at `at` is in the history."""
    at: float = 0.0
    """When it was asked: Unix seconds of the recorder's clock; 0.0 if it did not answer."""
    behind: tuple[str, ...] = ()
    """The kinds that were not up to date in time."""

    @property
    def answered(self) -> bool:
        """Whether there is a recorder that is ready."""
        return self.at > 0.0


def wait_synced(address: Path, deadline: float = 2.0, kinds: Iterable[str] = ()) -> Synced:
    """Wait until all that has happened in the cluster is in the history, at most `deadline` seconds.

    `address` is the recorder's socket; `kinds` are the ones that matter (none named: all), and naming them is
    quicker. Never raises: a recorder that is not there or not ready has not answered.
    """
    until = time.monotonic() + deadline + _GRACE
    try:
        with socket.socket(socket.AF_UNIX) as connection, short_path(address) as path:
            connection.settimeout(deadline + _GRACE)
            connection.connect(path)
            with connection.makefile("rb") as answers:
                if answers.readline() != b"ready\n":
                    return Synced(False)
                connection.sendall(" ".join(["sync", f"{deadline:.3f}", *kinds]).encode() + b"\n")
                connection.settimeout(max(until - time.monotonic(), 0.001))
                answer = json.loads(answers.readline())
        return Synced(bool(answer["synced"]), float(answer["at"]), tuple(map(str, answer["behind"])))
    except (OSError, ValueError, KeyError, TypeError):
        return Synced(False)
