"""The user's kept snapshots: one file for each recipe, below the cache folder.

Owns finding, refusing, keeping and clearing away; knows nothing of machines. What it hands out was checked whole.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.i18n import _
from cluster.machine import write_private
from cluster.paths import cache_dir
from cluster.snapshots.archive import Snapshot, Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

_SUFFIX = ".snapshot"
_UNUSED_SECONDS = 30 * 24 * 3600
_SPARE_SECONDS = 7 * 24 * 3600
"""A certificate that ends sooner would end while somebody works."""


def default_folder() -> Path:
    """`$XDG_CACHE_HOME/batchlab/snapshots`."""
    return cache_dir() / "snapshots"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The snapshots in `folder`. `tell` is told, in a sentence, of one that can't be used."""

    folder: Path
    tell: Callable[[str], None]

    def take(self, recipe: str, copy: Path) -> Snapshot | None:
        """Copy the snapshot of `recipe` to `copy`, if there is one that may be restored; what it is.

        A damaged file is kept aside.
        """
        path = self._path(recipe)
        try:
            data = path.read_bytes()
            snapshot = Snapshot.from_bytes(data)
            _refuse(snapshot, recipe, time.time())
        except FileNotFoundError:
            return None
        except Unusable as problem:
            self._put_away(path, problem)
            return None
        except OSError as error:
            self.tell(_("can't read {path}: {reason}").format(path=path, reason=error.strerror))
            return None
        write_private(copy, data)
        with suppress(OSError):  # of somebody else, and readable: good enough
            path.touch()  # it is in use: see `_clear`
        return snapshot

    def has(self, recipe: str) -> bool:
        """Whether a file is there; what it is worth, `take` finds out."""
        return self._path(recipe).is_file()

    def keep(self, taken: Path) -> None:
        """Put a file that a machine made onto the shelf. What can't be kept is said, and nothing worse."""
        try:
            data = taken.read_bytes()
            recipe = Snapshot.from_bytes(data).recipe
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self._path(recipe), data)
            taken.unlink()
            self._clear()
        except OSError as error:
            self.tell(
                _("the next start will be a cold one, too: {path}: {reason}").format(
                    path=error.filename, reason=error.strerror
                )
            )
        except Unusable as problem:
            self.tell(_("the next start will be a cold one, too: {path}: {reason}").format(path=taken, reason=problem))

    def _path(self, recipe: str) -> Path:
        return self.folder / f"{recipe}{_SUFFIX}"

    def _put_away(self, path: Path, problem: Unusable) -> None:
        if problem.damaged:
            aside = path.with_suffix(".damaged")
            path.replace(aside)
            said = _("the snapshot for a quick start is damaged ({reason}): kept as {path}; this start makes a new one")
            self.tell(said.format(reason=problem.reason, path=aside))
        else:
            path.unlink()
            said = _("the snapshot for a quick start can't be used ({reason}); this start makes a new one")
            self.tell(said.format(reason=problem.reason))

    def _clear(self) -> None:
        """Remove those of other versions: nobody has used them for a month."""
        for path in self.folder.iterdir():
            if time.time() - path.stat().st_mtime > _UNUSED_SECONDS:
                path.unlink()


def _refuse(snapshot: Snapshot, recipe: str, now: float) -> None:
    from cryptography import x509

    if snapshot.recipe != recipe:
        raise Unusable(_("it is of another recipe"), damaged=False)
    if snapshot.made > now:
        raise Unusable(_("it was made in the future, by this machine's clock"), damaged=False)
    for name, pem in snapshot.keys.items():
        if not name.endswith(".crt"):
            continue
        end = x509.load_pem_x509_certificate(pem.encode()).not_valid_after_utc
        if end.timestamp() - now < _SPARE_SECONDS:
            raise Unusable(_("its certificates are valid until {time} only").format(time=end.date()), damaged=False)
