"""The folder of finished programs: its names, its index, and how a new one comes to be all at once.

Owns `<root>/<key>/` and everything around it under `<root>` (lock, unfinished and damaged folders); knows
nothing of how the content is made.

    <root>/<key>/index.json             what is inside, sha256 and size of each file
    <root>/<key>/bin/<program>
    <root>/<key>/manifests/<name>.json  a JSON list of Kubernetes objects
    <root>/<key>/images/<name>.tar      an OCI archive
    <root>/.making-<key>-*/             one that is being made; left behind only by a killed process
    <root>/.damaged-<key>/              one that failed its check, kept for a look
    <root>/.lock                        held (flock) by who makes or moves folders here
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster.binaries.progress import BuildEvent, Progress
from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = "index.json"
FOLDERS = ("bin", "manifests", "images")
"""The folders that an index may name files in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file of the folder: bytes and sha256 (hexadecimal)."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What index.json says. Paths are relative, with `/`."""

    lock: str
    goarch: str
    go: str
    """The Go that built it, for example `go1.26.8`."""
    built: float
    """Unix time."""
    versions: dict[str, str]
    """Program → version of its module; images too, where they have one."""
    files: dict[str, FileEntry]

    def to_json(self) -> str:
        """As it is written."""
        files = {name: {"sha256": e.sha256, "size": e.size} for name, e in sorted(self.files.items())}
        told = {"format": 1, "lock": self.lock, "platform": f"linux/{self.goarch}", "go": self.go}
        return json.dumps(told | {"built": self.built, "versions": self.versions, "files": files}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Index:
        """The reverse of `to_json`; ValueError for anything that is not an index."""
        try:
            told: dict[str, Any] = json.loads(text)
            return cls(
                lock=str(told["lock"]),
                goarch=str(told["platform"]).removeprefix("linux/"),
                go=str(told["go"]),
                built=float(told["built"]),
                versions={str(k): str(v) for k, v in told["versions"].items()},
                files={
                    str(name): FileEntry(size=int(entry["size"]), sha256=str(entry["sha256"]))
                    for name, entry in told["files"].items()
                },
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an index of binaries: {error!r}") from error


def read_index(folder: Path) -> Index:
    """The index of `folder`. OSError if there is none, ValueError if it is broken."""
    return Index.from_json((folder / INDEX).read_bytes())


def index_files(folder: Path) -> dict[str, FileEntry]:
    """Every file under bin/, manifests/ and images/, digested: seconds, not milliseconds."""
    found = sorted(path for name in FOLDERS for path in (folder / name).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): digest_file(path) for path in found}


def digest_file(path: Path) -> FileEntry:
    """Size and sha256 of one file."""
    with path.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256")
        return FileEntry(size=source.tell(), sha256=digest.hexdigest())


def damage(folder: Path, index: Index) -> str:
    """What a quick look (names, sizes, execute bits) finds wrong in `folder`; empty if nothing."""
    for name, entry in index.files.items():
        try:
            found = (folder / name).stat()
        except OSError:
            return _("{file} is missing").format(file=name)
        if found.st_size != entry.size:
            return _("{file} has {size} bytes instead of {wanted}").format(
                file=name, size=found.st_size, wanted=entry.size
            )
        if name.startswith("bin/") and not found.st_mode & 0o100:
            return _("{file} is not executable").format(file=name)
    return ""


@contextmanager
def exclusive(root: Path, on_progress: Progress) -> Iterator[None]:
    """Nobody else makes or moves folders under `root` meanwhile; waits, saying for whom, and sweeps up."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise EnvironmentProblem(
            _("can't keep binaries in {folder}: {reason}").format(folder=root, reason=error.strerror)
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_progress(BuildEvent(task="lock", state="waiting", detail=_holder(handle)))
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"pid": os.getpid(), "since": time.time()}).encode(), 0)
        _sweep(root, on_progress)
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        told = json.loads(os.pread(handle, 4096, 0))
        since = time.strftime("%H:%M:%S", time.localtime(told["since"]))
        return _("waiting for process {pid}, which makes the binaries since {time}").format(pid=told["pid"], time=since)
    except (ValueError, KeyError, TypeError):  # it has the lock but has not written its name yet
        return _("waiting for another process, which makes the binaries")


def _sweep(root: Path, on_progress: Progress) -> None:
    # Whoever made these held the lock; we hold it now, so they are dead.
    for left in root.glob(".making-*"):
        shutil.rmtree(left, ignore_errors=True)
        on_progress(BuildEvent(task="lock", state="note", detail=_("removed what an interrupted build left behind")))


@contextmanager
def unfinished(root: Path, key: str) -> Iterator[Path]:
    """A fresh folder for the content of `<root>/<key>`, removed unless `finish` moved it there."""
    work = Path(tempfile.mkdtemp(prefix=f".making-{key}-", dir=root))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def finish(work: Path, final: Path, index: Index) -> None:
    """Write the index and give the folder its name: from now on it is there, whole, for everybody."""
    (work / INDEX).write_text(index.to_json())
    work.chmod(0o755)  # mkdtemp's 0700 would lock out the programs that a lab runs as another user
    if final.exists():  # one without an index is no finished folder
        set_aside(final)
    work.rename(final)


def set_aside(folder: Path) -> Path:
    """Move a damaged `<key>` folder to `.damaged-<key>` (the one before goes), and return that."""
    kept = folder.with_name(f".damaged-{folder.name}")
    shutil.rmtree(kept, ignore_errors=True)
    folder.rename(kept)
    return kept
