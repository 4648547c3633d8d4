"""The timeline of a session: read from its history, whether or not its machine still runs.

Owns which file that is, and until when it is complete; knows nothing of how it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster import local
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.history.synced import wait_synced
from grader.history.tail import HistoryTail
from grader.session.places import history_file, recorder_socket
from grader.timeline.build import KINDS, TimelineBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from grader.timeline.model import Timeline

_RECORDER_SECONDS = 1.0
"""How long the recorder may take to catch up; it is milliseconds behind."""


def session_timeline(home: Path, namespace: str) -> Timeline:
    """All that was recorded of the session in `home`, whose lab works in `namespace`.

    EnvironmentProblem: there is no history, or it can't be read.
    """
    if not history_file(home).exists():
        raise EnvironmentProblem(
            _("nothing of {lab} has been recorded").format(lab=home.name),
            _("start it: {command}").format(command=f"grader start {home.name}"),
        )
    live = local.status(home).state in ("running", "starting")
    synced = wait_synced(recorder_socket(home), _RECORDER_SECONDS, ("Pod",)) if live else None
    with HistoryTail(history_file(home), KINDS) as tail:
        news = tail.look()
    builder = TimelineBuilder(namespace)
    builder.add(news.changes)
    # What the recorder does not vouch for is not shown as if it were known.
    now = synced.at if synced is not None and synced.synced else news.until
    return builder.timeline(now, live=live, gaps=news.gaps)
