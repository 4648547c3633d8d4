"""What a source holds: scenarios, challenges, and the files that put them in an order.

Owns how each format is recognised; converts nothing.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from cluster.i18n import _
from grader.importing.challenge import KINDS
from grader.importing.ledger import Ledger, Place
from grader.importing.places import Document, MalformedError, Pointer, read_json, read_yaml, shown
from grader.importing.scenario import is_katacoda
from grader.importing.tree import Tree, UnreadableError
from grader.lab.markdown import front_matter

KILLERCODA, KATACODA, IXIMIUZ = "killercoda", "katacoda", "iximiuz"
FORMATS = (KILLERCODA, KATACODA, IXIMIUZ)
INDEXES = ("index.json", "index.yaml", "index.yml")
_PATHWAY = re.compile(r"(?:.*-pathway|pathway|course|courses|structure)\.json\Z")
_KIND = re.compile(r"^kind:[ \t]*[\"']?(?P<kind>[\w-]+)", re.MULTILINE)
_OTHER_KINDS = ("course", "module", "lesson", "unit", "skill-path", "roadmap", "training", "playground", "post")


@dataclass(slots=True)
class Found:
    """One thing to convert: its file, and what was read of it. `body`: the text below a front matter."""

    format: str
    file: str
    document: Document
    body: str = ""
    body_line: int = 1

    @property
    def folder(self) -> str:
        """Where it lies."""
        return posixpath.dirname(self.file)


@dataclass(slots=True)
class Broken:
    """One thing that could not be read: `file:line:column: message`."""

    format: str
    place: Place
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.place.file}:{max(1, self.place.line)}:{self.column}: {self.message}"


@dataclass(slots=True)
class Inventory:
    """All of a source. `order`: for each folder of a scenario, that of the one before it."""

    found: list[Found] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    order: dict[str, str] = field(default_factory=dict)


def take_inventory(tree: Tree, files: list[str], wanted: str | None) -> Inventory:
    """What of `files` is a scenario or a challenge; `wanted`: of that format only."""
    inventory = Inventory()
    for file in files:
        name = posixpath.basename(file)
        if name in INDEXES and wanted != IXIMIUZ:
            _scenario(tree, file, wanted, inventory)
        elif name.endswith(".md") and wanted in (None, IXIMIUZ):
            _challenge(tree, file, inventory)
    folders = {found.folder for found in inventory.found if found.format != IXIMIUZ}
    for file in files:
        if _PATHWAY.match(posixpath.basename(file)) and wanted != IXIMIUZ:
            _pathway(tree, file, folders, inventory)
    tree.claimed = frozenset(found.folder for found in inventory.found)
    _strangers(files, tree.claimed, inventory)
    return inventory


def _strangers(files: list[str], claimed: frozenset[str], inventory: Inventory) -> None:
    """Files that lie in no scenario's folder: one line for each folder of them."""
    told = {entry.place.file for entry in inventory.ledger.entries} | {one.place.file for one in inventory.broken}
    beside: dict[str, list[str]] = {}
    for file in files:
        inside = "" in claimed or any(file.startswith(f"{folder}/") for folder in claimed)
        if not inside and file not in told:
            beside.setdefault(posixpath.dirname(file), []).append(posixpath.basename(file))
    for folder, names in beside.items():
        what = ", ".join(names[:4]) + (_(" and {count} more").format(count=len(names) - 4) if len(names) > 4 else "")
        inventory.ledger.unmapped(Place(f"{folder}/" if folder else "./"), what, _("in no scenario's folder"))


def _scenario(tree: Tree, file: str, wanted: str | None, inventory: Inventory) -> None:
    try:
        text = tree.text(file)
        if '"details"' not in text.text and "details:" not in text.text:
            return  # some other program's
        document = read_json(text.text) if file.endswith(".json") else read_yaml(file, text.text)
    except UnreadableError as error:
        inventory.broken.append(Broken(wanted or KILLERCODA, Place(file), 1, str(error)))
        return
    except MalformedError as error:
        inventory.broken.append(Broken(wanted or KILLERCODA, Place(file, error.line), error.column, error.message))
        return
    if not isinstance(document.value, dict) or not isinstance(document.value.get("details"), dict):
        inventory.broken.append(
            Broken(wanted or KILLERCODA, Place(file, 1), 1, _("'details' must be a mapping of intro, steps and finish"))
        )
        return
    dialect = KATACODA if is_katacoda(document.value) else KILLERCODA
    inventory.found.append(Found(wanted or dialect, file, document))


