"""`grader board`: a lab's cluster as it is now, on one page.

On the host, and in a lab's shell by its examiner, the recorder's store is read. `--serve` hands over to the
application, which draws the live board in a browser.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _, language
from grader.cli.commands import N_, Command, json_option, lab_argument
from grader.cli.common import print_document, read_lab, which_lab
from grader.session.here import examination
from grader.session.places import history_file, session_home

if TYPE_CHECKING:
    from pathlib import Path

    from grader.lab.model import Lab

_WIDEST = 240
_EVERY = 1.0
"""Seconds between two looks of `--watch`."""
_pause = time.sleep


@click.command(
    cls=Command,
    help=N_(
        "Nodes with their GPUs, groups, queues with their quota, pods and events of LAB (or the one that runs), as "
        "they are now. --serve shows them in a browser, for everybody to see and nobody to change."
    ),
)
@lab_argument()
@click.option("--watch", is_flag=True, help=N_("Once a second, until Ctrl-C."))
@click.option("--faults", is_flag=True, help=N_("Only what waits or is broken."))
@click.option("--filter", "words", default="", metavar="WORDS", help=N_("Only lines with all of these words."))
@click.option("--ascii", "ascii_only", is_flag=True, help=N_("Only characters that every terminal has."))
@json_option()
@click.option("--serve", is_flag=True, help=N_("In a browser on this machine; the address has a token."))
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help=N_("With --serve: not just any free port."))
def command(
    lab: str | None,
    watch: bool,
    faults: bool,
    words: str,
    ascii_only: bool,
    as_json: bool,
    serve: bool,
    port: int | None,
) -> int:
    """Look at the recorder's store and print it."""
    if port and not serve:
        raise UsageProblem(_("{option} goes with {other}").format(option="--port", other="--serve"))
    if as_json and (faults or words or ascii_only):
        raise UsageProblem(_("--json has everything: leave out the options that choose or draw"))
    if serve and (watch or faults or words or as_json):
        raise UsageProblem(_("--serve shows everything: leave out the other options"))
    here = examination()
    if serve and here is not None:
        raise UsageProblem(
            _("`{command}` does not run inside a lab").format(command="grader board --serve"),
            _("leave the lab's shell first (exit), then: grader {words}").format(words="board --serve"),
        )
    chosen = read_lab(which_lab(lab))
    home = here.home if here else session_home(chosen.id)
    if not history_file(home).exists():
        raise EnvironmentProblem(
            _("nothing of {lab} has been recorded").format(lab=chosen.id),
            _("start it: {command}").format(command=f"grader start {chosen.id}"),
        )
    if serve:
        from grader.cli.tui import application

        more = [*(["--port", str(port)] if port else []), *(["--ascii"] if ascii_only else [])]
        return application(["--board", chosen.id, "--serve", *more])
    if as_json:
        return _write(home, chosen, watch=watch)
    return _print(home, chosen, watch=watch, faults=faults, words=words, ascii_only=ascii_only)


def _write(home: Path, lab: Lab, *, watch: bool) -> int:
    """One document; with `watch` one on each line, whenever something is otherwise."""
    from grader.board.document import BoardDocument, content
    from grader.board.feed import SessionFeed

    before = None
    with SessionFeed(home, lab.namespace) as feed:
        while True:
            look = feed.look()
            told = {"lab": lab.id, "language": language(), **content(look)}
            if not watch:
                print_document(BoardDocument, told)
                return 0
            if (now := (look.board, look.trust)) != before:
                before = now
                line = BoardDocument.model_validate(told, by_name=True, by_alias=True).model_dump_json(by_alias=True)
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
            _pause(_EVERY)


def _print(home: Path, lab: Lab, *, watch: bool, faults: bool, words: str, ascii_only: bool) -> int:
    from grader.board.feed import SessionFeed
    from grader.board.text import render_board
    from grader.report.layout import colours, width_of

    with SessionFeed(home, lab.namespace) as feed:
        while True:
            text = render_board(
                feed.look(),
                title=f"{lab.id}  {lab.title}",
                width=width_of(sys.stdout, _WIDEST),
                colour=colours(sys.stdout),
                ascii_only=ascii_only,
                words=words,
                faults=faults,
            )
            clear = "\x1b[H\x1b[2J" if watch and sys.stdout.isatty() else ""
            sys.stdout.write(clear + text + ("\n" if watch and not clear else ""))
            sys.stdout.flush()
            if not watch:
                return 0
            _pause(_EVERY)
