"""Labs that are named by their folder instead of their id: an author's own, wherever they are.

Owns which words are folders, and that the rest of the command then works on the labs beside them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence


def folder_of(word: str) -> Path | None:
    """The folder that a word names: one with a slash, or one here that holds a lab; None for an id."""
    folder = Path(word)
    if "/" not in word and not (folder / "lab.md").is_file():
        return None
    if not folder.is_dir():
        from grader.lab.catalogue import lab_folder

        if lab_folder(word) is not None:
            return None  # of a collection
        raise UsageProblem(_("{folder} is not a folder").format(folder=folder))
    return folder


def as_ids(words: Sequence[str]) -> list[str]:
    """The ids of labs that are named by id or folder. Where a folder is named, the labs beside it are the labs there
    are, for this process and all that it starts. UsageProblem: folders in two places."""
    from grader.collections.store import collections_dir
    from grader.lab.catalogue import LABS_VARIABLE

    named = [(word, folder_of(word)) for word in words]
    parents = {folder.resolve().parent for _word, folder in named if folder is not None}
    if any(parent.is_relative_to(collections_dir().resolve()) for parent in parents):
        # By its folder it would pass for a lab of one's own, and run without having been accepted.
        raise UsageProblem(_("a lab of a collection is named NAME/LAB, not by its folder"))
    if len(parents) > 1:
        places = ", ".join(sorted(map(str, parents)))
        raise UsageProblem(_("labs of several folders at once: {folders}").format(folders=places))
    if parents:
        os.environ[LABS_VARIABLE] = str(parents.pop())
    return [word if folder is None else folder.resolve().name for word, folder in named]
