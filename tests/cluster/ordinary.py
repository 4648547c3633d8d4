"""A process that has given up root, for tests of what an ordinary user may do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

USER = 65500
# Where root's own home holds Python or the binaries, it is opened for passage in a mount namespace of its own.
_PASSAGE = """
    mkdir "$1/over" && mount -t tmpfs over "$1/over" && mkdir "$1/over/upper" "$1/over/work"
    mount -t overlay -o "lowerdir=$HOME,upperdir=$1/over/upper,workdir=$1/over/work" overlay "$HOME"
    chmod 0711 "$HOME" && find "$HOME/.cache" -maxdepth 0 -exec chmod 0711 {} +
    shift && exec "$@"
"""


def as_ordinary_user(script: str, *arguments: str) -> list[str]:
    """Run a Python script as somebody who has a home and nothing else, with the home and `arguments`; what it
    printed, line by line."""
    home = Path(tempfile.mkdtemp(dir="/var/tmp"))
    os.chown(home, USER, USER)
    try:
        ran = subprocess.run(
            [
                *("unshare", "--mount", "--", "sh", "-ec", _PASSAGE, "sh", str(home)),
                *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
                *("env", f"HOME={home}", f"PYTHONPATH={Path.cwd()}"),
                *(sys.executable, "-c", script, str(home), *arguments),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()
    finally:
        shutil.rmtree(home)
