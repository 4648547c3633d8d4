"""The labs there are: where they stand, in what order they are done, and how one is loaded.

Owns the folder of labs; knows nothing of sessions or of how far a learner is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from cluster.paths import data_dir
from grader.lab.graph import in_order
from grader.lab.model import Lab
from grader.lab.parse import LAB_FILE, parse_lab
from grader.lab.problems import LabProblem, did_you_mean, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.lab.values import Value

LABS_VARIABLE = "BATCHLAB_LABS"
_PACKAGE = Path(__file__).resolve().parent.parent


def labs_dir() -> Path:
    """The folder of labs: an author's own (`BATCHLAB_LABS`), else those that came with this version."""
    own = os.environ.get(LABS_VARIABLE)
    return Path(own) if own else data_dir("labs", package=_PACKAGE)


def lab_ids() -> list[str]:
    """The id of every lab, a lab's prerequisites before it, else in the order of the alphabet."""
    folder = labs_dir()
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


def load_lab(lab_id: str, lang: str = "en", values: Mapping[str, Value] | None = None) -> Lab:
    """The lab of that id, in `lang` where it has that language, else in English, with a session's `values` in it.

    UsageProblem: there is no such lab (a near name is offered), or its files are wrong: then all that is
    wrong, one line each.
    """
    known = lab_folders(labs_dir())
    if lab_id not in known:
        message = _("no lab {name}").format(name=lab_id) + did_you_mean(lab_id, known)
        advice = _("labs there are: {labs}").format(labs=", ".join(known)) if known else ""
        raise UsageProblem(message, advice)
    lab, problems = parse_lab(labs_dir() / lab_id, lang, values)
    if lab is None:
        raise UsageProblem("\n".join(str(problem) for problem in problems))
    return lab
