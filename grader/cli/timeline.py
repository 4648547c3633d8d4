"""`grader timeline`: what happened in a lab, as bars over time.

On the host the history is read where it lies, so that a lab that was stopped has its timeline too; a lab's shell
can't see it and asks the examiner.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import UsageProblem
from cluster.i18n import _, language
from grader.cli.commands import N_, Command, json_option, lab_argument
from grader.cli.common import note, print_document, read_lab, which_lab
from grader.session.here import Examination, examination
from grader.session.places import session_home

if TYPE_CHECKING:
    from grader.timeline.model import Timeline
    from grader.timeline.scale import Window

_WIDEST = 400
_UNITS = {"": 60, "s": 1, "m": 60, "h": 3600}


class Period(click.ParamType[float]):
    """A while: `90s`, `5m`, `1h`; a bare number is minutes. Seconds."""

    name = "while"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        del param, ctx
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        if found is None or float(found[1]) == 0:
            raise UsageProblem(_("{word} is no while").format(word=value), _("for example: 90s, 5m, 1h"))
        return float(found[1]) * _UNITS[found[2]]


@click.command(
    cls=Command,
    help=N_(
        "What happened in LAB (or the one that runs): a row for each pod, from its creation to its end, lettered by "
        "its phase, under what it belongs to. It works for a lab that was stopped, too."
    ),
)
@lab_argument()
@click.option("--last", type=Period(), metavar="TIME", help=N_("Only the last part of it, as 90s, 5m or 1h."))
@click.option("--events", is_flag=True, help=N_("Every event and change in that time, too."))
@click.option(
    "--width", type=click.IntRange(40, _WIDEST), metavar="N", help=N_("Columns; those of the terminal if not given.")
)
@click.option("--ascii", "ascii_only", is_flag=True, help=N_("Only characters that every terminal has."))
@json_option()
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help=N_("Write a picture to FILE instead."))
def command(
    lab: str | None,
    last: float | None,
    events: bool,
    width: int | None,
    ascii_only: bool,
    as_json: bool,
    svg: Path | None,
) -> int:
    """Read the history and print it in the form asked for."""
    from grader.timeline.session import session_timeline

    if as_json and svg:
        raise UsageProblem(_("either {one} or {other}").format(one="--json", other="--svg"))
    chosen = read_lab(which_lab(lab))
    here = examination()
    home = here.home if here else session_home(chosen.id)
    timeline = session_timeline(home, chosen.namespace)
    if as_json:
        from grader.timeline.document import TimelineDocument, content

        print_document(TimelineDocument, {"lab": chosen.id, "language": language(), **content(timeline)})
        return 0
    title = f"{chosen.id}  {chosen.title}"
    if svg is not None:
        from grader.timeline.svg import render_svg

        _write(here, svg, render_svg(timeline, title=title, window=_window(timeline, last)))
        return 0
    from grader.report.layout import colours, width_of
    from grader.timeline.text import render_text

    text = render_text(
        timeline,
        title=title,
        width=width or width_of(sys.stdout, _WIDEST),
        window=_window(timeline, last),
        colour=colours(sys.stdout),
        ascii_only=ascii_only,
        events=events,
    )
    sys.stdout.write(text)
    return 0


def _window(timeline: Timeline, last: float | None) -> Window | None:
    from grader.timeline.scale import Window

    if last is None:
        return None
    return Window(max(timeline.start, timeline.end - last), min(last, timeline.end - timeline.start), 1)


def _write(here: Examination | None, path: Path, text: str) -> None:
    if here is not None:
        # The asking side opened the file and gave us the descriptor: a path would mean another file here.
        with os.fdopen(here.files["--svg"], "w", encoding="utf-8") as file:
            file.write(text)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageProblem(_("can't write {path}: {why}").format(path=path, why=error.strerror or error)) from error
    note(_("written to {path}").format(path=path))
