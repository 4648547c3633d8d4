"""What happened while a machine came up, as a file that anybody may follow.

Owns the line format of `run/boot.jsonl`; written by PID 1 only, read by `cluster.local` and `--timings`.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from cluster.machine import BootEvent

READY = "READY"
"""The task name of the last event of a start that worked."""
FAILED = "FAILED"
"""The task name of the last event of one that did not; `detail` says why."""


class EventLog:
    """Appends events; seconds count from `began` (monotonic)."""

    def __init__(self, path: Path, began: float) -> None:
        self._path = path
        self._began = began
        self._lock = threading.Lock()

    def write(
        self,
        task: str,
        state: Literal["started", "ready", "failed", "note"],
        detail: str = "",
        objects: int | None = None,
    ) -> None:
        """One event, now."""
        seconds = round(time.monotonic() - self._began, 3)
        event = BootEvent(task=task, state=state, seconds=seconds, detail=detail, objects=objects)
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps(asdict(event)) + "\n")


def read_events(path: Path, offset: int = 0) -> tuple[list[BootEvent], int]:
    """Whole events from byte `offset` on, and where to go on from; nothing where there is no file yet."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    return [BootEvent(**json.loads(line)) for line in whole.splitlines()], offset + len(whole)
