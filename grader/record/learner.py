"""Who a report is of: the name in it, `learner.json`, given once and kept.

Owns that file and what stands in for a name nobody gave; the key that goes with it is `grader.record.keys`'.
"""

from __future__ import annotations

import os
import pwd
import unicodedata
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from cluster.paths import state_dir
from grader.progress.files import StoredFile, locked, read_stored, write_stored

if TYPE_CHECKING:
    from pathlib import Path

FILE = "learner.json"
LONGEST = 80


class _File(StoredFile):
    name: str = ""


def learner_name(folder: Path | None = None) -> str:
    """The name that was given, else the one this account has on this machine."""
    folder = folder or state_dir()
    if (folder / FILE).exists():
        with locked(folder, "record.lock"):
            stored, _note = read_stored(folder / FILE, _File, _("upgrade batchlab"))
        if stored.name:
            return stored.name
    return account_name()


def keep_name(name: str, folder: Path | None = None) -> str:
    """Remember `name` for all reports to come. UsageProblem where it can't be one."""
    name = unicodedata.normalize("NFC", name).strip()
    if not name or len(name) > LONGEST or any(unicodedata.category(letter).startswith("C") for letter in name):
        raise UsageProblem(_("a name is one line of 1 to {most} characters").format(most=LONGEST))
    folder = folder or state_dir()
    with locked(folder, "record.lock"):
        write_stored(folder / FILE, {"name": name})
    return name


def account_name() -> str:
    """The full name of the account, else its login name; under sudo that of who called."""
    try:
        login = os.environ.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name
        full = pwd.getpwnam(login).pw_gecos.partition(",")[0].strip()
    except KeyError:
        return str(os.getuid())
    return (full or login).encode("utf-8", "replace").decode()
