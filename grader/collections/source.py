"""What a person means by SOURCE: a folder, an archive, or a repository of git.

Owns that decision, the name a collection gets where none is given, and the way from any source to a tree of labs.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.collections.address import LONGEST_NAME, is_name
from grader.collections.archive import SUFFIXES, take_archive
from grader.collections.folder import take_folder
from grader.collections.git import checked_ref, checked_url, is_url, take_git
from grader.collections.intake import LIMITS, Intake, Limits, digest_of
from grader.collections.model import Origin
from grader.lab.parse import LAB_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABS = "labs"
_WRAPPED = 3
"""How many folders that hold nothing but one folder may be around the labs of an archive."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A tree of labs in a folder for the moment, one folder for each."""

    tree: Path
    commit: str
    digest: str
    labs: tuple[str, ...]
    links: tuple[str, ...]
    """Links that were left out."""


def origin_of(source: str, ref: str = "") -> Origin:
    """Where `source` leads. UsageProblem: nowhere, or where git may not be sent."""
    if is_url(source) and not Path(source).exists():
        return Origin(kind="git", location=checked_url(source), ref=checked_ref(ref) if ref else "")
    path = Path(source).absolute()
    if ref:
        raise UsageProblem(_("--ref goes with a repository of git: an address such as https://… or file://…"))
    if path.is_dir():
        if (path / "HEAD").is_file() and (path / "objects").is_dir():
            raise UsageProblem(
                _("{folder} is a bare repository").format(folder=source),
                _("fetch from it: {command}").format(command=f"grader lab add file://{path}"),
            )
        return Origin(kind="folder", location=str(path))
    if path.is_file():
        return Origin(kind="archive", location=str(path))
    if path.exists():
        raise UsageProblem(_("{source} is neither a folder nor a file").format(source=source))
    raise UsageProblem(
        _("there is no {source}").format(source=source),
        _("a folder, an archive ({kinds}), or an address of git (https://…, ssh://…, file://…)").format(
            kinds=" ".join(SUFFIXES)
        ),
    )


def name_for(origin: Origin) -> str:
    """The name a collection gets by itself: the last part of where it comes from. UsageProblem: that is no name."""
    last = re.split(r"[/:]", origin.location.rstrip("/"))[-1].lower()
    for suffix in (*SUFFIXES, ".git"):
        if last.endswith(suffix):
            last = last.removesuffix(suffix)
            break
    name = re.sub(r"[^a-z0-9]+", "-", last[: 4 * LONGEST_NAME]).strip("-")[:LONGEST_NAME].strip("-")
    return checked_name(name, last)


def checked_name(name: str, said: str = "") -> str:
    """`name` where a collection may be called so; UsageProblem."""
    if is_name(name):
        return name
    raise UsageProblem(
        _("'{name}' is no name for a collection").format(name=said or name),
        _("give it one with --name: lower-case letters, digits and single hyphens, at most {limit}").format(
            limit=LONGEST_NAME
        ),
    )


def fetch(origin: Origin, scratch: Path, limits: Limits = LIMITS) -> Fetched:
    """Bring the labs of `origin` into the empty folder `scratch`. UsageProblem: there are none, or may not be."""
    received = scratch / "received"
    received.mkdir()
    intake = Intake(received, origin.location, limits)
    commit = ""
    if origin.kind == "git":
        commit = take_git(origin.location, origin.ref, intake)
    elif origin.kind == "archive":
        take_archive(_still_there(origin, Path.is_file), intake)
    else:
        commit = take_folder(_still_there(origin, Path.is_dir), intake)
    tree = scratch / "tree"
    tree.mkdir()
    labs = tuple(_arrange(received, tree, intake))
    shutil.rmtree(received, ignore_errors=True)  # where it is one lab, it was moved as a whole
    return Fetched(tree, commit, digest_of(tree), labs, tuple(intake.links))


def _still_there(origin: Origin, is_there: object) -> Path:
    path = Path(origin.location)
    if not callable(is_there) or not is_there(path):
        raise UsageProblem(_("there is no {source} any more").format(source=origin.location))
    return path


def _arrange(received: Path, tree: Path, intake: Intake) -> Iterator[str]:
    """Move each lab of what was received into `tree`; what is no lab stays behind."""
    root = _root_of(received)
    if (root / LAB_FILE).is_file():
        lab = _own_id(root, intake)
        root.rename(tree / lab)
        yield lab
        return
    labs = sorted(path.parent.name for path in root.glob(f"*/{LAB_FILE}") if path.is_file())
    if not labs:
        message = _("no lab in it: a lab is a folder with a {file}, beside others or below {labs}/")
        raise intake.refused(message.format(file=LAB_FILE, labs=_LABS))
    if len(labs) > intake.limits.labs:
        raise intake.refused(_("more than {limit} labs").format(limit=intake.limits.labs))
    for lab in labs:
        if not is_lab_id(lab):
            message = _("no name for a lab: lower-case letters, digits and single hyphens, at most 63")
            raise intake.refused(message, lab)
        (root / lab).rename(tree / lab)
        yield lab


def _root_of(received: Path) -> Path:
    """The folder whose folders are labs, or which is one itself."""
    root = received
    for _level in range(_WRAPPED):
        if (root / LAB_FILE).is_file() or any(root.glob(f"*/{LAB_FILE}")):
            return root
        if any((root / _LABS).glob(f"*/{LAB_FILE}")):
            return root / _LABS
        with os.scandir(root) as entries:
            folders = [entry.name for entry in entries if entry.is_dir()]
        if len(folders) != 1:
            return root
        root /= folders[0]
    return root


def _own_id(folder: Path, intake: Intake) -> str:
    """The id that a lab gives itself: of one that is a whole collection, the folder's name says nothing."""
    from grader.lab.located import read_document
    from grader.lab.markdown import front_matter
    from grader.lab.problems import LabProblem, read_source

    found: list[LabProblem] = []
    source = read_source(folder / LAB_FILE, found)
    text = None if source is None else front_matter(source.text)
    document = None if source is None or text is None else read_document(source, found, text=text, first_line=2)
    said = document.value.get("lab") if document is not None and isinstance(document.value, dict) else None
    if not isinstance(said, str) or not is_lab_id(said):
        raise intake.refused(_("its front matter does not say which lab it is (lab: …)"), LAB_FILE)
    return said


def is_lab_id(text: str) -> bool:
    """Whether a lab may be called so."""
    from grader.lab.markdown import ID

    return len(text) <= 63 and bool(ID.match(text))
