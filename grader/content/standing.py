"""How far a learner is on a course's path.

Owns when a stop is done and which one comes next; is told what was read and passed, and reads no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from grader.content.model import Article, Course, Item
    from grader.lab.model import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One stop of the path and what the learner did there."""

    item: Item
    title: str
    """Its id where its file can't be read."""
    passed: int
    """Steps of a lab that passed at some time; 1 for an article that was read."""
    total: int
    """Steps of a lab; 1 for an article, 0 where its file can't be read."""
    ready: bool
    """Whether all that it comes after is done."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do there."""
        return 0 < self.total <= self.passed


def standings(
    course: Course,
    *,
    articles: Mapping[str, Article],
    labs: Mapping[str, Lab],
    read: Collection[str],
    passed: Mapping[str, Collection[str]],
) -> list[Standing]:
    """Every stop in order. `read`: ids of articles; `passed`: lab id → ids of its steps that ever passed."""
    found: list[Standing] = []
    for item in course.path:
        about = articles.get(item.id) if item.kind == "article" else labs.get(item.id)
        steps = [step.id for step in labs[item.id].steps] if item.id in labs else []
        done = {standing.item.id for standing in found if standing.done}
        found.append(
            Standing(
                item=item,
                title=about.title if about else item.id,
                passed=int(item.id in read)
                if item.kind == "article"
                else sum(step in passed.get(item.id, ()) for step in steps),
                total=int(about is not None) if item.kind == "article" else len(steps),
                ready=done.issuperset(item.after),
            )
        )
    return found


def next_stop(path: list[Standing]) -> Standing | None:
    """The first stop that is not done and whose turn it is; None where all are done."""
    open_stops = [standing for standing in path if not standing.done]
    return next((standing for standing in open_stops if standing.ready), open_stops[0] if open_stops else None)


def minutes_left(path: list[Standing]) -> int:
    """What the stops that are not done take; a lab that was begun counts by its open steps."""
    left = 0.0
    for standing in path:
        if not standing.done:
            share = standing.passed / standing.total if standing.total else 0
            left += standing.item.minutes * (1 - share)
    return round(left)
