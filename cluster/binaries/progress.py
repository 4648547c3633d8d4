"""What a long making of binaries tells the person who waits.

Owns the event and the plain printer of it; knows nothing of what is being made.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TextIO

from cluster.i18n import _

BuildState = Literal["waiting", "started", "running", "done", "failed", "note"]
_STILL_EVERY = 60.0  # seconds between two lines about the same task where lines can't be rewritten


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEvent:
    """One task (a program's name, `manifests`, `images`, a file of a bundle) and how far it is.

    `waiting` and `note` are about no task of the list: their `index` and `total` are 0 and `detail` is a
    whole sentence. `running` repeats about once a second.
    """

    task: str
    state: BuildState
    index: int = 0
    total: int = 0
    seconds: float = 0.0
    """Seconds that this task has taken so far."""
    elapsed: float = 0.0
    """Seconds since the first task began."""
    detail: str = ""


Progress = Callable[[BuildEvent], None]


def silent(event: BuildEvent) -> None:
    """A `Progress` that says nothing."""


class PlainProgress:
    """A `Progress` that writes one line for each task to `stream`.

    On a terminal the line of the running task is rewritten in place; elsewhere a task that takes long says
    once a minute that it is still at work, so that a log shows life.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rewrite = stream.isatty()
        self._open = False
        self._said = 0.0

    def __call__(self, event: BuildEvent) -> None:
        if event.state in ("waiting", "note"):
            self._line(event.detail)
        elif event.state == "started":
            self._said = 0.0
            if self._rewrite:
                self._part(_progress_line(event))
        elif event.state == "running":
            if self._rewrite:
                self._part(_progress_line(event))
            elif event.seconds - self._said >= _STILL_EVERY:
                self._said = event.seconds
                self._line(_progress_line(event))
        else:
            self._line(_progress_line(event))

    def _part(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
        self._open = True

    def _line(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}\n" if self._open else f"{text}\n")
        self._stream.flush()
        self._open = False


def _progress_line(event: BuildEvent) -> str:
    ends = {"done": "", "failed": _("failed")}.get(event.state, "…")
    line = f"[{event.index:>2}/{event.total}] {event.task:<26} {_right(duration(event.seconds), 8)}"
    whole = _("{time} so far").format(time=duration(event.elapsed))
    return f"{line} {ends:<2}({whole})" if ends != _("failed") else f"{line} {ends}"


def _right(text: str, cells: int) -> str:
    """`text` at the right end of so many terminal cells: Hangul takes two each."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return text.rjust(cells - wide)


def duration(seconds: float) -> str:
    """`seconds` for people: `7 s`, `12 m 05 s`."""
    whole = round(seconds)
    if whole < 60:
        return _("{seconds} s").format(seconds=whole)
    return _("{minutes} m {seconds:02d} s").format(minutes=whole // 60, seconds=whole % 60)
