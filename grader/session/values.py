"""The values of one session, `values.json`: drawn when a lab is first started, the same ever after.

Owns that file and when a value is drawn; what may be declared and how it is written into a lab is `grader.lab`'s. A
value that can't be any more, because the lab was changed, is drawn anew at the next start, the others stay. Imports
little: every command that reads a lab asks here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _
from grader.session.here import examination
from grader.session.places import session_home

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from grader.lab.model import Lab
    from grader.lab.values import Value

FILE = "values.json"


def kept_values(home: Path, tell: Callable[[str], None] | None = None) -> dict[str, Value]:
    """The values of the session in `home`; none where it has none. A damaged file is set aside, and `tell` is told."""
    if not (home / FILE).exists():
        return {}
    from pydantic import Field

    from grader.progress.files import StoredFile, locked, read_stored

    class File(StoredFile):
        values: dict[str, int | str] = Field(default={})

    with locked(home):
        stored, note = read_stored(home / FILE, File, _("upgrade batchlab"))
    if note and tell is not None:
        tell(note)
    return dict(stored.values)


def keep_values(home: Path, values: Mapping[str, Value]) -> None:
    """Remember `values` as those of the session in `home`; the file is its owner's alone."""
    from grader.progress.files import locked, write_stored

    with locked(home):
        write_stored(home / FILE, {"values": dict(values)})


def values_of(lab_id: str) -> dict[str, Value]:
    """The values of the session of that lab which can be seen from here: the examined one, or the learner's."""
    here = examination()
    return kept_values(here.home if here else session_home(lab_id))


def settled(lab: Lab, home: Path, tell: Callable[[str], None], *, anew: bool = False) -> Lab:
    """`lab` with the values of the session in `home`, of which those that are missing are drawn now, or, with `anew`,
    all: no value that has another choice is drawn twice in a row."""
    if not lab.declared:
        return lab
    from grader.lab.parse import parse_lab
    from grader.lab.values import draw, fits

    kept = kept_values(home, tell)
    values = {name: value for name, value in kept.items() if name in lab.declared and fits(lab.declared[name], value)}
    drawn = draw(lab.declared)
    if anew:
        while any(drawn[name] == value for name, value in values.items()):
            drawn = {**drawn, **draw({n: lab.declared[n] for n, value in values.items() if drawn[n] == value})}
        values = drawn
    values = {**drawn, **values}
    if values != kept:
        keep_values(home, values)
    filled, problems = parse_lab(lab.folder, lab.language, values)
    if filled is None:
        raise UsageProblem("\n".join(map(str, problems)))
    return filled


def refuse_examples(lab: Lab) -> None:
    """EnvironmentProblem where a value of a lab that runs was never drawn: nobody could say what is right."""
    if lab.examples:
        raise EnvironmentProblem(
            _("this session has no value for {names}: the lab was changed, or a file was lost").format(
                names=", ".join(sorted(lab.examples))
            ),
            _("begin it again: {command}").format(command=f"grader reset {lab.id}"),
        )


def shell_environment(home: Path) -> dict[str, str]:
    """The values as variables of the learner's shell."""
    values = kept_values(home)
    if not values:
        return {}
    from grader.lab.values import environment

    return environment(values)
