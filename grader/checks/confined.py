"""Functions of a stranger's `checks.py`: run in a cell, where they can ask about the world and give a verdict.

Owns both ends of that conversation. The function gets a `World` like any other; what it asks goes over a socket to
this process, which looks it up with its own identity. What comes out of the cell is JSON, judged like any file of a
lab; only what goes in is more. Knows nothing of how a cell is made (`cluster.sandbox.cell`).
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import struct
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from cluster.machine import RUNTIME
from cluster.sandbox.cell import run_in_cell
from grader.checks.faults import LabFault
from grader.checks.words import shorten
from grader.checks.work import FileTrouble, LearnerFile, WorkFolder
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.checks.objects import Object
    from grader.checks.world import Change, Gap, World

SECONDS = 10.0
"""That a function may take, what it asks included."""
MOST_QUESTIONS = 2_000
_LONGEST_SAID = 1 << 18
"""Bytes of one thing that is said out of a cell."""
_LONGEST_TEXT = 500
_LENGTH = struct.Struct("!I")


class _FindingSaid(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    wanted: str = ""
    saw: str = ""
    where: list[str] = Field(default=[], max_length=100)
    look_at: str = ""
    why: str = ""
    plain: bool = False


class _VerdictSaid(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    passed: bool
    moving: bool = False
    evidence: list[str] = Field(default=[], max_length=500)
    finding: _FindingSaid = _FindingSaid()


class _QuestionSaid(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    ask: str
    arguments: list[str | float | list[str] | None] = Field(max_length=8)


class _ErrorSaid(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    error: str


def judge(source: str, path: Path, function: str, arguments: Mapping[str, Any], world: World) -> Verdict:
    """What `function` of the Python `source`, which stands in `path`, says about `world`.

    LabFault: it raises, ends without a verdict, takes too long, or is not there. EnvironmentProblem: no cell can be
    made on this machine, and so the function is not run. Problems that come of what it asks pass through.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        task = partial(_inside, theirs, source, path, function, arguments, world)
        warden = run_in_cell(task, base=RUNTIME / "cell", shown=(path.parent,), talk=theirs.fileno())
        try:
            theirs.close()
            return _converse(ours, function, world)
        finally:
            with suppress(ProcessLookupError):
                os.kill(warden, signal.SIGKILL)
            os.waitpid(warden, 0)


# -- on this side -------------------------------------------------------------------------------------


def _converse(cell: socket.socket, function: str, world: World) -> Verdict:
    deadline = time.monotonic() + SECONDS
    is_in = False
    for _number in range(MOST_QUESTIONS):
        try:
            said = _heard(cell, deadline)
        except TimeoutError:
            message = _("{function} of checks.py was not done after {seconds:.0f} s")
            raise LabFault(message.format(function=function, seconds=SECONDS)) from None
        except (EOFError, ConnectionError):
            raise _ended(function, is_in=is_in) from None
        except ValueError as error:
            raise _nonsense(function, str(error)) from None
        match said:
            case {"in": True}:
                is_in = True
            case {"ask": _}:
                cell.settimeout(max(0.1, deadline - time.monotonic()))
                answer = pickle.dumps(_answer(said, function, world))
                with suppress(OSError):  # it may have ended meanwhile; the next thing heard says so
                    cell.sendall(_LENGTH.pack(len(answer)) + answer)
            case {"error": _}:
                raise LabFault(_raised(function, said))
            case _:
                return _verdict(function, said)
    raise LabFault(_("{function} of checks.py asks without end").format(function=function))


def _heard(cell: socket.socket, deadline: float) -> Any:  # JSON
    (length,) = _LENGTH.unpack(_exactly(cell, _LENGTH.size, deadline))
    if length > _LONGEST_SAID:
        raise ValueError(_("more than {limit} KiB").format(limit=_LONGEST_SAID >> 10))
    try:
        return json.loads(_exactly(cell, length, deadline))
    except RecursionError as error:
        raise ValueError(_("nested too deeply")) from error


def _exactly(cell: socket.socket, count: int, deadline: float | None = None) -> bytes:
    data = bytearray()
    while len(data) < count:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            cell.settimeout(left)
        chunk = cell.recv(min(count - len(data), 1 << 16))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)


def _answer(said: Any, function: str, world: World) -> tuple[str, Any]:  # JSON
    """`value`, or, of a learner's file that can't be read, `trouble`."""
    try:
        question = _QuestionSaid.model_validate(said)
        return "value", _looked_up(question.ask, question.arguments, world)
    except FileTrouble as trouble:
        return "trouble", (trouble.message, trouble.where, trouble.look_at)
    except (ValidationError, TypeError, ValueError) as error:
        raise _nonsense(function, str(error)) from None


def _looked_up(ask: str, words: Sequence[Any], world: World) -> Any:
    history = world.history
    match ask, words:
        case "list", [str(version), str(kind)]:
            return world.all(version, kind, None)
        case "changes", [str(kind), place, version]:
            return list(history.changes(kind, namespace=_text(place), api_version=_text(version)))
        case "at", [str(kind), float(when), place, version]:
            return history.at(kind, when, namespace=_text(place), api_version=_text(version))
        case "gaps", [str(kind)]:
            return list(history.gaps(kind))
        case "last_change", [[*kinds]]:
            return history.last_change(tuple(str(kind) for kind in kinds))
        case "read", [str(name)]:
            return world.work.read(name)
    raise ValueError(shorten(f"{ask} {words!r}"))


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(shorten(repr(value)))
    return value


