"""How a verdict came about, in words that a learner may read: which comparison decided.

Owns these sentences. They never tell an answer: objects are called as the check calls them, because the name of one
may be what is asked for, and of a value that comes from the cluster it is told whether it was right, never what it is.
What a check expects, rendered, is for authors (`grader.author.expected`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.answer import Answer
from grader.checks.exec import Exec
from grader.checks.file import FileCheck
from grader.checks.happened import Happened
from grader.checks.python import Python
from grader.checks.quotes import Quotes
from grader.checks.records import Records
from grader.checks.resource import Resource
from grader.checks.resources import Resources
from grader.checks.words import listed
from grader.results import Finding, State

if TYPE_CHECKING:
    from grader.checks.base import Check, CheckKind
    from grader.results import Result


def decided(check: Check, result: Result, *, looks: int, namespace: str) -> tuple[str, ...]:
    """What decided about a check that was looked at."""
    if result.state is State.PASSED:
        return (*_right(check.kind, result, namespace), *_once(check))
    if result.state not in (State.FAILED, State.WAITING):
        return ()
    return (*_wrong(result.finding), *_patience(check, result, looks))


def _wrong(finding: Finding) -> Iterator[str]:
    if finding.wanted:
        yield _("wanted {wanted}").format(wanted=finding.wanted)
    if finding.saw:
        yield _("saw {saw}").format(saw=finding.saw)


def _patience(check: Check, result: Result, looks: int) -> Iterator[str]:
    if result.state is State.WAITING:
        yield _("something is on its way, so this may still turn true; its {seconds} s were over").format(
            seconds=check.within
        )
    elif looks > 1:
        yield _("nothing is on its way any more, so waiting would not help; looked at {looks} times").format(
            looks=looks
        )
    else:
        yield _("nothing is on its way, so waiting would not help")


def _once(check: Check) -> Iterator[str]:
    if check.hold == "once":
        yield _("it stays passed, whatever becomes of this later")
    else:
        yield _("it is looked at anew each time")


def _right(kind: CheckKind, result: Result, namespace: str) -> Iterator[str]:
    match kind:
        case Answer():
            of = listed(ref.title(namespace) for ref in kind.refs.values()) or _("the cluster")
            yield _("{file}: {keys} as {objects} had it").format(
                file=kind.file, keys=listed(kind.values, 8), objects=of
            )
        case Records():
            line = _("{file}: a line for each of {objects}, none twice and none besides")
            yield line.format(file=kind.file, objects=kind.each.title(namespace))
        case Quotes():
            yield _("{file}: the whole message of {object} is in it").format(
                file=kind.file, object=kind.of.title(namespace)
            )
        case FileCheck():
            yield from _of_file(kind)
        case Resource():
            yield _of_object(kind, namespace)
        case Resources():
            rules = [key for key in ("count", "all", "some", "none", "same", "spread") if _asks(kind, key)]
            yield _("{objects}: holds for {rules}").format(objects=kind.of.title(namespace), rules=listed(rules, 6))
        case Exec():
            command = kind.run.strip() or " ".join(kind.command)
            yield _("`{command}` ended with exit code {code}").format(command=command, code=kind.exit)
            if kind.stdout:
                yield _("it printed all that was wanted ({count})").format(count=len(kind.stdout.mentions))
        case Happened():
            yield _("the history shows it:")
            yield from result.evidence
        case Python():
            yield _("the lab's own function {name} found it so").format(name=kind.function)


def _of_file(kind: FileCheck) -> Iterator[str]:
    if kind.lines:
        yield _("{file}: has its lines ({count})").format(file=kind.file, count=len(kind.lines))
    if kind.mentions:
        yield _("{file}: mentions what it should ({count})").format(file=kind.file, count=len(kind.mentions))
    if kind.not_mentions:
        yield _("{file}: does not mention what it should not ({count})").format(
            file=kind.file, count=len(kind.not_mentions)
        )
    if kind.yaml:
        paths = listed(_paths(kind.yaml.match), 8)
        yield _("{file}: a document of it is as asked in {paths}").format(file=kind.file, paths=paths)
    if not (kind.lines or kind.mentions or kind.not_mentions or kind.yaml):
        yield _("{file}: it is there and not empty").format(file=kind.file)


def _of_object(kind: Resource, namespace: str) -> str:
    title = kind.of.title(namespace)
    if kind.absent:
        return _("{object}: was there, by the history, and is gone").format(object=title)
    if not kind.match:
        return _("{object}: it is there").format(object=title)
    return _("{object}: as asked in {paths}").format(object=title, paths=listed(_paths(kind.match), 8))


def _asks(kind: Resources, key: str) -> bool:
    value = kind.every if key == "all" else getattr(kind, key)
    return value is not None and value != ()


def _paths(value: Any, path: str = "") -> list[str]:  # JSON
    """Where the leaves of a partial object are; of lists, the list."""
    if isinstance(value, Mapping) and value:
        return [found for key, inner in value.items() for found in _paths(inner, f"{path}.{key}" if path else str(key))]
    return [path]
