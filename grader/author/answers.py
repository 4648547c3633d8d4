"""The right answers of a lab that is solved: what learners have to find out, as the session shows it.

Owns what counts as an answer; where one is told is `grader.author.told`'s business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.errors import Problem
from grader.author.expected import expectations
from grader.checks.python import Python
from grader.checks.records import Records
from grader.checks.work import FileTrouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.base import Check
    from grader.checks.world import World
    from grader.lab.model import Lab


def answers(lab: Lab, world: World) -> Iterator[tuple[str, str]]:
    """(check, right answer) for everything that comes from the cluster and is to be written into a file."""
    for step in lab.steps:
        for check in step.checks:
            try:
                rendered = [one.value for one in expectations(check, world) if one.answer and one.value]
            except Problem:
                continue  # a gap in the history, say: the check itself tells of that
            lines = _written(check, world)
            if isinstance(check.kind, Records):
                lines, rendered = [*lines, *rendered], []
            found = [*rendered, *(value for line in lines for value in values(line))]
            yield from ((check.id, value) for value in found)


def values(line: str) -> list[str]:
    """What is found out in one line: of several `key=value` words the values but the first, which names the object
    that the line is about; of a single one its value; else the whole of it."""
    words = line.split()
    if len(words) > 1 and all("=" in word for word in words):
        return [word.partition("=")[2] for word in words[1:]]
    key, found, value = line.partition("=")
    if found and not set(key.strip()) & set(" \t:"):
        return [value.strip()] if value.strip() else []
    return [line]


def _written(check: Check, world: World) -> list[str]:
    """The lines of the file of a check that a function of the lab judges: nobody else knows what is right there."""
    kind = check.kind
    name = kind.arguments.get("file") if isinstance(kind, Python) else None
    if not isinstance(name, str):
        return []
    try:
        lines = world.work.read(name).lines
    except FileTrouble:
        return []
    return [line.text.strip() for line in lines if not line.text.lstrip().startswith("#")]