def _challenge(tree: Tree, file: str, inventory: Inventory) -> None:
    try:
        text = tree.text(file).text
    except UnreadableError:
        return  # if a scenario names it, that is where it is told
    matter = front_matter(text)
    kind = _KIND.search(matter) if matter else None
    if matter is None or kind is None:
        return
    if kind["kind"] in _OTHER_KINDS:
        reason = _("a {kind} is no lab: challenges and tutorials are converted").format(kind=kind["kind"])
        inventory.ledger.unmapped(Place(file, 1), f"kind: {kind['kind']}", reason)
        return
    if kind["kind"] not in KINDS:
        return
    try:
        document = read_yaml(file, matter, first_line=2)
    except MalformedError as error:
        inventory.broken.append(Broken(IXIMIUZ, Place(file, error.line), error.column, error.message))
        return
    if not isinstance(document.value, dict):
        inventory.broken.append(Broken(IXIMIUZ, Place(file, 2), 1, _("the front matter must be a mapping")))
        return
    lines = matter.count("\n") + 2
    body = "\n".join(text.split("\n")[lines:])
    inventory.found.append(Found(IXIMIUZ, file, document, body, lines + 1))


def _pathway(tree: Tree, file: str, folders: set[str], inventory: Inventory) -> None:
    """A course: an order of scenarios by their folders, below the file or below a folder of the file's name."""
    try:
        document = read_json(tree.text(file).text)
    except (UnreadableError, MalformedError) as error:
        inventory.broken.append(Broken(KATACODA, Place(file, getattr(error, "line", 1)), 1, str(error)))
        return
    value: Any = document.value
    if not isinstance(value, dict):
        return
    base = posixpath.dirname(file)
    name = posixpath.basename(file).removesuffix(".json").removesuffix("-pathway")
    before = ""
    for key in ("items", "courses", "scenarios"):
        entries = value.get(key)
        for number, entry in enumerate(entries if isinstance(entries, list) else []):
            pointer: Pointer = (key, number)
            aim = entry if isinstance(entry, str) else _aim(entry)
            candidates = [posixpath.normpath(posixpath.join(base, part)) for part in (aim, posixpath.join(name, aim))]
            folder = next((one for one in candidates if one in folders), None) or _by_its_end(aim, folders)
            place = Place(file, document.line(pointer))
            what = f"{shown(pointer)}: {aim[:60] or '-'}"
            if folder is None:
                below = any(one.startswith(f"{candidate}/") for one in folders for candidate in candidates if aim)
                reason = _("a course of its own: labs have no courses in courses") if below else _("no scenario there")
                inventory.ledger.unmapped(place, what, reason)
                continue
            if before and folder not in inventory.order and before != folder:
                inventory.order[folder] = before
                reason = _("the order is kept: each lab comes after the one before")
                inventory.ledger.approximated(place, what, "lab.md", reason)
            else:
                inventory.ledger.converted(place, what, "lab.md")
            before = folder
    for key in value:
        if key not in ("items", "courses", "scenarios"):
            reason = _("labs have no course of their own: write one in content/courses")
            inventory.ledger.unmapped(Place(file, document.line((key,))), f"{key}", reason)


def _by_its_end(aim: str, folders: set[str]) -> str | None:
    """The one folder that an address on the web ends with."""
    for count in (2, 1):
        end = "/".join(aim.split("/")[-count:])
        found = [folder for folder in folders if end and (folder == end or folder.endswith(f"/{end}"))]
        if len(found) == 1:
            return found[0]
    return None


def _aim(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    for key in ("path", "id", "course_id", "scenario_id", "external_link"):
        if isinstance(entry.get(key), str) and entry[key]:
            return str(entry[key]).rstrip("/").rpartition("://")[2]
    return ""
