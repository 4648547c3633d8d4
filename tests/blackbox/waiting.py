"""Waiting for what a condition or a stream says, with an end to it."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from collections.abc import Callable

_POLL = 0.05


def until(condition: Callable[[], object], seconds: float = 30.0, what: str = "") -> None:
    """Return as soon as `condition` is true; fail when it is not within `seconds`."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what or condition}"
        pause.wait(_POLL)


class Stream:
    """What a descriptor gives, as it comes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.text = ""

    def read_until(self, word: str, seconds: float = 60.0) -> str:
        """Everything up to and including `word`, counted from the end of the last call."""
        deadline = time.monotonic() + seconds
        while word not in self.text:
            left = deadline - time.monotonic()
            assert left > 0, f"no {word!r} within {seconds} s; there was:\n{self.text}"
            if not select.select([self._descriptor], [], [], left)[0]:
                continue
            try:
                chunk = os.read(self._descriptor, 65536)
            except OSError:  # how a pseudo-terminal says that nobody writes any more
                chunk = b""
            assert chunk, f"it ended without {word!r}:\n{self.text}"
            self.text += chunk.decode(errors="replace")
        before, found, self.text = self.text.partition(word)
        return before + found


def stream_of(process: subprocess.Popen[bytes], name: str = "stdout") -> Stream:
    """The stream of that name of a process begun with pipes."""
    pipe = process.stdout if name == "stdout" else process.stderr
    assert pipe is not None
    return Stream(pipe.fileno())
