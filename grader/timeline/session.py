"""The timeline of a session: read from its history, whether or not its machine still runs.

Owns which file that is, and until when it is complete; knows nothing of how it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.collections.address import lab_of_folder
from grader.history.synced import wait_synced
from grader.history.tail import HistoryTail
from grader.session.places import history_file, recorder_socket
from grader.timeline.build import KINDS, TimelineBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from grader.timeline.model import Timeline

_RECORDER_SECONDS = 1.0
"""How long the recorder may take to catch up; it is milliseconds behind."""


class SessionTimeline:
    """The timeline of the session in `home`, whose lab works in `namespace`, as it grows.

    `look` blocks for milliseconds, at most a second: call it from a thread, one at a time.
    """

    def __init__(self, home: Path, namespace: str) -> None:
        self._home, self._namespace = home, namespace
        self._tail = HistoryTail(history_file(home), KINDS)
        self._builder = TimelineBuilder(namespace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def look(self) -> Timeline:
        """All that was recorded. EnvironmentProblem: there is no history, or it can't be read just now."""
        live = local.status(self._home).state in ("running", "starting")
        synced = wait_synced(recorder_socket(self._home), _RECORDER_SECONDS, ("Pod",)) if live else None
        news = self._tail.look()
        if news.anew:
            self._builder = TimelineBuilder(self._namespace)
        self._builder.add(news.changes)
        # What the recorder does not vouch for is not shown as if it were known.
        now = synced.at if synced is not None and synced.synced else news.until
        return self._builder.timeline(now, live=live, gaps=news.gaps)

    def again(self) -> None:
        """Have the next look begin anew: its sentences are in the language in force when they were read."""
        self._tail.close()

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()


def session_timeline(home: Path, namespace: str) -> Timeline:
    """The same at once, for who looks once. EnvironmentProblem: nothing was recorded, or it can't be read."""
    if not history_file(home).exists():
        raise EnvironmentProblem(
            _("nothing of {lab} has been recorded").format(lab=lab_of_folder(home.name)),
            _("start it: {command}").format(command=f"grader start {lab_of_folder(home.name)}"),
        )
    with SessionTimeline(home, namespace) as found:
        return found.look()
