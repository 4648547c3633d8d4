"""Paths outside the work folder that a text and a check speak of: they become paths inside it, everywhere.

Owns which paths those are and their rewriting in a whole draft. A lab's shell forgets what lies elsewhere, and a check
sees nothing but the work folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

from cluster.i18n import _
from grader.importing import machine
from grader.importing.draft import File, LabDraft
from grader.importing.ledger import Place

_SYSTEM = ("/etc/", "/var/", "/usr/", "/opt/cni/", "/home/learner/")
_SHELL_TEXTS = ("start/", "scripts/")


def move_exchanged(lab: LabDraft, spared: frozenset[str] = frozenset()) -> None:
    """Move what both the learner's texts and the checks name. `spared`: paths that checks are given otherwise."""
    texts = [lab.intro, *(part for step in lab.steps for part in (step.body, step.solution, *step.hints))]
    named = {path for text in texts for path in machine.outside(text)}
    looked_at = {path for text in _scripts(lab, "scripts/") for path in machine.outside(text)}
    moves: dict[str, str] = {}
    for path in sorted((named & looked_at) - spared):
        if path.startswith(_SYSTEM):
            continue
        folder = posixpath.dirname(path)
        aim = folder if folder.count("/") > 1 else path
        moves[aim] = aim.lstrip("/")
        keeper = f"files/{folder.lstrip('/')}/.keep"
        lab.files.setdefault(keeper, File(b""))
        reason = _("the learner and the check both speak of it: it is {there} now, in every text").format(
            there=f"{machine.HOME}/{moves[aim]}"
        )
        lab.ledger.approximated(Place(lab.place.file), path, "lab.md, scripts/", reason)
    rename(lab, moves)


def rename(lab: LabDraft, moves: Mapping[str, str]) -> None:
    """Write each path of `moves` as the path of the work folder that it leads to, in all texts and scripts."""
    for there in sorted(moves, key=len, reverse=True):
        path = re.compile(rf"(?<![\w./~}}-]){re.escape(there)}(?![\w.-])")
        inner = moves[there]

        def shown(match: re.Match[str], inner: str = inner) -> str:
            before = match.string[match.start() - 1 : match.start()]
            plain = before in ("", " ", "\t", "\n", "`", "(", "*", "_", ">", "<")
            return f"{machine.HOME if plain else machine.WHOLE_HOME}/{inner}"

        def whole(_match: re.Match[str], inner: str = inner) -> str:
            return f"{machine.WHOLE_HOME}/{inner}"

        def in_cell(_match: re.Match[str], inner: str = inner) -> str:
            return f"{machine.CELL_HOME}/{inner}"

        lab.intro = path.sub(shown, lab.intro)
        for step in lab.steps:
            step.body = path.sub(shown, step.body)
            step.hints = [path.sub(shown, hint) for hint in step.hints]
            step.solution = path.sub(whole, step.solution)
        for name, file in lab.files.items():
            if name.startswith(_SHELL_TEXTS):
                file.data = _replaced(path, in_cell, file.data)


def warn_of_outside(lab: LabDraft, text: str, place: Place, spared: frozenset[str]) -> None:
    """Tell the lines of a check that look where nothing of the learner's is, and that were not moved."""
    for number, line in enumerate(text.split("\n"), start=1):
        for path in machine.outside(line):
            if path in spared or re.search(rf">\s*[\"']?{re.escape(path)}", text):
                continue
            if posixpath.dirname(path) == machine.CELL_HOME or not _stays(lab, path):
                continue
            reason = _("a check sees the work folder only, not {path}").format(path=path)
            lab.ledger.unmapped(Place(place.file, place.line + number - 1), line.strip()[:100], reason)


def _stays(lab: LabDraft, path: str) -> bool:
    return any(path in text for text in _scripts(lab, "scripts/"))


def _scripts(lab: LabDraft, folder: str) -> list[str]:
    return [file.data.decode(errors="replace") for name, file in lab.files.items() if name.startswith(folder)]


def _replaced(path: re.Pattern[str], by: Callable[[re.Match[str]], str], data: bytes) -> bytes:
    return path.sub(by, data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
