"""Assets of a scenario: files that the platform put onto its machine, and that a lab puts into the work folder.

Owns which files an entry means and where they go; knows nothing of texts, but tells which paths became others.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import Any

from cluster.i18n import _
from grader.importing.draft import File, LabDraft, one_line
from grader.importing.ledger import Place
from grader.importing.machine import CELL_HOME
from grader.importing.tree import Tree, UnreadableError

_HOMES = ("~", CELL_HOME, "/home/scrapbook", "$HOME", "/home/ubuntu", "/home/packer")
"""Where a learner is at home on the machines of those platforms."""


class Assets:
    """The assets of one scenario. `read`: the files that were copied; `moved`: paths of the machine that are now paths
    of the work folder."""

    def __init__(self, tree: Tree, folder: str, lab: LabDraft) -> None:
        self.tree, self.folder, self.lab = tree, folder, lab
        self.read: set[str] = set()
        self.moved: dict[str, str] = {}

    def add(self, entry: dict[str, Any], host: str, place: Place, where: str) -> None:
        """One entry of `details.assets`: its `file` (a pattern, below assets/), `target` and `chmod`."""
        ledger = self.lab.ledger
        pattern = str(entry.get("file", ""))
        what = f"{where}: {pattern[:60]}"
        base = posixpath.join(self.folder, "assets").lstrip("/")
        try:
            wanted = self.tree.join(base, pattern)
            if wanted != base and not wanted.startswith(base + "/"):
                raise UnreadableError(_("leads out of assets/"))
            names = [name for name in self.tree.files(base) if fnmatch.fnmatchcase(name, wanted)]
        except UnreadableError as error:
            ledger.unmapped(place, what, _("the file {why}").format(why=error))
            return
        if not names:
            ledger.unmapped(place, what, _("no such file in assets/"))
        fixed = posixpath.dirname(pattern.split("*", maxsplit=1)[0]) if "*" in pattern else posixpath.dirname(pattern)
        for name in names:
            below = posixpath.relpath(name, posixpath.join(base, fixed)) if "*" in pattern else posixpath.basename(name)
            self._copy(name, below, entry, place, what)
        unknown = sorted(set(entry) - {"file", "target", "chmod"})
        for key in unknown:
            ledger.unmapped(place, f"{where}.{key}", _("no such key is documented"))
        if host not in ("host01", "client"):
            reason = _("there is one machine, not {where}").format(where=one_line(host))
            ledger.approximated(place, what, "files/", reason)

    def _copy(self, name: str, below: str, entry: dict[str, Any], place: Place, what: str) -> None:
        ledger, lab = self.lab.ledger, self.lab
        target = str(entry.get("target", "~/"))
        executable = bool(re.search("[+]x|[1357]", str(entry.get("chmod", ""))))
        inner, home = _inside_work(target)
        path = lab.free(posixpath.normpath(f"files/{inner}/{below}"))
        try:
            lab.files[path] = File(self.tree.data(name), executable or self.tree.executable(name))
        except UnreadableError as error:
            ledger.unmapped(place, what, _("the file {why}").format(why=error))
            return
        self.read.add(name)
        if home:
            ledger.converted(place, f"{what} ({name})" if "*" in what else what, path)
            return
        there = posixpath.join(target, posixpath.basename(below)) if not target.endswith(below) else target
        self.moved[there] = path.removeprefix("files/")
        reason = _("{target} is outside the work folder: put into that, and texts follow").format(target=target[:60])
        ledger.approximated(place, what, path, reason)


def _inside_work(target: str) -> tuple[str, bool]:
    """(folder in the work folder, whether the target lies in the machine's home)."""
    plain = posixpath.normpath(target.strip() or "~")
    for root in _HOMES:
        if plain == root or plain.startswith(root + "/"):
            rest = plain[len(root) :].strip("/")
            return ("" if rest.startswith("..") else rest), True
    if not plain.startswith("/") and not plain.startswith(".."):
        return plain.removeprefix("./"), True
    return "", False
