"""What a lab puts into the learner's work folder at each start: the contents of its `files/`.

Owns that nothing of the learner's is ever replaced; how folders are copied is `cluster.sandbox.copying`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from cluster.sandbox.copying import Copying, TooMuchError
from grader.lab.place import FILES, MOST_BYTES, MOST_ENTRIES

if TYPE_CHECKING:
    from pathlib import Path


def place_files(lab_folder: Path, work: Path) -> None:
    """Copy what `files/` holds into `work`, but for what is there already. UsageProblem where it is too much."""
    source = lab_folder / FILES
    if not source.is_dir() or source.is_symlink():
        return
    try:
        Copying(bytes=MOST_BYTES, entries=MOST_ENTRIES, over=False).run(source, work)
    except TooMuchError as error:
        raise UsageProblem(
            _("{folder} holds more than {size} MiB or {count} files").format(
                folder=source, size=MOST_BYTES >> 20, count=MOST_ENTRIES
            )
        ) from error
