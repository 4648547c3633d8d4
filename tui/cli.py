"""`batchlab`, which is also `grader tui`: from a command line to the application and its exit code.

Owns the options. Exit codes and how failures are said are those of `grader`.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from cluster import i18n
from cluster.errors import Problem, UsageProblem
from cluster.i18n import _
from grader.cli import INTERRUPTED, say, take_language
from grader.cli.commands import N_, Command, OneOf, lab_argument, translated
from grader.session.here import shell_of
from tui.settings import THEMES, config_dir, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(
    cls=Command,
    name="batchlab",
    help=N_("Courses, articles and labs in one application, and how far you are."),
)
@lab_argument()
@click.option("--ascii", "ascii_only", is_flag=True, help=N_("Draw with ASCII characters only."))
@click.option("--theme", type=OneOf(*THEMES), help=N_("The colours, for this time."))
@click.option("--no-tmux", is_flag=True, help=N_("No shell beside it: the lab's shell takes its place for a while."))
@click.option("--board", metavar="LAB", help=N_("Only the board of LAB, and nothing that changes anything."))
@click.option("--serve", is_flag=True, help=N_("With --board: in a browser on this machine."))
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help=N_("With --serve: not just any free port."))
@click.option("--preview", metavar="LAB", help=N_("Only the text of LAB, while it is written: `grader preview`."))
@click.option("--lang", metavar="en|ko", help=N_("Language of every message (default: your locale)."))
def command(
    lab: str | None,
    ascii_only: bool,
    theme: str | None,
    no_tmux: bool,
    board: str | None,
    serve: bool,
    port: int | None,
    preview: str | None,
    lang: str | None,
) -> int:
    """Run the application, in a tmux of its own where it can. `--lang` is taken out of the command line before; here
    it is only documented."""

    from tui.terminal import own

    del lang
    if (serve and not board) or (port and not serve):
        option, other = ("--serve", "--board") if serve else ("--port", "--serve")
        raise UsageProblem(_("{option} goes with {other}").format(option=option, other=other))
    if serve and board:
        from tui.board.serve import serve_board

        return serve_board(board, port or 0, ascii_only=ascii_only)
    alone = bool(board or preview)
    if not alone and not no_tmux and own.wanted() and sys.stdin.isatty() and sys.stdout.isatty():
        _go_into_tmux(lab, ascii_only=ascii_only)
    from tui.app import LearnerApp

    if board:
        from tui.board.app import BoardApp

        app: LearnerApp = BoardApp(board, ascii_only=ascii_only)
    elif preview:
        from tui.backend.real import RealBackend
        from tui.preview.app import PreviewApp

        app = PreviewApp(RealBackend(), preview, ascii_only=ascii_only)
    else:
        from tui.backend.real import RealBackend

        _forget_size()
        app = LearnerApp(RealBackend(), ascii_only=ascii_only, lab=lab or "", panes=not no_tmux)
    if theme:
        app.theme = theme
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: app.call_later(app.leave))
    keep_title, title_back = ("\x1b[22;2t", "\x1b[23;2t") if sys.stdout.isatty() else ("", "")
    sys.stdout.write(keep_title)
    sys.stdout.flush()
    try:
        app.run()
    finally:
        sys.stdout.write(title_back)
        sys.stdout.flush()
        for sentence in own.leave("batchlab") if not alone else ():
            sys.stderr.write(sentence + "\n")
    return app.return_code or 0


def run(argv: Sequence[str], program: str = "batchlab") -> int:
    """One command line in this process; its exit code. `program`: what was typed before it."""
    try:
        i18n.set_language(i18n.from_environment())
        i18n.set_language(load_settings(config_dir()).language or i18n.language())
        language, rest = take_language(argv)
        i18n.set_language(language)
        _refuse_where_nobody_looks()
        with command.make_context(program, list(rest), obj=list(rest)) as context:
            return int(command.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        problem = translated(error)
        say(problem)
        return problem.exit_code
    except Problem as problem:
        say(problem)
        return problem.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def main() -> NoReturn:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))


def _go_into_tmux(lab: str | None, *, ascii_only: bool) -> NoReturn:
    """Become a tmux session in which this very command line runs: a new one, or the one that was left with a program
    in the lab's shell."""
    from grader.session.places import sessions_dir
    from tui.backend.asking import own_environment
    from tui.terminal import own

    _forget_size()
    os.environ.update(own_environment())
    words = click.get_current_context().obj
    program = [sys.executable, "-m", "tui", "--lang", i18n.language(), *words]
    left = own.left_behind(sessions_dir(), lab)
    if left is not None:
        line = own.back_into(left, [*program, *([] if lab else [left.pane.lab])])
    else:
        line = own.own_session(program, ascii_only=ascii_only)
    os.execvp(line[0], line)  # noqa: S606  # the terminal belongs to tmux from here on


def _forget_size() -> None:
    """A size in the environment is that of another terminal, or of this one before it changed."""
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)


def _refuse_where_nobody_looks() -> None:
    if shell_of():
        raise UsageProblem(
            _("`{command}` does not run inside a lab").format(command="batchlab"),
            _("leave the lab's shell first (exit), then: {command}").format(command="batchlab"),
        )
