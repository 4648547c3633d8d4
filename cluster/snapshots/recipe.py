"""What a snapshot depends on: two machines with the same recipe have the same objects before the lab's own.

Owns that list, and errs on the side of another recipe: any change of our own code makes one.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.binaries.store import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster.machine import MachineConfig

_PACKAGE = Path(__file__).resolve().parents[1]


def recipe(config: MachineConfig) -> str:
    """The name of the recipe: programs, add-ons, which kinds of nodes there are, and the code that applies it all.

    Not in it: the nodes themselves and the lab's manifests, which are made after a restore.
    """
    spec = config.spec
    parts = {
        "programs": _programs(config.binaries),
        "code": _code(),
        "addons": spec.addons,
        "fake": bool(spec.fake_nodes),
        "real": spec.real_node is not None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _programs(folder: Path) -> str:
    """The digests of a build of ours; of a folder of the user's own, what shows that a file was replaced."""
    index = folder / INDEX
    if index.is_file():
        return hashlib.sha256(index.read_bytes()).hexdigest()
    return hashlib.sha256("\n".join(_looks(folder)).encode()).hexdigest()


def _looks(folder: Path) -> Iterator[str]:
    for path in sorted(path for part in ("bin", "manifests") for path in (folder / part).glob("*")):
        found = path.stat()
        yield f"{path.relative_to(folder)} {found.st_size} {found.st_mtime_ns}"


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
