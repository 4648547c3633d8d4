"""The catalogue, put together from what `grader` knows of labs, articles, courses and progress.

Owns the arrangement: courses in their order, then what belongs to none. Blocking; runs in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cluster import local
from cluster.errors import UsageProblem
from cluster.i18n import _, language
from tui.backend.model import Catalogue, Entry, MachineState, Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.collections.model import Collection
    from grader.content.model import Article
    from grader.lab.model import Lab

    Passed = Mapping[str, Mapping[str, float]]

_Loaded = TypeVar("_Loaded")


def read_catalogue(read_lab: Callable[[str], Lab], read_article: Callable[[str], Article]) -> Catalogue:
    """What there is and how far the learner is; what can't be read is left out and said."""
    from grader.cli.common import articles_read, books
    from grader.collections.store import installed
    from grader.content.catalogue import article_ids, course_ids, load_course
    from grader.content.standing import minutes_left, next_stop, standings
    from grader.lab.catalogue import every_lab_id

    notes: list[str] = []
    labs = _loaded(read_lab, every_lab_id(), notes)
    articles = _loaded(read_article, article_ids(), notes)
    read = articles_read()
    passed = {name: record.steps for name, record in books().items()}
    shelves: list[Shelf] = []
    following = ""
    seen: set[str] = set()
    for course in _loaded(load_course, course_ids(), notes).values():
        path = standings(course, articles=articles, labs=labs, read=read, passed=passed)
        done = {one.item.id for one in path if one.done}
        entries = []
        for standing in path:
            name, after = standing.item.id, standing.item.after
            waits = tuple(one for one in after if one not in done)
            if name in labs and standing.item.kind == "lab":
                entries.append(lab_entry(labs[name], passed, standing.item.minutes, after=after, waits_for=waits))
            elif name in articles:
                entries.append(article_entry(articles[name], read=name in read, after=after, waits_for=waits))
        then = next_stop(path)
        following = following or (then.item.id if then else "")
        seen |= {standing.item.id for standing in path}
        shelves.append(
            Shelf(
                title=course.title[language()],
                summary=course.summary[language()],
                entries=tuple(entries),
                minutes_left=minutes_left(path),
            )
        )
    rest = [
        lab_entry(lab, passed, lab.minutes) for name, lab in labs.items() if name not in seen and not lab.collection
    ]
    rest += [article_entry(one, read=name in read) for name, one in articles.items() if name not in seen]
    if rest:
        left = sum(entry.minutes for entry in rest if not entry.done)
        shelves.append(Shelf(title="", summary="", entries=tuple(rest), minutes_left=left, is_course=False))
    shelves += [_collection_shelf(one, labs, passed) for one in installed(notes.append)]
    return Catalogue(shelves=tuple(shelves), next=following, notes=tuple(notes))


def _collection_shelf(collection: Collection, labs: Mapping[str, Lab], passed: Passed) -> Shelf:
    """The labs of a collection; its title says whether they may be run."""
    title = _("Collection {name}") if collection.accepted else _("Collection {name}, not accepted yet")
    entries = tuple(lab_entry(lab, passed, lab.minutes) for lab in labs.values() if lab.collection == collection.name)
    return Shelf(
        title=title.format(name=collection.name),
        summary=collection.origin.location,
        entries=entries,
        minutes_left=sum(entry.minutes for entry in entries if not entry.done),
        is_course=False,
    )


def lab_entry(
    lab: Lab, passed: Passed, minutes: int, *, after: tuple[str, ...] | None = None, waits_for: tuple[str, ...] = ()
) -> Entry:
    """A lab; `after` as its course has it, else as it says itself."""
    steps = tuple((step.title, step.id in passed.get(lab.id, ())) for step in lab.steps)
    return Entry(
        kind="lab",
        id=lab.id,
        title=lab.title,
        minutes=minutes,
        passed=sum(done for _title, done in steps),
        total=len(steps),
        waits_for=waits_for,
        after=lab.after if after is None else after,
        summary=lab.intro.split("\n\n", 1)[0],
        needs_root=lab.needs_root,
        machine=_machine(lab.id),
        steps=steps,
    )


def article_entry(
    article: Article, *, read: bool, after: tuple[str, ...] = (), waits_for: tuple[str, ...] = ()
) -> Entry:
    """An article."""
    return Entry(
        kind="article",
        id=article.id,
        title=article.title,
        minutes=article.minutes,
        passed=int(read),
        total=1,
        waits_for=waits_for,
        after=after,
        summary=article.summary,
    )


def _machine(lab_id: str) -> MachineState:
    from grader.session.places import session_home

    home = session_home(lab_id)
    return local.status(home).state if home.is_dir() else "stopped"


def _loaded(load: Callable[[str], _Loaded], names: list[str], notes: list[str]) -> dict[str, _Loaded]:
    found: dict[str, _Loaded] = {}
    for name in names:
        try:
            found[name] = load(name)
        except UsageProblem as problem:
            notes.append(_("{name} is left out: {problem}").format(name=name, problem=problem.message))
    return found
