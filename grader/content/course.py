"""From the file of a course to a `Course`.

Owns what must fit together within one course; whether its articles and labs exist is for lint to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.content.matter import CourseMatter, words_at
from grader.content.model import Course, Item
from grader.lab.frontmatter import read_versioned, repeated
from grader.lab.problems import LabProblem, did_you_mean, read_source
from grader.lab.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.lab.located import Located


@dataclass(frozen=True, slots=True)
class Reading:
    """A course's file as far as it could be read; what is wrong with it has been told."""

    matter: CourseMatter | None
    """None where anything in it is wrong."""
    written: Located


def parse_course(file: Path) -> tuple[Course | None, list[LabProblem]]:
    """The course in `file`; None where anything is wrong with it, and then all of that, sorted by place."""
    found: list[LabProblem] = []
    reading = read_course(file, found)
    if reading is None or reading.matter is None or found:
        return None, sorted(set(found))
    matter = reading.matter
    path = tuple(
        Item(kind="lab" if item.lab else "article", id=item.id, minutes=item.minutes, after=item.after)
        for item in matter.path
    )
    course = Course(id=matter.course, title=matter.title.model_dump(), summary=matter.summary.model_dump(), path=path)
    return course, []


def read_course(file: Path, found: list[LabProblem]) -> Reading | None:
    """The course in `file`; None where it can't be read at all."""
    source = read_source(file, found)
    written = None if source is None else read_versioned(source, found)
    if written is None:
        return None
    matter = validate(CourseMatter, written.value, written, found)
    said = written.value.get("course")
    if matter is not None and said != file.stem:
        message = _("course '{said}' is not the name of its file, '{name}'").format(said=said, name=file.stem)
        found.append(written.problem(("course",), message))
    found += _path(written)
    return Reading(matter, written)


def _path(written: Located) -> Iterator[LabProblem]:
    """Each stop once, and behind what it comes after. Reads the plain value: a fault elsewhere hides none of these."""
    stops = [(path, _stop(entry)) for path, entry in words_at(written.value, "path")]
    yield from repeated(written, [((*path, kind), name) for path, (kind, name) in stops])
    names = [name for _path, (_kind, name) in stops]
    for number, (path, _entry) in enumerate(stops):
        after = words_at(written.value["path"][number], "after")
        yield from repeated(written, [((*path, *place), name) for place, name in after])
        for place, name in after:
            if not isinstance(name, str) or name in names[:number]:
                continue
            message = _("no stop '{name}' on this path").format(name=name)
            if name in names:
                message = _("'{name}' does not stand before this stop").format(name=name)
            else:
                message += did_you_mean(name, filter(None, names[:number]))
            yield written.problem((*path, *place), message)


def _stop(entry: Any) -> tuple[str, str]:
    """(kind, id) of a stop as it was written; blank where it has none."""
    for kind in ("article", "lab"):
        name = entry.get(kind) if isinstance(entry, dict) else None
        if isinstance(name, str):
            return kind, name
    return "article", ""
