"""What a person sees while a machine comes up.

Owns the lines on stderr: one that is rewritten where stderr is a terminal, one for each thing that became
ready elsewhere. Knows nothing of what is started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from cluster.i18n import _
from cluster.supervisor.events import FAILED, READY
from grader.session.lifecycle import SESSION_TASK

if TYPE_CHECKING:
    from cluster.machine import BootEvent


class BootDisplay:
    """A receiver of boot events that shows them on `stream` and remembers how long each task took."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._open = False
        self._began: dict[str, float] = {}
        self.took: dict[str, float] = {}
        """Task → seconds from its start to its end, in the order in which they ended."""
        self.seconds = 0.0
        """Seconds of the last event: how long the start took, at its end."""

    def __call__(self, event: BootEvent) -> None:
        """Show one event."""
        if event.state == "host":
            return
        if event.state == "note":
            whose = "" if event.task == SESSION_TASK else f"{event.task}: "
            self._line(f"grader: {whose}{event.detail}")
            return
        self.seconds = max(self.seconds, event.seconds)
        if event.task in (READY, FAILED):
            self.end()  # the command says it in its own words
            return
        if event.state == "started":
            self._began[event.task] = event.seconds
        else:
            began = self._began.pop(event.task, event.seconds)
            self.took[event.task] = event.seconds - began
        if event.state == "failed":
            self._line(_("{seconds:5.1f} s  {task} failed").format(seconds=event.seconds, task=event.task))
        elif self._live:
            self._part(self._summary())
        elif event.state == "ready":
            self._line(_("{seconds:5.1f} s  {task} ready").format(seconds=event.seconds, task=event.task))

    @property
    def rewrites(self) -> bool:
        """Whether a line can be shown until something else is said."""
        return self._live

    def live(self, text: str) -> None:
        """Show `text` until something else is said; a line of its own where lines can't be rewritten."""
        if self._live:
            self._part(text)
        else:
            self._line(text)

    def end(self) -> None:
        """Take the live line away; what comes next begins on a clean one."""
        if self._open:
            self._write("\r\x1b[K")
            self._open = False

    def _summary(self) -> str:
        waiting = ", ".join(self._began)
        return _("{seconds:5.1f} s  {count} ready; starting {tasks}").format(
            seconds=self.seconds, count=len(self.took), tasks=waiting or "…"
        )

    def _part(self, text: str) -> None:
        from grader.report.layout import cut, width_of

        self._write(f"\r\x1b[K{cut(text, width_of(self._stream) - 1)}")
        self._open = True

    def _line(self, text: str) -> None:
        self.end()
        self._write(text + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
