"""`grader list`: the labs there are, and how far the learner is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option
from grader.cli.common import books, note, print_document, read_lab
from grader.collections.trust import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.collections.model import Collection
    from grader.lab.model import Lab
    from grader.progress import LabRecord


@click.command(cls=Command, help=N_("The labs, in the order to do them, and how far you are."))
@json_option()
def command(as_json: bool) -> int:
    """Load every lab; one whose files are wrong is named and left out."""
    from grader.cli.documents import ListDocument
    from grader.collections.store import installed
    from grader.lab.catalogue import every_lab_id

    book = books()
    collections = {one.name: one for one in installed(note)}
    labs = []
    for lab_id in every_lab_id():
        try:
            labs.append(read_lab(lab_id))
        except UsageProblem as problem:
            note(_("{lab} is left out: {problem}").format(lab=lab_id, problem=problem.message))
    if as_json:
        print_document(
            ListDocument, {"labs": [_content(lab, book.get(lab.id), collections.get(lab.collection)) for lab in labs]}
        )
    elif labs:
        click.echo("\n".join(_blocks(labs, book, collections)), nl=False)
    else:
        click.echo(_("there are no labs"))
    return 0


def _blocks(labs: list[Lab], book: dict[str, LabRecord], collections: dict[str, Collection]) -> Iterator[str]:
    """Our labs, then those of each collection under its name."""
    if ours := [lab for lab in labs if not lab.collection]:
        yield _table(ours, book)
    for name, collection in collections.items():
        if theirs := [lab for lab in labs if lab.collection == name]:
            accept = "" if collection.accepted else _("not accepted yet: grader lab accept {name}").format(name=name)
            yield (f"{name}  {accept}".rstrip()) + "\n" + _table(theirs, book)


def _table(labs: list[Lab], book: dict[str, LabRecord]) -> str:
    from rich.cells import cell_len

    from grader.report.layout import cut, pad, width_of

    width = width_of(sys.stdout)
    rows = [
        (lab.id, _("{passed} of {total}").format(passed=_passed(lab, book), total=len(lab.steps)), lab) for lab in labs
    ]
    names = max(len(lab_id) for lab_id, _done, _lab in rows) + 2
    done = max(cell_len(text) for _id, text, _lab in rows) + 2
    lines = []
    for lab_id, text, lab in rows:
        start = pad(lab_id, names) + pad(text, done)
        minutes = _("{minutes} min").format(minutes=lab.minutes)
        lines.append(cut(f"{start}{pad(minutes, 8)}{lab.title}", width))
        if lab.after:
            after = _("after {labs}").format(labs=", ".join(lab.after))
            lines.append(cut(" " * (names + done + 8) + after, width))
    return "\n".join(lines) + "\n"


def _passed(lab: Lab, book: dict[str, LabRecord]) -> int:
    record = book.get(lab.id)
    return sum(step.id in record.steps for step in lab.steps) if record else 0


def _content(lab: Lab, record: LabRecord | None, collection: Collection | None) -> dict[str, Any]:
    return {
        "id": lab.id,
        "title": lab.title,
        "minutes": lab.minutes,
        "after": lab.after,
        "needs_root": lab.needs_root,
        "collection": lab.collection or None,
        "accepted": not lab.collection or refusal(lab.id, collection, needs_root=lab.needs_root) is None,
        "steps": [
            {"id": step.id, "title": step.title, "passed": bool(record and step.id in record.steps)}
            for step in lab.steps
        ],
    }
