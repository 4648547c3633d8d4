"""What each check expects, rendered with a session's own objects: the author's view, answers included.

Owns how the expectations of every kind of check are listed. Never shown to a learner: a verdict says what was
wanted without the answer (`grader.checks`), and this is for who wrote the answer. It runs nothing of the lab's:
commands and functions are named, not carried out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.answer import Answer
from grader.checks.exec import Exec
from grader.checks.file import FileCheck
from grader.checks.happened import Happened
from grader.checks.moments import moments, scenes
from grader.checks.objects import terminating, the_one, title
from grader.checks.python import Python
from grader.checks.quotes import POD_MESSAGE, Quotes
from grader.checks.records import Records
from grader.checks.resource import Resource
from grader.checks.resources import Resources
from grader.checks.templates import BadTemplateError, NoValueError, is_template, render
from grader.checks.work import FileTrouble, WorkFolder
from grader.checks.world import World
from grader.history.reader import HistoryReader
from grader.session.places import history_file, work_folder

if TYPE_CHECKING:
    from pathlib import Path

    from grader.checks.base import Check, TimedRef
    from grader.checks.objects import Object
    from grader.checks.timed_file import TimedFile
    from grader.lab.model import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One thing a check wants."""

    what: str
    """What it is about: `where.txt: node`, `Pod hello/hello: match`."""
    source: str
    """As the lab says it."""
    value: str | None
    """Rendered; None where the session does not show it."""
    trouble: str = ""
    """Why there is no value."""
    answer: bool = False
    """Whether it is what a learner has to find out: it comes from the cluster, and is written into a file."""


def expectations(check: Check, world: World | None) -> list[Expected]:
    """What `check` wants; without a world as the lab says it, without values."""
    kind = check.kind
    match kind:
        case Answer():
            given = dict(kind.values)
            return _in_scene(kind.file, given, kind.refs, world, kind.file, answers=True)
        case Records():
            return _of_objects(kind, world)
        case Quotes():
            return _of_message(kind, world)
        case FileCheck():
            return _of_file(kind, world)
        case Resource():
            title = kind.of.title(world.namespace if world else "")
            if kind.absent:
                return [_plain(title, _("gone, after it was there"))]
            live = world.get(kind.of) if world else None
            given = dict(_leaves(kind.match or {}))
            return _in_scene(title, given, kind.refs, world, "", extra=live) or [_plain(title, _("it is there"))]
        case Resources():
            return _of_selection(kind, world)
        case Exec():
            command = kind.run.strip() or " ".join(kind.command)
            place = _("in Pod {pod}").format(pod=kind.pod) if kind.pod else _("where the learner works")
            plain = [_plain(place, f"{command}  →  {_('exit code {code}').format(code=kind.exit)}")]
            wanted = {f"{number}": text for number, text in enumerate(kind.templates(), start=1)}
            return plain + _in_scene(_("it prints"), wanted, kind.refs, world, "")
        case Happened():
            given = kind.form.model_dump(by_alias=True, exclude_defaults=True)
            name = next(name for name, value in kind.model_dump().items() if value is not None)
            return [_plain(f"{name}: {path}", str(value)) for path, value in _leaves(given)]
        case Python():
            arguments = ", ".join(f"{name}={value!r}" for name, value in kind.arguments.items())
            return [_plain("checks.py", f"{kind.function}({arguments})")]
    return [_plain(kind.name, repr(kind))]


