"""`grader course`: ordered paths of articles and labs, and how far the learner is on one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from cluster.errors import UsageProblem
from cluster.i18n import _, language
from grader.cli.commands import N_, Command, Group, complete, json_option
from grader.cli.common import articles_read, books, note, print_document, read_lab

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from grader.content.model import Article, Course
    from grader.content.standing import Standing
    from grader.lab.model import Lab

_Loaded = TypeVar("_Loaded")
LIST, SHOW = (
    N_("The courses, and how far you are."),
    N_("The articles and labs of a course, in the order to do them, and what you have done."),
)


class CourseName(click.ParamType[str]):
    """A course's id; whether there is such a course is for the command to say."""

    name: ClassVar[str] = "course"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The courses' files, unread."""
        from grader.content.catalogue import course_ids

        del ctx, param
        return complete(course_ids(), incomplete)


@click.group(
    cls=Group,
    name="course",
    sections=((N_("Commands"), (("list", LIST), ("show", SHOW))),),
    help=N_("Courses: articles and labs in an order in which each builds on the ones before."),
)
def command() -> None:
    """The group of these two."""


@command.command("list", cls=Command, help=LIST)
@json_option()
def list_courses(as_json: bool) -> int:
    """Load every course and count what is done."""
    from grader.content.catalogue import course_ids, load_course

    courses = [course for name in course_ids() if (course := _or_none(load_course, name)) is not None]
    paths = _paths(courses)
    if as_json:
        from grader.cli.content_documents import CoursesDocument

        contents = [_head(course, path) for course, path in zip(courses, paths, strict=True)]
        print_document(CoursesDocument, {"courses": contents})
    elif courses:
        click.echo(_table(courses, paths), nl=False)
    else:
        click.echo(_("there are no courses"))
    return 0


@command.command("show", cls=Command, help=SHOW)
@click.argument("course", required=False, type=CourseName())
@json_option()
def show(course: str | None, as_json: bool) -> int:
    """Load the course that is meant and print its path."""
    from grader.content.catalogue import load_course

    found = load_course(course or _only_one())
    [path] = _paths([found])
    if as_json:
        from grader.cli.content_documents import CourseDocument

        print_document(CourseDocument, _head(found, path) | {"path": [_stop(standing) for standing in path]})
    else:
        click.echo(_page(found, path), nl=False)
    return 0


def _only_one() -> str:
    from grader.content.catalogue import course_ids

    known = course_ids()
    if len(known) != 1:
        raise UsageProblem(_("say which course you mean"), _("`grader course list` shows the courses"))
    return known[0]


# -- what was done ------------------------------------------------------------------------------------


def _paths(courses: list[Course]) -> list[list[Standing]]:
    """The paths of the courses, each article and lab read once."""
    from grader.content.catalogue import load_article
    from grader.content.standing import standings

    articles: dict[str, Article | None] = {}
    labs: dict[str, Lab | None] = {}
    for course in courses:
        for item in course.path:
            if item.kind == "article" and item.id not in articles:
                articles[item.id] = _or_none(lambda name: load_article(name, language()), item.id)
            elif item.kind == "lab" and item.id not in labs:
                labs[item.id] = _or_none(read_lab, item.id)
    book = books()
    return [
        standings(
            course,
            articles={name: article for name, article in articles.items() if article is not None},
            labs={name: lab for name, lab in labs.items() if lab is not None},
            read=articles_read(),
            passed={lab: record.steps for lab, record in book.items()},
        )
        for course in courses
    ]


def _or_none(load: Callable[[str], _Loaded], name: str) -> _Loaded | None:
    """What `load` reads; None, and why on stderr, where its files are wrong."""
    try:
        return load(name)
    except UsageProblem as problem:
        note(_("{name} is left out: {problem}").format(name=name, problem=problem.message))
        return None


# -- as text ------------------------------------------------------------------------------------------


def _table(courses: list[Course], paths: list[list[Standing]]) -> str:
    from rich.cells import cell_len

    from grader.report.layout import hanging, pad, width_of, wrap

    done = [_done(path) for path in paths]
    names = max(len(course.id) for course in courses) + 2
    column = names + max(map(cell_len, done)) + 2
    room = max(20, width_of(sys.stdout) - column)
    lines = []
    for course, text in zip(courses, done, strict=True):
        texts = [*wrap(_spoken(course.title), room), *wrap(_spoken(course.summary), room)]
        lines += hanging(pad(course.id, names) + text, texts, 0, column)
    return "\n".join(lines) + "\n"


def _page(course: Course, path: list[Standing]) -> str:
    from rich.cells import cell_len

    from grader.content.standing import minutes_left, next_stop
    from grader.report.layout import hanging, pad, width_of, wrap, wrap_items
    from grader.report.progress_report import duration

    width = width_of(sys.stdout)
    times = _("{all} in all, {left} to go").format(
        all=duration(course.minutes * 60), left=duration(minutes_left(path) * 60)
    )
    lines = [*wrap(_spoken(course.title), width), *wrap(_spoken(course.summary), width)]
    lines += [*wrap_items((course.id, _done(path), times), width), ""]
    states = [_state(standing) for standing in path]
    names = max(len(standing.item.id) for standing in path) + 2
    column = max(map(cell_len, states)) + 2
    for number, (standing, state) in enumerate(zip(path, states, strict=True), start=1):
        minutes = _("{minutes} min").format(minutes=standing.item.minutes)
        start = f"{number:>3}  {pad(state, column)}{pad(minutes, 8)}{pad(standing.item.id, names)}"
        lines += hanging(start, wrap(standing.title, max(20, width - len(start))), 0, cell_len(start))
    following = next_stop(path)
    if following is not None:
        verb = "read" if following.item.kind == "article" else "start"
        lines += ["", _("next: {command}").format(command=f"grader {verb} {following.item.id}")]
    return "\n".join(lines) + "\n"


def _state(standing: Standing) -> str:
    if standing.done:
        return _("done")
    if standing.passed:
        return _("{passed} of {total}").format(passed=standing.passed, total=standing.total)
    return "-"


def _done(path: list[Standing]) -> str:
    return _("{done} of {total} done").format(done=sum(standing.done for standing in path), total=len(path))


def _spoken(text: Any) -> str:
    return str(text[language()])


# -- as data ------------------------------------------------------------------------------------------


def _head(course: Course, path: list[Standing]) -> dict[str, Any]:
    return {
        "id": course.id,
        "title": _spoken(course.title),
        "summary": _spoken(course.summary),
        "minutes": course.minutes,
        "progress": {"passed": sum(standing.done for standing in path), "total": len(path)},
    }


def _stop(standing: Standing) -> dict[str, Any]:
    return {
        "kind": standing.item.kind,
        "id": standing.item.id,
        "title": standing.title,
        "minutes": standing.item.minutes,
        "after": standing.item.after,
        "done": standing.done,
        "ready": standing.ready,
        "passed": standing.passed,
        "total": standing.total,
    }
