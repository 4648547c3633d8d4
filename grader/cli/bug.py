"""What is said and kept when the grader itself fails.

Owns the report of our own bugs; knows nothing of what went wrong.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from importlib import metadata
from typing import TYPE_CHECKING

from cluster import i18n
from cluster.errors import Problem
from cluster.i18n import _
from cluster.paths import state_dir
from grader.session.here import examination
from grader.session.places import stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class _Bug(Problem):
    """Only said, never raised."""


def report_bug(error: Exception, argv: Sequence[str]) -> None:
    """Say that it is our fault and where the traceback was put."""
    from grader.cli import say

    try:
        message = _("this is our bug, not your mistake: {kind}: {error}")
    except Exception:  # noqa: BLE001  # the bug is in the catalog of messages: then there is only English
        i18n.set_language("en")
        message = _("this is our bug, not your mistake: {kind}: {error}")
    message = message.format(kind=type(error).__name__, error=str(error)[:500])
    text = "".join(
        [
            f"batchlab {version()}, Python {platform.python_version()}, {platform.platform()}\n",
            f"grader {' '.join(argv)}\n\n",
            *traceback.format_exception(error),
        ]
    )
    try:
        path = _keep(text)
    except OSError:
        print(text, file=sys.stderr)
        say(_Bug(message))
    else:
        say(_Bug(message, _("the details are in {path}; please report them").format(path=path)))


def version() -> str:
    """The installed version, or "checkout" where none is installed."""
    try:
        return metadata.version("batchlab")
    except metadata.PackageNotFoundError:
        return "checkout"


def _keep(text: str) -> Path:
    here = examination()
    # The sandbox shares only the session folder with the host.
    folder = (here.home if here else state_dir()) / "crashes"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"crash-{stamp()}-{os.getpid()}.txt"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path