@contextmanager
def session_world(home: Path, lab: Lab) -> Iterator[World]:
    """The session in `home` as its recorder knows it, running or stopped, read on the host.

    Kinds that are not recorded have no objects here. EnvironmentProblem: it has no history.
    """
    with HistoryReader(history_file(home)) as history:
        yield World(
            cluster=_Recorded(history),
            history=history,
            work=WorkFolder(work_folder(home)),
            namespace=lab.namespace,
            lab_folder=lab.folder,
            checks={check.id: check for step in lab.steps for check in step.checks},
        )


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The cluster as it stood when the recorder last heard of it."""

    history: HistoryReader

    def list_page(self, api_version: str, kind: str, namespace: str | None = None) -> tuple[list[Object], str]:
        """The objects of a kind, by the history."""
        return self.history.at(kind, time.time(), namespace=namespace, api_version=api_version), ""


# -- kinds ------------------------------------------------------------------------------------------------


def _of_file(kind: FileCheck, world: World | None) -> list[Expected]:
    given: dict[str, Any] = {}
    given |= {_("line {number}").format(number=n): line for n, line in enumerate(kind.lines, start=1)}
    given |= {_("mentions {number}").format(number=n): text for n, text in enumerate(kind.mentions, start=1)}
    given |= {_("nowhere {number}").format(number=n): text for n, text in enumerate(kind.not_mentions, start=1)}
    if kind.yaml:
        given |= dict(_leaves(kind.yaml.match))
    found = _in_scene(kind.file, given, kind.refs, world, kind.file, answers=True)
    hidden = {text for text in kind.mentions if is_template(text)}
    marked = [one if one.source in hidden else replace(one, answer=False) for one in found]
    return marked or [_plain(kind.file, _("it is there and not empty"))]


def _of_objects(kind: Records, world: World | None) -> list[Expected]:
    what = _("{file}: a line for each of {objects}").format(
        file=kind.file, objects=kind.each.title(world.namespace if world else "")
    )
    objects = _moment_objects(kind, world)
    if world is None or not objects:
        trouble = "" if world is None else _("there is none")
        return [Expected(what=what, source=kind.line, value=None, trouble=trouble)]
    lines = [_plain(what, kind.line)]
    for obj in objects:
        value, trouble = _rendered(kind.line, {"namespace": world.namespace, **obj})
        # The template stands above once; a line that can't be rendered is called by its object.
        source = title(obj) if value is None else value
        lines.append(Expected(what="", source=source, value=value, trouble=trouble, answer=True))
    return lines


def _of_message(kind: Quotes, world: World | None) -> list[Expected]:
    source = kind.message or POD_MESSAGE
    what = _("{file}: quotes {object}").format(file=kind.file, object=kind.of.title(world.namespace if world else ""))
    told = the_one(_moment_objects(kind, world))
    if world is None or told is None:
        trouble = "" if world is None else _("there is none")
        return [Expected(what=what, source=source, value=None, trouble=trouble)]
    value, trouble = _rendered(source, {"namespace": world.namespace, **told})
    return [Expected(what=what, source=source, value=value, trouble=trouble, answer=True)]


def _of_selection(kind: Resources, world: World | None) -> list[Expected]:
    title = kind.of.title(world.namespace if world else "")
    found = []
    if kind.count is not None:
        count = kind.count if isinstance(kind.count, int) else kind.count.model_dump(exclude_none=True)
        found.append(_plain(f"{title}: count", str(count)))
    for name, wanted in (("all", kind.every), ("some", kind.some), ("none", kind.none)):
        if wanted is not None:
            found += _in_scene(f"{title}: {name}", dict(_leaves(wanted)), kind.refs, world, "")
    found += [_plain(f"{title}: same", path) for path in kind.same]
    if kind.spread is not None:
        spread = kind.spread.model_dump(exclude_none=True)
        found.append(_plain(f"{title}: spread", ", ".join(f"{key}={value}" for key, value in spread.items())))
    return found


# -- rendering --------------------------------------------------------------------------------------------


def _moment_objects(kind: TimedFile, world: World | None) -> list[Object]:
    """The objects at the first moment that has any: now, when the file was written, before an incident."""
    if world is None:
        return []
    ref = kind.each if isinstance(kind, Records) else kind.of if isinstance(kind, Quotes) else None
    assert ref is not None
    for moment in moments(kind, ref, world, _written(kind.file, world)):
        objects = [one for one in moment.select(ref, world) if moment.at is not None or not terminating(one)]
        if objects:
            return objects
    return []


def _in_scene(
    what: str,
    given: Mapping[str, Any],
    refs: Mapping[str, TimedRef],
    world: World | None,
    file: str,
    *,
    extra: Object | None = None,
    answers: bool = False,
) -> list[Expected]:
    """`given` (what → source) with the objects of the first scene that has all of them."""
    context: Mapping[str, Any] | None = None
    missing: Sequence[str] = ()
    if world is not None:
        for scene in scenes(refs, world, _written(file, world)):
            if not scene.missing:
                context = {**(extra or {}), **scene.context}
                break
            missing = missing or scene.missing
    made = []
    for key, source in given.items():
        template = isinstance(source, str) and is_template(source)
        value: str | None = str(source)
        trouble = ""
        if template and context is None:
            value = None
            trouble = _("no {objects}").format(objects=", ".join(missing)) if missing else ""
        elif template and context is not None:
            value, trouble = _rendered(source, context)
        made.append(
            Expected(
                what=f"{what}: {key}", source=str(source), value=value, trouble=trouble, answer=answers and template
            )
        )
    return made


def _written(file: str, world: World) -> float | None:
    """When the learner's file was written; None where there is none."""
    with suppress(FileTrouble):
        return world.work.read(file).mtime if file else None
    return None


def _rendered(source: str, context: Mapping[str, Any]) -> tuple[str | None, str]:
    try:
        return render(source, context).strip(), ""
    except NoValueError as lack:
        return None, lack.detail
    except BadTemplateError as error:
        return None, str(error)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # JSON
    """Every value of a partial object with its path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def _plain(what: str, text: str) -> Expected:
    return Expected(what=what, source=text, value=text)
