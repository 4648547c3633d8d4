"""What a lab of a collection is called: `COLLECTION/LAB`, and the one folder name made of that.

Owns this spelling. Imports next to nothing: every command, the quickest included, asks here.
"""

from __future__ import annotations

import re

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
LONGEST_NAME = 40
SEPARATOR = "/"
_IN_FOLDERS = "."
"""Takes the separator's place in names of folders: no id and no name of a collection has one."""


def collection_of(lab_id: str) -> str:
    """The collection of `COLLECTION/LAB`; empty for a lab that came with Batchlab."""
    collection, slash, _lab = lab_id.partition(SEPARATOR)
    return collection if slash else ""


def lab_in(lab_id: str) -> str:
    """The lab's own id, without its collection."""
    return lab_id.partition(SEPARATOR)[2] or lab_id


def address(collection: str, lab: str) -> str:
    """The two as one word."""
    return f"{collection}{SEPARATOR}{lab}"


def folder_name(lab_id: str) -> str:
    """A name for one folder of that lab: `COLLECTION.LAB`."""
    return lab_id.replace(SEPARATOR, _IN_FOLDERS)


def lab_of_folder(name: str) -> str:
    """The inverse of `folder_name`."""
    return name.replace(_IN_FOLDERS, SEPARATOR, 1)


def is_name(text: str) -> bool:
    """Whether a collection may be called so."""
    return len(text) <= LONGEST_NAME and bool(NAME.match(text))
