"""`script`: a script of the lab looks, and its exit code says whether it is so.

Owns what the end of a script means: whose fault it is, and what a learner is told. Where scripts run, as whom and
within which bounds, is `cluster.sandbox.script_cell`'s.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field, model_validator

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.identities import SCRIPT
from cluster.scripts import Order, Script, why_ended
from grader.checks.base import CheckKind
from grader.checks.fields import Model
from grader.checks.words import shorten
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from cluster.scripts import Ending
    from grader.checks.world import World

FOLDER = "scripts"
"""Of the lab's folder: the scripts that checks name."""
MOST_BYTES = 1 << 20
_MOST_FILES = 500
_INLINE = "check.sh"
_LINES, _WIDTH = 4, 240
_NOT_RUN = (126, 127)
"""The shell's own exit codes for what it can't execute and can't find."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")
_WANTS_TO_CHANGE = re.compile(rf'User "{SCRIPT}" cannot (?P<verb>\w+) resource "(?P<what>[^"]*)"')
_NO_ROOM = re.compile(
    r"annot allocate memory|MemoryError|fork: (?:retry: )?Resource temporarily unavailable"
    r"|No space left on device|File too large"
)


def _script_name(text: str) -> str:
    if not _NAME.match(text):
        raise ValueError(_("{name} is not the name of a file in scripts/").format(name=repr(text)))
    return text


def _variables(env: dict[str, str]) -> dict[str, str]:
    for name, value in env.items():
        if not _VARIABLE.match(name):
            raise ValueError(_("{name} is no name of an environment variable").format(name=repr(name)))
        if "\0" in value:
            raise ValueError(_("{name} holds a NUL byte").format(name=repr(name)))
    return env


class ScriptCheck(CheckKind, Model):
    """`file` (of the lab's scripts/) or `run` (its text): passed where it ends with 0."""

    name: ClassVar[str] = "script"

    file: Annotated[str, AfterValidator(_script_name)] = ""
    run: str = ""
    env: Annotated[dict[str, str], AfterValidator(_variables)] = Field(default={})
    seconds: Annotated[int, Field(strict=True, ge=1, le=120)] = 30

    @model_validator(mode="after")
    def _one_script(self) -> ScriptCheck:
        if bool(self.file) == bool(self.run.strip()):
            raise ValueError(_("`file` (of scripts/) or `run` (its text): exactly one of them"))
        if "\0" in self.run:
            raise ValueError(_("{name} holds a NUL byte").format(name="run"))
        return self

    def kinds(self) -> frozenset[str]:
        # What it looks at is its own business; most look at pods, or at what pods follow.
        return frozenset({"Pod"})

    def evaluate(self, world: World) -> Verdict:
        if world.scripts is None:
            raise EnvironmentProblem(_("no script can be run here"))
        library = read_library(world.lab_folder / FOLDER)
        if self.file and self.file not in library:
            raise _fault(_("the lab has no {file}").format(file=f"{FOLDER}/{self.file}"))
        name = self.file or _INLINE
        script = Script(name=name, text=library.get(name, self.run) if self.file else self.run, seconds=self.seconds)
        return self._verdict(world.scripts.run(Order(scripts=(script,), env=dict(self.env), library=library)))

    def _verdict(self, ending: Ending) -> Verdict:
        if ending.good:
            return Verdict(passed=True, evidence=(_("{script} ended with 0").format(script=ending.script),))
        last = _last_lines(ending.output)
        if ending.exit is None:
            raise _fault(why_ended(ending), last)
        if ending.exit in _NOT_RUN:
            message = _("{script} could not run something (exit code {code})")
            raise _fault(message.format(script=ending.script, code=ending.exit), last)
        if refused := _WANTS_TO_CHANGE.search(f"{ending.refused}\n{ending.output}"):
            message = _("{script} may only look at the cluster, and wants to {verb} {what}")
            raise _fault(message.format(script=ending.script, verb=refused["verb"], what=shorten(refused["what"])))
        if _NO_ROOM.search(ending.output):
            raise _fault(_("{script} ran into the bounds of its place").format(script=ending.script), last)
        wanted = _("{script} to end with 0").format(script=ending.script)
        saw = last or _("exit code {code}, and not a word").format(code=ending.exit)
        return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, plain=True))


def read_library(folder: Path) -> dict[str, str]:
    """The texts of the lab's scripts by name; what is no readable text is left out (lint tells it)."""
    from grader.lab.problems import LabProblem, read_source

    # A link may lead to what the examiner can read and a script must not.
    if not folder.is_dir() or folder.is_symlink():
        return {}
    found: list[LabProblem] = []
    names = [path for path in sorted(folder.iterdir())[:_MOST_FILES] if _NAME.match(path.name)]
    sources = [read_source(path, found) for path in names if not path.is_symlink()]
    return {source.path.name: source.text for source in sources if source is not None}


def _last_lines(output: str) -> str:
    """The end of what a script said, on one line that is safe to print."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return " / ".join(shorten(line, _WIDTH // 2) for line in lines[-_LINES:])


def _fault(sentence: str, said: str = "") -> EnvironmentProblem:
    """The script's own fault, or that of its place: never the learner's."""
    told = f"{sentence}: {said}" if said else sentence
    return EnvironmentProblem(_("{told}; the lab's author has to mend it").format(told=told))
