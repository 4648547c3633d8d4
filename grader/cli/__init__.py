"""The `grader` command: from a command line to an exit code.

Owns how every failure is said (on stderr, `grader: …`) and which exit code it gets: 0 done or passed, 1 not
passed, 2 wrong usage or lab file, 3 the machine or the cluster, 4 our own bug, 130 interrupted. Results go to
stdout and nothing else does. Each command is a module of this package, imported when it is used.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from cluster import i18n
from cluster.errors import EnvironmentProblem, Problem, UsageProblem
from cluster.i18n import _
from grader.session.examiner_client import converse
from grader.session.here import INSIDE_SOCKET, shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

INTERRUPTED = 130
BUG = 4
PIPE_CLOSED = 141
"""What a shell reports of a program that SIGPIPE ended."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_STREAMS = 3


def main() -> NoReturn:
    """Entry point of the console script."""
    _open_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    sys.exit(run(sys.argv[1:]))


def run(argv: Sequence[str]) -> int:
    """Run one command line in this process; its exit code. Raises nothing but SystemExit by a signal."""
    try:
        i18n.set_language(i18n.from_environment())
        language, rest = take_language(argv)
        i18n.set_language(language)
        if shell_of():
            # A lab's shell sees neither labs nor sessions: whatever is asked there, the examiner answers.
            return converse(INSIDE_SOCKET, argv)
        from grader.cli.root import invoke

        code = invoke(rest)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Problem as problem:
        say(problem)
        return problem.exit_code
    except Exception as error:  # noqa: BLE001  # whatever else is raised is our bug, and said as one
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _forget_output()
            say(EnvironmentProblem(_("can't write: {why}").format(why=error.strerror)))
            return EnvironmentProblem.exit_code
        from grader.cli.bug import report_bug

        report_bug(error, argv)
        return BUG
    return code


def take_language(argv: Sequence[str]) -> tuple[str, list[str]]:
    """The language to speak, and `argv` without `--lang`: it may stand anywhere before a `--`.

    It is taken out before anything else is read, so that even the message about the rest is in it.
    """
    words, rest, language = list(argv), list[str](), i18n.language()
    while words:
        word = words.pop(0)
        if word == "--":
            rest += [word, *words]
            break
        name, equals, value = word.partition("=")
        if name != "--lang":
            rest.append(word)
            continue
        if not equals:
            if not words:
                raise UsageProblem(_("--lang needs a language: {names}").format(names=", ".join(i18n.LANGUAGES)))
            value = words.pop(0)
        if value not in i18n.LANGUAGES:
            raise UsageProblem(
                _("no language '{value}'; there are: {names}").format(value=value, names=", ".join(i18n.LANGUAGES))
            )
        language = value
    return language, rest


def say(problem: Problem) -> None:
    """Tell the person what is wrong and what to do about it."""
    lines = [f"grader: {problem.message}"]
    if problem.advice:
        lines.append(f"        {problem.advice}")
    print("\n".join(lines), file=sys.stderr)


def _open_streams() -> None:
    """Give each standard stream that is closed (`grader list >&-`) a way to nowhere, as its own descriptor: the
    next file or socket to be opened would take its place."""
    while (free := os.open(os.devnull, os.O_RDWR)) < _STREAMS:
        pass
    os.close(free)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("r+", encoding="utf-8")  # noqa: SIM115  # for the life of the process
            setattr(sys, name, nowhere)


def _forget_output() -> None:
    # Python would try to flush once more at its end and complain; there is nobody to read it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    # SystemExit passes through `except Exception` and runs every clean-up, as Ctrl-C does.
    raise SystemExit(128 + number)
