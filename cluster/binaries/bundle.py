"""One archive of everything built, for machines that have no Go: classes and air-gapped rooms.

Owns the archive (.tar.gz, index.json first) and the checks on the way in; the archive is not trusted: only
names that the index has, only plain files, only the bytes whose digests it gives, only this very lock.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import tempfile
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from cluster.binaries import store
from cluster.binaries.progress import BuildEvent, Progress, silent
from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster.binaries.lock import Lock

LEVEL = 6
"""Of gzip: 0.8 GB become 260 MB in 49 s on 2 busy cores and unpack in 8 s; xz: 200 MB in 125 s and more."""

_INDEX_LIMIT = 1 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A written archive: bytes, and sha256 (hexadecimal) for who hands it out."""

    path: Path
    size: int
    sha256: str
    lock: str


def default_name(lock: Lock) -> str:
    """The file name of this lock's bundle."""
    return f"batchlab-{lock.key}-linux-{lock.goarch}.tar.gz"


def bundle(out: Path, folder: Path, on_progress: Progress = silent) -> Bundle:
    """Write everything of `folder` (as `cache.ensure` returns it) to the archive `out`.

    Every file is digested against the index on the way: a damaged folder is never handed on
    (EnvironmentProblem). The same folder gives the same bytes. Takes about half a minute.
    """
    try:
        index = store.read_index(folder)
    except (OSError, ValueError) as error:
        raise UsageProblem(_("{folder} has no index of its files: build it first").format(folder=folder)) from error
    handle, name = tempfile.mkstemp(prefix=f".{out.name}-", dir=out.parent)
    unfinished = Path(name)
    try:
        with (
            os.fdopen(handle, "wb") as target,
            # No name and no time in the gzip header: the same folder gives the same bytes.
            gzip.GzipFile(filename="", fileobj=target, mode="wb", compresslevel=LEVEL, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.USTAR_FORMAT) as tar,
        ):
            _add(tar, store.INDEX, folder, store.digest_file(folder / store.INDEX))
            _add_all(tar, folder, index, on_progress)
        unfinished.chmod(0o644)
        unfinished.replace(out)
    except OSError as error:
        raise EnvironmentProblem(_("can't write {path}: {reason}").format(path=out, reason=error.strerror)) from error
    finally:
        unfinished.unlink(missing_ok=True)
    entry = store.digest_file(out)
    return Bundle(path=out, size=entry.size, sha256=entry.sha256, lock=index.lock)


def unpack(archive: Path, lock: Lock, root: Path, on_progress: Progress = silent) -> Path:
    """Check `archive` and unpack it to `<root>/<lock.key>/`, which appears only when all of it is right.

    UsageProblem if it is not a bundle, of another lock or machine, or changed on the way.
    """
    final = root / lock.key
    with store.exclusive(root, on_progress):
        if (final / store.INDEX).is_file():
            return final
        with store.unfinished(root, lock.key) as work:
            try:
                with tarfile.open(archive, mode="r|gz") as tar:
                    index = _unpack_into(work, iter(tar), tar, archive, lock, on_progress)
            except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise _refused(archive, _("it is damaged or not a bundle ({error})").format(error=error)) from error
            except OSError as error:
                reason = error.strerror or str(error)
                raise UsageProblem(_("can't unpack {path}: {reason}").format(path=archive, reason=reason)) from error
            store.finish(work, final, index)
    return final


def _unpack_into(
    work: Path,
    members: Iterator[tarfile.TarInfo],
    tar: tarfile.TarFile,
    archive: Path,
    lock: Lock,
    on_progress: Progress,
) -> store.Index:
    index = _first(members, tar, archive, lock)
    began = time.monotonic()
    wanted = dict(index.files)
    for number, member in enumerate(members, start=1):
        # `pop`: a name that comes twice is as wrong as one that the index does not have.
        entry = wanted.pop(member.name, None)
        if entry is None or not member.isreg() or not _plain(member.name):
            raise _refused(archive, _("{name} does not belong into it").format(name=repr(member.name)))
        started = time.monotonic()
        source = tar.extractfile(member)
        assert source is not None, "a regular member has content"
        target = work / member.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if member.size != entry.size or _copy(source, target) != entry.sha256:
            raise _refused(archive, _("{name} is not what the index says").format(name=member.name))
        target.chmod(0o755 if member.name.startswith("bin/") else 0o644)
        now = time.monotonic()
        on_progress(
            BuildEvent(
                task=PurePosixPath(member.name).name,
                state="done",
                index=number,
                total=len(index.files),
                seconds=now - started,
                elapsed=now - began,
            )
        )
    if wanted:
        raise _refused(archive, _("{name} is missing").format(name=min(wanted)))
    return index


def _first(members: Iterator[tarfile.TarInfo], tar: tarfile.TarFile, archive: Path, lock: Lock) -> store.Index:
    member = next(members, None)
    if member is None or member.name != store.INDEX or not member.isreg() or member.size > _INDEX_LIMIT:
        raise _refused(archive, _("it does not begin with {name}").format(name=store.INDEX))
    source = tar.extractfile(member)
    assert source is not None, "a regular member has content"
    try:
        index = store.Index.from_json(source.read())
    except ValueError as error:
        raise _refused(archive, _("its {name} can't be read").format(name=store.INDEX)) from error
    if index.goarch != lock.goarch:
        raise _refused(
            archive,
            _("it is for {theirs} machines, this one is {ours}").format(theirs=index.goarch, ours=lock.goarch),
        )
    if index.lock != lock.digest:
        raise _refused(
            archive,
            _("it is of another version of Batchlab: its lock is {theirs}, this version's {ours}").format(
                theirs=index.lock[:12], ours=lock.digest[:12]
            ),
        )
    from cluster.binaries.cache import expected_files

    if absent := next((name for name in expected_files(lock) if name not in index.files), ""):
        raise _refused(archive, _("{name} is missing").format(name=absent))
    return index


def _plain(name: str) -> bool:
    path = PurePosixPath(name)
    return len(path.parts) == 2 and path.parts[0] in store.FOLDERS and ".." not in path.parts


def _copy(source: IO[bytes], target: Path) -> str:
    digest = hashlib.sha256()
    with target.open("xb") as sink:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            sink.write(chunk)
    return digest.hexdigest()


def _add_all(tar: tarfile.TarFile, folder: Path, index: store.Index, on_progress: Progress) -> None:
    began = time.monotonic()
    for number, (name, entry) in enumerate(sorted(index.files.items()), start=1):
        started = time.monotonic()
        with suppress(FileNotFoundError):
            if store.digest_file(folder / name) == entry:
                _add(tar, name, folder, entry)
                now = time.monotonic()
                on_progress(
                    BuildEvent(
                        task=PurePosixPath(name).name,
                        state="done",
                        index=number,
                        total=len(index.files),
                        seconds=now - started,
                        elapsed=now - began,
                    )
                )
                continue
        raise EnvironmentProblem(
            _("{path} is damaged: nothing was written").format(path=folder / name),
            _("remove {folder} and build again").format(folder=folder),
        )


def _add(tar: tarfile.TarFile, name: str, folder: Path, entry: store.FileEntry) -> None:
    member = tarfile.TarInfo(name)
    member.size = entry.size
    member.mode = 0o755 if name.startswith("bin/") else 0o644
    with (folder / name).open("rb") as source:
        tar.addfile(member, source)


def _refused(archive: Path, reason: str) -> UsageProblem:
    return UsageProblem(
        _("the bundle {path} can't be used: {reason}").format(path=archive, reason=reason),
        _("make one with `grader binaries bundle` of the same version on the same kind of machine"),
    )
