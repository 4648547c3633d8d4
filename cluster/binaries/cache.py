"""Finding the programs of a cluster: given by the user, cached, from a bundle, or built now.

Owns that order and the check of what is found; knows nothing of how a build or a bundle works.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.binaries import store
from cluster.binaries.lock import Lock, read_lock
from cluster.binaries.progress import BuildEvent, Progress, silent
from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _
from cluster.paths import cache_dir

if TYPE_CHECKING:
    from collections.abc import Callable

BIN_DIR_VARIABLE = "BATCHLAB_BIN_DIR"
BUNDLE_VARIABLE = "BATCHLAB_BUNDLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRow:
    """One line of `grader binaries list`. `size` is in bytes, None while it is not there."""

    name: str
    version: str
    module: str
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All programs of the lock, and the folder that has them (None: nothing yet)."""

    lock: str
    folder: Path | None
    built: float | None
    """Unix time."""
    go: str
    """The Go that built them, for example `go1.26.8`; empty while there is nothing."""
    programs: tuple[ProgramRow, ...]
    size: int
    """Bytes of everything in the folder."""


def default_root() -> Path:
    """`$XDG_CACHE_HOME/batchlab/bin`: one folder for each lock."""
    return cache_dir() / "bin"


def ensure(
    bin_dir: Path | None = None,
    bundle: Path | None = None,
    on_progress: Progress = silent,
    *,
    lock: Lock | None = None,
    root: Path | None = None,
    build: Callable[[Lock, Path, Progress], Path] | None = None,
) -> Path:
    """A folder with every program, manifest and image of the lock (layout: see `store`).

    In this order: `bin_dir` (or $BATCHLAB_BIN_DIR), the cache, `bundle` (or $BATCHLAB_BUNDLE), a build
    (minutes, the first time). What is found is looked over (names, sizes; not digests: that would read
    half a gigabyte at each start); a damaged cache folder is kept aside, said, and made again.
    UsageProblem for a folder or bundle that does not fit, EnvironmentProblem if the build can't be done.
    """
    lock = lock or read_lock()
    root = root or default_root()
    if given := bin_dir or _from_environment(BIN_DIR_VARIABLE):
        return _given(given, lock)
    if found := _cached(lock, root, on_progress):
        return found
    if archive := bundle or _from_environment(BUNDLE_VARIABLE):
        from cluster.binaries.bundle import unpack

        return unpack(archive, lock, root, on_progress)
    if build is None:
        from cluster.binaries.build import build as build_with_go

        return build_with_go(lock, root, on_progress)
    return build(lock, root, on_progress)


def locate(bin_dir: Path | None = None, *, lock: Lock | None = None, root: Path | None = None) -> Path | None:
    """The folder that `ensure` would use without making anything; None if it would have to."""
    lock = lock or read_lock()
    if given := bin_dir or _from_environment(BIN_DIR_VARIABLE):
        return _given(given, lock)
    folder = (root or default_root()) / lock.key
    return None if _trouble(folder, lock) else folder


def listing(bin_dir: Path | None = None, *, lock: Lock | None = None, root: Path | None = None) -> Listing:
    """What `grader binaries list` shows; makes nothing."""
    lock = lock or read_lock()
    folder = locate(bin_dir, lock=lock, root=root)
    index = _index(folder) if folder else None
    sizes = _sizes(folder) if folder else {}
    return Listing(
        lock=lock.digest,
        folder=folder,
        built=index.built if index else None,
        go=index.go if index else "",
        programs=tuple(
            ProgramRow(
                name=program.name,
                version=(index.versions.get(program.name, "") if index else "") or program.version,
                module=program.module,
                size=sizes.get(f"bin/{program.name}"),
            )
            for program in lock.programs
            if program.into == "bin"
        ),
        size=sum(sizes.values()),
    )


def expected_files(lock: Lock) -> tuple[str, ...]:
    """Relative paths that every folder of `lock` has."""
    return (
        *(f"bin/{program.name}" for program in lock.programs if program.into == "bin"),
        *(f"manifests/{rendering.name}.json" for rendering in lock.manifests),
        *(f"images/{name}.tar" for name in lock.images),
    )


def _from_environment(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else None


def _given(folder: Path, lock: Lock) -> Path:
    """The user's own folder: without an index it only has to be complete (their own builds)."""
    if not folder.is_dir():
        raise UsageProblem(_("{folder} is not a folder of binaries").format(folder=folder))
    index = _index(folder)
    trouble = _disagrees(index, lock) or store.damage(folder, index) if index else ""
    missing = next((name for name in expected_files(lock) if not (folder / name).is_file()), "")
    trouble = trouble or (missing and _("{file} is missing").format(file=missing))
    if trouble:
        raise UsageProblem(
            _("the binaries in {folder} can't be used: {reason}").format(folder=folder, reason=trouble),
            _("leave out --bin-dir (and {variable}) to use those of this version").format(variable=BIN_DIR_VARIABLE),
        )
    return folder.resolve()


def _cached(lock: Lock, root: Path, on_progress: Progress) -> Path | None:
    folder = root / lock.key
    if not folder.is_dir():
        return None
    if not _trouble(folder, lock):
        return folder
    with store.exclusive(root, on_progress):
        # Again: whoever held the lock may have replaced it meanwhile.
        trouble = _trouble(folder, lock)
        if not folder.is_dir():
            return None
        if not trouble:
            return folder
        kept = store.set_aside(folder)
    said = _("the cached binaries are damaged ({reason}): kept in {folder}, making them again")
    on_progress(BuildEvent(task="cache", state="note", detail=said.format(reason=trouble, folder=kept)))
    return None


def _trouble(folder: Path, lock: Lock) -> str:
    index = _index(folder)
    if index is None:
        return _("{file} is missing").format(file=store.INDEX)
    if index.lock != lock.digest:
        return _("{file} is of another version").format(file=store.INDEX)
    return store.damage(folder, index)


def _disagrees(index: store.Index, lock: Lock) -> str:
    if index.goarch != lock.goarch:
        return _("they are for {theirs}, this machine is {ours}").format(theirs=index.goarch, ours=lock.goarch)
    if index.lock != lock.digest:
        return _("they are of another version of Batchlab ({theirs}, wanted {ours})").format(
            theirs=index.lock[:12], ours=lock.digest[:12]
        )
    return ""


def _index(folder: Path) -> store.Index | None:
    try:
        return store.read_index(folder)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise EnvironmentProblem(
            _("can't read {path}: {reason}").format(path=folder / store.INDEX, reason=error.strerror)
        ) from error


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
