"""The installed collections: `<state>/collections/<name>/`, one folder of files for each version of one.

Owns adding, accepting, updating and removing, each of which is a rename that happened or did not; the locks that
keep a start and an update apart; and what is there to be read. Knows nothing of what the labs say.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.i18n import _
from cluster.paths import state_dir
from grader.collections.address import address, collection_of, folder_name, is_name
from grader.collections.model import FILE, Collection, Origin, load, save, tree_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.collections.source import Fetched

_NEW = ".new-"
"""How folders begin that are on the way to become a collection."""
_LOCKS = ".locks"
_LEFT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two versions of a collection, by its labs."""

    before: Collection
    after: Collection
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def collections_dir() -> Path:
    """The folder of all collections; may not exist."""
    return state_dir() / "collections"


def names() -> list[str]:
    """Every collection that has a folder, whatever is in it."""
    try:
        with os.scandir(collections_dir()) as entries:
            return sorted(entry.name for entry in entries if is_name(entry.name) and entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def find(name: str, on_note: Callable[[str], None] | None = None) -> Collection | None:
    """The collection of that name; None where there is none, or where its file is damaged (`on_note` is told)."""
    if not is_name(name):
        return None
    home = collections_dir() / name
    if not home.is_dir():
        return None
    found, note = load(home)
    if note and on_note:
        on_note(_("{note}; add the collection again").format(note=note))
    return found


def get(name: str) -> Collection:
    """The collection of that name. UsageProblem where there is none: with a near name, or what to do."""
    notes: list[str] = []
    found = find(name, notes.append)
    if found is None:
        raise _no_collection(name, notes)
    return found


def installed(on_note: Callable[[str], None]) -> list[Collection]:
    """Every collection that can be read, by name; `on_note` is told of the others."""
    found = []
    for name in names():
        collection = find(name, on_note)
        if collection is not None:
            found.append(collection)
    return found


def lab_folders(collection: Collection) -> list[str]:
    """The ids of its labs, without its name, by the alphabet."""
    from grader.lab.catalogue import lab_folders as folders_in

    return folders_in(collection.tree)


# -- changing them ------------------------------------------------------------------------------------


def add(name: str, origin: Origin) -> tuple[Collection, Fetched]:
    """Fetch `origin` and keep it as `name`, not accepted. UsageProblem: the name is taken, or what came is refused."""
    with _held(name):
        home = collections_dir() / name
        if home.exists() and load(home)[0] is not None:
            message = _("there is a collection {name} already").format(name=name)
            advice = _("update it: {update}, or give this one another name: --name")
            raise UsageProblem(message, advice.format(update=f"grader lab update {name}"))
        with _scratch() as scratch:
            fetched = _fetch(origin, scratch)
            now = time.time()
            collection = _of(name, origin, fetched, added=now, updated=now)
            if home.exists():  # what is left of one whose file was damaged
                shutil.rmtree(home)
            fetched.tree.rename(scratch / tree_name(fetched.digest))
            save(collection, scratch)
            (scratch / "kept").mkdir(mode=0o700)
            for entry in (tree_name(fetched.digest), FILE):
                (scratch / entry).rename(scratch / "kept" / entry)
            (scratch / "kept").rename(home)
        return collection, fetched


def accept(collection: Collection, *, real_nodes: bool) -> Collection:
    """Accept these very files. UsageProblem: others came meanwhile, or somebody changed them where they lie."""
    with _held(collection.name):
        now = find(collection.name)
        if now is None or now.digest != collection.digest:
            raise UsageProblem(_("{name} was changed meanwhile; look at it again").format(name=collection.name))
        if not is_untouched(now):
            raise touched(now)
        accepted = replace(now, accepted=time.time(), real_nodes=real_nodes)
        save(accepted)
        return accepted


@contextmanager
def fetched_anew(name: str, ref: str | None = None) -> Iterator[tuple[Difference, Callable[[], Collection]]]:
    """What an update would change, and the function that makes the change. `ref`: instead of the branch, tag or
    commit of before.

    UsageProblem: a lab of it runs, or what came is refused; then everything is as before.
    """
    with _held(name):
        before = get(name)
        refuse_running(name)
        origin = before.origin if ref is None else _at(before.origin, ref)
        with _scratch() as scratch:
            fetched = _fetch(origin, scratch)
            after = _of(name, origin, fetched, added=before.added, updated=time.time())
            if after.digest == before.digest:  # the same files, perhaps by another commit: nothing to accept anew
                after = replace(after, accepted=before.accepted, real_nodes=before.real_nodes, updated=before.updated)
            difference = _compared(before, after, fetched.tree)

            def take() -> Collection:
                if not after.tree.exists():
                    fetched.tree.rename(after.tree)
                save(after)  # this is the change: until now the files before are the collection's
                _forget_trees(after)
                return after

            yield difference, take


def remove(name: str) -> None:
    """Delete the collection; sessions of its labs keep the learner's files and progress. UsageProblem: one runs."""
    with _held(name):
        home = collections_dir() / name
        if not is_name(name) or not home.is_dir():
            raise _no_collection(name, [])
        refuse_running(name)
        with _scratch() as scratch:
            home.rename(scratch / "removed")  # at once; what is then deleted one by one is nobody's any more


@contextmanager
def in_use(lab_id: str) -> Iterator[None]:
    """The time in which a lab is started: its collection is not changed meanwhile; of a lab of ours, no time."""
    name = collection_of(lab_id)
    if not name:
        yield
        return
    with _held(name, shared=True):
        yield


def refuse_running(name: str) -> None:
    """UsageProblem where the machine of a lab of `name` runs."""
    from cluster import local
    from grader.session.places import session_home, session_ids

    ours = [lab for lab in session_ids() if collection_of(lab) == name]
    running = [lab for lab in ours if local.status(session_home(lab)).state != "stopped"]
    if running:
        raise UsageProblem(
            _("a lab of {name} runs: {labs}").format(name=name, labs=", ".join(running)),
            _("stop it first: {command}").format(command=f"grader stop {running[0]}"),
        )
    verified = (state_dir() / "verify").glob(f"{folder_name(address(name, '*'))}/")
    if any(local.status(home).state != "stopped" for home in verified):
        raise UsageProblem(_("a lab of {name} is being verified").format(name=name), _("try again when it is done"))


def is_untouched(collection: Collection) -> bool:
    """Whether its files are still those that were fetched."""
    from grader.collections.intake import digest_of

    try:
        return digest_of(collection.tree) == collection.digest
    except OSError:
        return False


def touched(collection: Collection) -> UsageProblem:
    """The refusal of files that somebody changed where they lie."""
    return UsageProblem(
        _("the files of {name} in {folder} are not those that were fetched").format(
            name=collection.name, folder=collection.tree
        ),
        _("fetch them again: {command}").format(
            command=f"grader lab remove {collection.name}; grader lab add {collection.origin.location}"
        ),
    )


# -- beneath ------------------------------------------------------------------------------------------


def _fetch(origin: Origin, scratch: Path) -> Fetched:
    from grader.collections.source import fetch

    return fetch(origin, scratch)


def _at(origin: Origin, ref: str) -> Origin:
    from grader.collections.source import origin_of

    if origin.kind != "git":
        raise UsageProblem(_("--ref goes with a repository of git: an address such as https://… or file://…"))
    return origin_of(origin.location, ref)


def _of(name: str, origin: Origin, fetched: Fetched, *, added: float, updated: float) -> Collection:
    return Collection(
        name=name,
        origin=origin,
        commit=fetched.commit,
        digest=fetched.digest,
        added=added,
        updated=updated,
        accepted=None,
        real_nodes=False,
        home=collections_dir() / name,
    )


def _compared(before: Collection, after: Collection, tree: Path) -> Difference:
    from grader.collections.intake import digest_of

    def labs(folder: Path) -> dict[str, str]:
        return {path.name: digest_of(path) for path in folder.iterdir()} if folder.is_dir() else {}

    old, new = labs(before.tree), labs(tree)
    return Difference(
        before=before,
        after=after,
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(lab for lab in new.keys() & old.keys() if new[lab] != old[lab])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


def _forget_trees(collection: Collection) -> None:
    """Delete the files of versions that were, and what a start that was cut short left."""
    for entry in collection.home.iterdir():
        if entry.is_dir() and entry != collection.tree:
            shutil.rmtree(entry, ignore_errors=True)


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder beside the collections, so that a rename makes one of what is in it; gone afterwards."""
    folder = collections_dir()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _clear_away(folder)
        scratch = Path(tempfile.mkdtemp(prefix=_NEW, dir=folder))
    except OSError as error:
        raise _cannot(folder, error) from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _clear_away(folder: Path) -> None:
    """Delete what commands that were killed left on the way; what is young may be somebody's work just now."""
    for left in folder.glob(f"{_NEW}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _held(name: str, *, shared: bool = False) -> Iterator[None]:
    """The lock of a collection. Who changes it does not wait: what holds it may be a start of half a minute."""
    folder = collections_dir() / _LOCKS
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _cannot(folder, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EnvironmentProblem(
                _("another command works on {name}, or one of its labs is being started").format(name=name),
                _("try again when it is done"),
            ) from None
        yield
    finally:
        os.close(handle)


def _no_collection(name: str, notes: list[str]) -> UsageProblem:
    from grader.checks.words import near, shorten

    if notes:
        return UsageProblem("\n".join(notes))
    message = _("no collection '{name}'").format(name=shorten(name))
    if guess := near(name, names()):
        message = _("{trouble}; {advice}").format(
            trouble=message, advice=_("did you mean '{near}'?").format(near=guess)
        )
    return UsageProblem(message, _("`grader lab list` shows the collections"))


def _cannot(folder: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        _("can't use {path}: {why}").format(path=folder, why=error.strerror or error),
        _("make it writable, or point XDG_STATE_HOME at a folder that is"),
    )
