"""A collection as data, and `collection.json`, which keeps it.

Owns that file and what it says; knows nothing of how a collection is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from cluster.i18n import _
from grader.progress.files import StoredFile, read_stored, write_stored

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "collection.json"
SourceKind = Literal["folder", "git", "archive"]
SHOWN_DIGITS = 12
"""Of a commit or digest, as a person reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a collection comes from: an absolute path, or a URL of git with the branch, tag or commit asked for."""

    kind: SourceKind
    location: str
    ref: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """An installed collection. Times are Unix seconds."""

    name: str
    origin: Origin
    commit: str
    """The git commit whose files these are; empty where they come from none, or not from it alone."""
    digest: str
    """SHA-256 over the names and contents of all files: what is accepted, and what is run."""
    added: float
    updated: float
    """When these files came."""
    accepted: float | None
    """When they were accepted; None: they are not."""
    real_nodes: bool
    """Whether labs that run containers, as root, were accepted, too."""
    home: Path
    """The collection's own folder; the labs lie in `tree`."""

    @property
    def tree(self) -> Path:
        """The folder of its labs, named by the digest: other files never appear under the same name."""
        return self.home / tree_name(self.digest)

    @property
    def pin(self) -> str:
        """Commit or digest in few characters, and which of the two it is."""
        if self.commit:
            return _("commit {commit}").format(commit=self.commit[:SHOWN_DIGITS])
        return _("content {digest}").format(digest=self.digest[:SHOWN_DIGITS])


def tree_name(digest: str) -> str:
    """The name of the folder for files with that digest."""
    return digest[:32]


_Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Origin(BaseModel):
    model_config = ConfigDict(strict=True)

    kind: SourceKind
    location: str
    ref: str = ""


class _Accepted(BaseModel):
    model_config = ConfigDict(strict=True)

    at: FiniteFloat
    digest: _Hex64
    real_nodes: bool = False


class _Content(BaseModel):
    model_config = ConfigDict(strict=True)

    origin: _Origin
    commit: Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")] = ""
    digest: _Hex64
    added: FiniteFloat
    updated: FiniteFloat
    accepted: _Accepted | None = None


class _File(StoredFile):
    collection: _Content | None = None


def load(home: Path) -> tuple[Collection | None, str]:
    """The collection kept in the folder `home` (None: none is), and a sentence for the person, or "".

    A damaged file is set aside and named in the sentence. An acceptance of other files than these is none.
    """
    advice = _("upgrade batchlab, or remove the collection and add it again")
    stored, note = read_stored(home / FILE, _File, advice)
    found = stored.collection
    if found is None:
        return None, note
    accepted = found.accepted if found.accepted and found.accepted.digest == found.digest else None
    collection = Collection(
        name=home.name,
        origin=Origin(kind=found.origin.kind, location=found.origin.location, ref=found.origin.ref),
        commit=found.commit,
        digest=found.digest,
        added=found.added,
        updated=found.updated,
        accepted=accepted.at if accepted else None,
        real_nodes=bool(accepted and accepted.real_nodes),
        home=home,
    )
    return collection, note


def save(collection: Collection, folder: Path | None = None) -> None:
    """Keep it in its folder, or in `folder`, which is about to become that."""
    origin = {
        "kind": collection.origin.kind,
        "location": collection.origin.location,
        "ref": collection.origin.ref,
    }
    accepted: Mapping[str, object] | None = None
    if collection.accepted is not None:
        accepted = {"at": collection.accepted, "digest": collection.digest, "real_nodes": collection.real_nodes}
    content = {
        "origin": origin,
        "commit": collection.commit,
        "digest": collection.digest,
        "added": collection.added,
        "updated": collection.updated,
        "accepted": accepted,
    }
    write_stored((folder or collection.home) / FILE, {"collection": content})
