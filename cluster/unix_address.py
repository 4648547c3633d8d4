"""The path of a unix socket, whatever its length.

Owns the way around the kernel's limit of 107 bytes, which a session folder in a deep home exceeds.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Another name of `path`, short enough to bind or connect to; its folder must exist (OSError)."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
