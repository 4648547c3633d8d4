"""Where things are kept: our data files, the cache, the state of sessions.

Owns the answers to "where"; creates nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def data_dir(name: str, package: Path = _HERE) -> Path:
    """The data folder `name` (`vm-images`, `labs`, …) that `package` reads.

    In a wheel it lies inside the package, in a checkout beside it.
    """
    inside = package / "data" / name
    return inside if inside.is_dir() else package.parent / name


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/batchlab`: what can be made again (binaries, images, rendered manifests)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batchlab"


def state_dir() -> Path:
    """`$XDG_STATE_HOME/batchlab`: sessions and progress."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "batchlab"