def _verdict(function: str, said: Any) -> Verdict:
    try:
        found = _VerdictSaid.model_validate(said)
    except ValidationError as error:
        raise _nonsense(function, error.errors()[0]["msg"]) from None
    finding = found.finding
    return Verdict(
        passed=found.passed,
        moving=found.moving,
        evidence=tuple(_safe(line) for line in found.evidence),
        finding=Finding(
            wanted=_safe(finding.wanted),
            saw=_safe(finding.saw),
            where=tuple(_safe(place) for place in finding.where),
            look_at=_safe(finding.look_at),
            why=_safe(finding.why),
            plain=finding.plain,
        ),
    )


def _safe(text: str) -> str:
    return shorten(text, _LONGEST_TEXT)


def _raised(function: str, said: Any) -> str:
    try:
        error = _ErrorSaid.model_validate(said).error
    except ValidationError:
        error = "?"
    return _("{function} of checks.py: {error}").format(function=function, error=_safe(error))


def _nonsense(function: str, why: str) -> LabFault:
    message = _("{function} of checks.py gave no verdict that can be used: {why}")
    return LabFault(message.format(function=function, why=_safe(why)))


def _ended(function: str, *, is_in: bool) -> Problem:
    if is_in:
        return LabFault(_("{function} of checks.py ended without a verdict").format(function=function))
    return EnvironmentProblem(
        _("functions of a collection can't be confined on this machine, so {function} was not run").format(
            function=function
        ),
        _("`grader doctor` looks at the machine"),
    )


# -- in the cell --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ports:
    """The cluster and the history, by asking the other side."""

    talk: socket.socket

    def list_page(self, api_version: str, kind: str, namespace: str | None = None) -> tuple[list[Object], str]:
        """As `ClusterReader`; a `World` asks for all namespaces only."""
        del namespace
        return self.asked("list", api_version, kind), ""

    def changes(self, kind: str, *, namespace: str | None = None, api_version: str | None = None) -> Iterator[Change]:
        """As `History`."""
        return iter(self.asked("changes", kind, namespace, api_version))

    def at(
        self, kind: str, when: float, *, namespace: str | None = None, api_version: str | None = None
    ) -> list[Object]:
        """As `History`."""
        found: list[Object] = self.asked("at", kind, float(when), namespace, api_version)
        return found

    def gaps(self, kind: str) -> Sequence[Gap]:
        """As `History`."""
        found: list[Gap] = self.asked("gaps", kind)
        return found

    def last_change(self, kinds: tuple[str, ...]) -> float | None:
        """As `History`."""
        found: float | None = self.asked("last_change", list(kinds))
        return found

    def asked(self, what: str, *arguments: object) -> Any:
        """The other side's answer. FileTrouble: it says so of a file."""
        self.talk.sendall(_packed({"ask": what, "arguments": arguments}))
        (length,) = _LENGTH.unpack(_exactly(self.talk, _LENGTH.size))
        kind, value = pickle.loads(_exactly(self.talk, length))  # noqa: S301  # from our own process
        if kind == "trouble":
            raise FileTrouble(*value)
        return value


class _AskedWork(WorkFolder):
    """The learner's files, by asking the other side."""

    def __init__(self, work: WorkFolder, ports: _Ports) -> None:
        super().__init__(work.root, work.asked)
        self._ports = ports

    def read(self, name: str) -> LearnerFile:
        """As `WorkFolder.read`."""
        found: LearnerFile = self._ports.asked("read", name)
        return found


def _inside(
    talk: socket.socket, source: str, path: Path, function: str, arguments: Mapping[str, Any], world: World
) -> None:
    talk.sendall(_packed({"in": True}))
    try:
        ports = _Ports(talk)
        there = world.elsewhere(cluster=ports, history=ports, work=_AskedWork(world.work, ports))
        verdict = _function(source, path, function)(there, **arguments)
        if not isinstance(verdict, Verdict):
            raise TypeError(f"{type(verdict).__name__} is no Verdict")
        said = _packed(_said(verdict))
    except BaseException as error:  # noqa: BLE001  # whatever a stranger's function raises is told, and is no bug of ours
        place = traceback.extract_tb(error.__traceback__)[-1:]
        line = f" ({path.name}:{place[0].lineno})" if place and place[0].filename == str(path) else ""
        said = _packed({"error": f"{type(error).__name__}: {error}"[: 4 * _LONGEST_TEXT] + line})
    talk.sendall(said)


def _function(source: str, path: Path, name: str) -> Any:
    # From its text, never from bytecode that lies beside it and might say something else.
    module = ModuleType(f"batchlab_lab_{path.parent.name.replace('-', '_')}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102  # that is what the cell is for
    return getattr(module, name)


def _said(verdict: Verdict) -> dict[str, Any]:
    finding = verdict.finding
    return {
        "passed": verdict.passed,
        "moving": verdict.moving,
        "evidence": list(verdict.evidence),
        "finding": {
            "wanted": finding.wanted,
            "saw": finding.saw,
            "where": list(finding.where),
            "look_at": finding.look_at,
            "why": finding.why,
            "plain": finding.plain,
        },
    }


def _packed(content: Mapping[str, Any]) -> bytes:
    data = json.dumps(content).encode()
    return _LENGTH.pack(len(data)) + data
