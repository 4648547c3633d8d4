"""`grader import`, from a path to labs and what became of everything: read `import_source` from top to bottom.

Owns that flow; what each format says is its reader's.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.importing import parts
from grader.importing.challenge import Challenge
from grader.importing.discovery import FORMATS, IXIMIUZ, Broken, Found, Inventory, take_inventory
from grader.importing.draft import LabDraft, slug, unique
from grader.importing.ledger import Ledger, Place
from grader.importing.scenario import Scenario
from grader.importing.tree import Tree, UnreadableError
from grader.importing.writing import excuse_solutions, write_lab
from grader.lab.lint import lint_lab

if TYPE_CHECKING:
    from grader.lab.problems import LabProblem


@dataclass(slots=True)
class Imported:
    """One lab that was made. `problem`: why it was not written; `kept`: where what stood in its place is now."""

    lab: LabDraft
    format: str
    folder: Path
    written: bool = False
    problem: str = ""
    advice: str = ""
    kept: Path | None = None
    lint: list[LabProblem] = field(default_factory=list)


@dataclass(slots=True)
class Import:
    """All that came of a source."""

    source: Path
    labs: list[Imported]
    broken: list[Broken]
    ledger: Ledger
    """Of what belongs to no lab: orders of scenarios, kinds that are not converted."""

    @property
    def good(self) -> bool:
        """Every lab was written and lints, and everything could be read."""
        return not self.broken and all(one.written and not one.lint for one in self.labs)


def import_source(source: Path, to: Path, *, wanted: str | None = None, force: bool = False) -> Import:
    """Convert what `source` (a folder, or the one file of a scenario or challenge) holds into labs below `to`.

    `wanted`: one of FORMATS; None recognises it. UsageProblem where there is nothing of that kind.
    """
    root, file = _root(source)
    tree = Tree(root)
    try:
        files = [file] if file else tree.files()
    except UnreadableError as error:
        raise UsageProblem(_("{source} {why}").format(source=source, why=error)) from error
    inventory = take_inventory(tree, files, wanted)
    if not inventory.found and not inventory.broken:
        raise UsageProblem(
            _("nothing in {source} is a scenario or a challenge").format(source=source),
            _("wanted: index.json of Killercoda or Katacoda, or markdown whose front matter says kind: challenge"),
        )
    labs = _convert(tree, root, inventory, to)
    for one in labs:
        try:
            one.kept = write_lab(one.lab, one.folder, force=force)
            one.written = True
            excuse_solutions(one.lab, one.folder)
        except UsageProblem as problem:
            one.problem, one.advice = problem.message, problem.advice
        except OSError as error:
            one.problem = _("can't write {folder}: {why}").format(folder=one.folder, why=error.strerror or error)
    for one in labs:  # only now: a lab may come after one that was written later
        one.lint = lint_lab(one.folder) if one.written else []
    return Import(source, labs, inventory.broken, inventory.ledger)


def _root(source: Path) -> tuple[Path, str]:
    """(the folder of the source, its one file or nothing)."""
    if source.is_symlink():
        source = source.resolve()
    if source.is_dir():
        return source, ""
    if source.is_file():
        return source.parent, source.name
    advice = _("get it first: git clone {source}").format(source=source) if ":/" in str(source) else ""
    raise UsageProblem(_("there is no {source}").format(source=source), advice)


def _convert(tree: Tree, root: Path, inventory: Inventory, to: Path) -> list[Imported]:
    taken: set[str] = set()
    ids: dict[str, str] = {}
    made = []
    for found in inventory.found:
        name = posixpath.basename(found.folder) or root.resolve().name
        if found.format == IXIMIUZ and posixpath.basename(found.file) != "index.md":
            name = posixpath.basename(found.file).removesuffix(".md")
        lab_id = unique(slug(name, "lab"), taken)
        ids[found.folder] = lab_id
        lab = _draft(tree, found, lab_id)
        made.append(Imported(lab, found.format, to / lab_id))
    for one in made:
        before = inventory.order.get(posixpath.dirname(one.lab.place.file))
        one.lab.after = [ids[before]] if before in ids and ids[before] != one.lab.id else []
    return made


def _draft(tree: Tree, found: Found, lab_id: str) -> LabDraft:
    names = dict(zip(FORMATS, ("Killercoda", "Katacoda", "iximiuz Labs"), strict=True))
    lab = LabDraft(lab_id, lab_id, Place(found.file, 1), Ledger(), names[found.format])
    if found.format == IXIMIUZ:
        Challenge(tree, found.file, found.document, found.body, found.body_line, lab).convert()
    else:
        Scenario(tree, found.folder, found.document, lab).convert()
    parts.complete(lab)
    return lab
