"""Timelines for tests: feeds that answer at once, from kept histories."""

from __future__ import annotations

from cluster.errors import Problem
from grader.history.model import Change, Gap
from grader.timeline.build import TimelineBuilder
from grader.timeline.model import Timeline
from tests import histories


class PretendedTimeline:
    """A `TimelineFeed` in which a test makes time go on."""

    def __init__(self, changes: list[Change], namespace: str = "infer") -> None:
        self.changes, self.namespace = changes, namespace
        self.live = False
        self.more = 0.0
        self.gaps: tuple[Gap, ...] = ()
        self.trouble: Problem | None = None
        self.looks = 0
        self.closed = False

    def look(self) -> Timeline:
        self.looks += 1
        if self.trouble is not None:
            raise self.trouble
        builder = TimelineBuilder(self.namespace)
        builder.add(self.changes)
        last = self.changes[-1].at if self.changes else 1_796_046_700.0
        return builder.timeline(last + self.more, live=self.live, gaps=self.gaps)

    def again(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def recorded(name: str, namespace: str) -> PretendedTimeline:
    """The timeline of a kept history."""
    return PretendedTimeline(histories.load(name), namespace)
