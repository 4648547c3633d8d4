"""What a lab brings along for its own place: `scripts/` for checks, `files/` for the work folder.

Owns the rules of lint about these two folders; what a check says of a script is its model's, and what runs where is
`cluster.sandbox.script_cell`'s.
"""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.lab.problems import LabProblem, did_you_mean, read_source
from grader.lab.scripts import entries, read_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.lab.parse import Reading

SCRIPTS, FILES = "scripts", "files"
MOST_BYTES, MOST_ENTRIES = 32 << 20, 5000
"""Of `files/`; scripts can look at a work folder of a little more (`cluster.sandbox.script_cell`)."""
_SHELLS = ("bash", "sh")


def check_scripts(reading: Reading) -> Iterator[LabProblem]:
    """Scripts that checks name and that are not there, and scripts that nothing names."""
    found: list[LabProblem] = []
    folder = reading.folder / SCRIPTS
    paths = entries(folder, found)
    for path in paths:
        if path.is_symlink():
            found.append(LabProblem(str(path), 1, 1, _("is a link: links are not followed")))
        else:
            read_script(path, found)
    yield from found
    names = [path.name for path in paths]
    named = set()
    for _section, drafts in reading.steps:
        for draft in drafts:
            script = draft.value.get("script")
            name = script.get("file") if isinstance(script, dict) else None
            if isinstance(name, str) and name not in names:
                message = _("no script '{name}' in scripts/").format(name=name) + did_you_mean(name, names)
                yield draft.problem(("script", "file"), message)
            named.add(name)
    texts = {path.name: _text(path) for path in paths}
    inline = [str(draft.value["script"]) for _s, drafts in reading.steps for draft in drafts if "script" in draft.value]
    for path in paths:
        others = [text for name, text in texts.items() if name != path.name]
        if path.name not in named and not any(path.name in text for text in (*others, *inline)):
            message = _("'{name}' is named by no check and no other script").format(name=path.name)
            yield LabProblem(str(path), 1, 1, message)


def check_files(folder: Path) -> Iterator[LabProblem]:
    """What of `files/` would not arrive in a work folder, or is too much of it."""
    found: list[LabProblem] = []
    entries(folder / FILES, found)
    yield from found
    if found or not (folder / FILES).is_dir():
        return
    size = count = 0
    for path in sorted((folder / FILES).rglob("*")):
        mode = path.lstat().st_mode
        count += 1
        if stat.S_ISREG(mode):
            size += path.lstat().st_size
        elif not stat.S_ISDIR(mode):
            yield LabProblem(str(path), 1, 1, _("is neither a file nor a folder: it is not copied"))
    if size > MOST_BYTES or count > MOST_ENTRIES:
        message = _("{folder} holds more than {size} MiB or {count} files")
        message = message.format(folder=FILES, size=MOST_BYTES >> 20, count=MOST_ENTRIES)
        yield LabProblem(str(folder / FILES), 1, 1, message)


def is_for_bash(path: Path) -> bool:
    """Whether bash can say if a script is well formed: it has no first line that names another program."""
    first = _text(path).partition("\n")[0]
    return not first.startswith("#!") or first.split("/")[-1].split(" ")[-1].strip() in _SHELLS


def _text(path: Path) -> str:
    source = read_source(path, [])
    return source.text if source else ""
