"""The labs there are: where they stand, in what order they are done, and how one is loaded.

Owns the folder of our labs and what a lab is called on the command line; where those of others are kept is
`grader.collections.store`'s. Knows nothing of sessions or of how far a learner is.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from cluster.paths import data_dir
from grader.collections import store
from grader.collections.address import address, collection_of, lab_in
from grader.lab.graph import in_order
from grader.lab.model import Lab
from grader.lab.parse import LAB_FILE, parse_lab
from grader.lab.problems import LabProblem, did_you_mean, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.lab.values import Value

LABS_VARIABLE = "BATCHLAB_LABS"
MOST_TOLD = 20
"""Mistakes that are told of a lab that was only to be loaded."""
_PACKAGE = Path(__file__).resolve().parent.parent


def labs_dir() -> Path:
    """The folder of labs: an author's own (`BATCHLAB_LABS`), else those that came with this version."""
    own = os.environ.get(LABS_VARIABLE)
    return Path(own) if own else data_dir("labs", package=_PACKAGE)


def lab_ids() -> list[str]:
    """The id of every lab of ours, a lab's prerequisites before it, else in the order of the alphabet."""
    return _ordered(labs_dir())


def collected_lab_ids(collection: str | None = None) -> list[str]:
    """The same of the labs of one installed collection, or (None) of each, collection by collection."""
    names = store.names() if collection is None else [collection]
    found = [kept for name in names if (kept := store.find(name)) is not None]
    return [address(kept.name, lab) for kept in found for lab in _ordered(kept.tree)]


def every_lab_id() -> list[str]:
    """Our labs, then those of collections."""
    return [*lab_ids(), *collected_lab_ids()]


def lab_folder(lab_id: str) -> Path | None:
    """The folder of the lab of that id; None where there is no such lab."""
    collection = collection_of(lab_id)
    kept = store.find(collection) if collection else None
    if collection and kept is None:
        return None
    folder = labs_dir() if kept is None else kept.tree
    return folder / lab_in(lab_id) if lab_in(lab_id) in lab_folders(folder) else None


def _ordered(folder: Path) -> list[str]:
    return in_order({lab_id: prerequisites(folder / lab_id) for lab_id in lab_folders(folder)})


def lab_folders(folder: Path) -> list[str]:
    """The names of the folders in `folder` that hold a lab."""
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if (entry / LAB_FILE).is_file())


def prerequisites(lab: Path) -> tuple[str, ...]:
    """The labs to do before the one in that folder; none where its front matter is wrong."""
    from grader.lab.frontmatter import read_front_matter
    from grader.lab.markdown import front_matter

    found: list[LabProblem] = []
    source = read_source(lab / LAB_FILE, found)
    text = None if source is None else front_matter(source.text)
    if source is None or text is None:
        return ()
    matter, _written = read_front_matter(source, text, lab.name, found)
    return () if matter is None else matter.after


def _told(lab_id: str, problems: list[LabProblem]) -> list[str]:
    """A line for each of the first problems; a file of nothing but mistakes has thousands."""
    lines = [str(problem) for problem in problems[:MOST_TOLD]]
    if len(problems) > MOST_TOLD:
        more = _("and {count} more: {command}")
        lines.append(more.format(count=len(problems) - MOST_TOLD, command=f"grader lint {lab_id}"))
    return lines


def load_lab(lab_id: str, lang: str = "en", values: Mapping[str, Value] | None = None) -> Lab:
    """The lab of that id, in `lang` where it has that language, else in English, with a session's `values` in it.

    UsageProblem: there is no such lab (a near name is offered), or its files are wrong: then all that is
    wrong, one line each.
    """
    folder = lab_folder(lab_id)
    if folder is None:
        known = [*lab_folders(labs_dir()), *collected_lab_ids()]
        message = _("no lab {name}").format(name=lab_id) + did_you_mean(lab_id, known)
        advice = _("labs there are: {labs}").format(labs=", ".join(known)) if known else ""
        raise UsageProblem(message, advice)
    lab, problems = parse_lab(folder, lang, values)
    if lab is None:
        raise UsageProblem("\n".join(_told(lab_id, problems)))
    if collection := collection_of(lab_id):
        # Labs of a collection come after one another, and none of ours is meant by a name of theirs.
        after = tuple(address(collection, other) for other in lab.after)
        return replace(lab, id=lab_id, after=after)
    return lab
