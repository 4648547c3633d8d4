"""Asking a session's examiner to run a command: the quick half of `grader check`.

Owns the asking side of the protocol (described in `grader.session.examiner`), and the whole `grader` of a
lab's shell, which is `python -m grader.session.examiner_client SOCKET WORDS…`. Imports the standard library
and our smallest modules only: its imports are most of what a learner waits for.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cluster import i18n
from cluster.errors import EnvironmentProblem, Problem, UsageProblem
from cluster.i18n import _
from cluster.unix_address import short_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

READY = b"ready\n"
INTERRUPT = b"interrupt\n"
MAX_REQUEST = 65536
GREETING_SECONDS = 20.0
"""How long an examiner may take to greet: milliseconds, but seconds of imports when it has just begun."""
BEGINNING_SECONDS = 5.0
"""How long to wait for the socket of an examiner that has not begun yet: in a lab's first moments."""
INTERRUPTED = 130
WRITES_FILE = ("--junit", "--svg")
"""The options that name a file to write, of which a command has one. The asking side opens it: the examiner's files
are others."""
_POLL = 0.02
_PASSED_ON = frozenset(
    (
        "LANG",
        "LANGUAGE",
        "COLUMNS",
        "LINES",
        "TERM",
        "NO_COLOR",
        "TZ",
        "_GRADER_COMPLETE",
        "COMP_WORDS",
        "COMP_CWORD",
    )
)


def main() -> None:
    """`grader` in a lab's shell."""
    path, *argv = sys.argv[1:]
    i18n.set_language(i18n.from_environment())
    try:
        code = converse(Path(path), argv)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Problem as problem:
        print(f"grader: {problem.message}", file=sys.stderr)  # noqa: T201  # this module is a command here
        if problem.advice:
            print(f"        {problem.advice}", file=sys.stderr)  # noqa: T201  # as above
        code = problem.exit_code
    sys.exit(code)


def converse(path: Path, argv: Sequence[str]) -> int:
    """`ask`, with the file that an option names opened here, and replaced only by a finished one."""
    found = _file_to_write(argv)
    if found is None:
        return ask(path, argv)
    option, target = found
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        code = ask(path, argv, files={option: handle})
        if os.fstat(handle).st_size:
            os.fchmod(handle, 0o666 & ~_umask())
            os.replace(temporary, target)  # noqa: PTH105  # the house rule names it
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108  # a plain string from mkstemp
    return code


def ask(
    path: Path,
    argv: Sequence[str],
    *,
    streams: Sequence[int] = (0, 1, 2),
    files: Mapping[str, int] | None = None,
) -> int:
    """Have the examiner at the socket `path` run `grader <argv>` on our streams; its exit code.

    `files` are further open descriptors, by name, that the command may write. Ctrl-C is passed on. Raises
    EnvironmentProblem where nobody answers.
    """
    files = files or {}
    request = {"argv": list(argv), "env": chosen_environment(), "files": list(files)}
    data = json.dumps(request).encode() + b"\n"
    if len(data) > MAX_REQUEST:
        raise EnvironmentProblem(_("the command line is too long"))
    with _connected(path) as examiner, _open_streams(streams) as standard:
        socket.send_fds(examiner, [data], [*standard, *files.values()])
        examiner.settimeout(None)
        try:
            answer = _line(examiner)
        except KeyboardInterrupt:
            examiner.sendall(INTERRUPT)
            _line(examiner)  # the command cleans up; a second Ctrl-C doesn't wait for that
            return INTERRUPTED
    return _exit_code(answer)


def answers(path: Path) -> bool:
    """Whether an examiner greets at `path`: now, or in a lab's first moments soon."""
    try:
        with _connected(path):
            return True
    except EnvironmentProblem:
        return False


def chosen_environment() -> dict[str, str]:
    """The variables that change how a result looks; the examiner takes no other."""
    return {name: value for name, value in os.environ.items() if passed_on(name)}


def passed_on(name: str) -> bool:
    """Whether the examiner takes this variable from whoever asks."""
    return name in _PASSED_ON or name.startswith("LC_")


@contextmanager
def _connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as examiner:
        examiner.settimeout(GREETING_SECONDS)
        deadline = time.monotonic() + BEGINNING_SECONDS
        try:
            while not path.exists() and path.parent.is_dir() and time.monotonic() < deadline:
                time.sleep(_POLL)
            with short_path(path) as name:
                examiner.connect(name)
            greeting = _line(examiner)
        except OSError as error:
            raise _silent(path, error.strerror or str(error)) from error
        if greeting != READY:
            raise _silent(path, _("it closed the connection"))
        yield examiner


@contextmanager
def _open_streams(streams: Sequence[int]) -> Iterator[list[int]]:
    """`streams`, with /dev/null for each that is closed (`grader check >&-`)."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        yield [stream if _is_open(stream) else nothing for stream in streams]
    finally:
        os.close(nothing)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _file_to_write(argv: Sequence[str]) -> tuple[str, Path] | None:
    """The option that names a file to write, and the file."""
    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in WRITES_FILE:
            value = value if equals else "".join(words[number + 1 : number + 2])
            return (name, Path(value)) if value else None
    return None


def _unwritable(path: Path, error: OSError) -> UsageProblem:
    return UsageProblem(_("can't write {path}: {why}").format(path=path, why=error.strerror or error))


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _line(examiner: socket.socket) -> bytes:
    """One line, or what there was before the other end hung up."""
    data = b""
    while not data.endswith(b"\n"):
        chunk = examiner.recv(4096)
        if not chunk:
            break
        data += chunk
    return data


def _exit_code(answer: bytes) -> int:
    try:
        content = json.loads(answer)
        return int(content["exit"])
    except (ValueError, KeyError, TypeError):
        pass
    raise EnvironmentProblem(
        _("the lab was stopped while the command ran, or its examiner died"),
        _("`grader status` says which; run the command again"),
    )


def _silent(path: Path, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        _("the lab's examiner does not answer ({why})").format(why=why),
        _("`grader status` says what runs; `grader start` repairs a session (socket: {path})").format(path=path),
    )


if __name__ == "__main__":
    main()
