"""Whether bash can read a script: bash is asked, and runs nothing.

Owns what becomes of a script that it can't read; knows nothing of where scripts come from.
"""

from __future__ import annotations

import shutil
import subprocess

_SHELLS = ("bash", "sh")
NOT_RUN = 126


def wrong(script: str) -> str:
    """What bash says of a script that it can't read; nothing where it can, or where another program reads it."""
    first = script.partition("\n")[0]
    bash = shutil.which("bash")
    if bash is None or (first.startswith("#!") and first.split("/")[-1].split(" ")[-1].strip() not in _SHELLS):
        return ""
    done = subprocess.run(
        [bash, "-n"], input=script.encode(errors="replace"), capture_output=True, check=False, env={"LC_ALL": "C"}
    )
    said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
    return said.removeprefix("bash: ") if done.returncode or said else ""


def as_comment(script: str) -> str:
    """The same text as words."""
    return "\n".join(f"# {row}".rstrip() for row in script.rstrip("\n").split("\n"))
