"""The scripts that prove a lab: reading them, and the solution of each step, `solution/NN-<step-id>.sh`.

Owns which step a solution belongs to; runs none of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.lab.problems import LabProblem, did_you_mean, read_source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SOLUTION = re.compile(r"(?P<number>\d{2})-(?P<step>.+)\.sh\Z")


def solution_scripts(folder: Path) -> dict[str, Path]:
    """The solution of each step by the step's id, in the order of their numbers."""
    return {match["step"]: path for path, match in _solutions(folder)}


def compare_solutions(folder: Path, steps: Sequence[tuple[str, int]], found: list[LabProblem]) -> None:
    """Tell which `steps` (id, line in lab.md) have no solution, and which files are no step's solution."""
    number_of = {step: number for number, (step, _line) in enumerate(steps, start=1)}
    have: dict[str, Path] = {}
    for path in entries(folder / "solution", found):
        match = _SOLUTION.match(path.name)
        step = match["step"] if match else path.stem
        if match is None or step not in number_of:
            names = [f"{number:02}-{name}.sh" for name, number in number_of.items()]
            message = _("'{name}' is the solution of no step: NN-<step id>.sh").format(name=path.name)
            found.append(LabProblem(str(path), 1, 1, message + did_you_mean(path.name, names)))
            continue
        if step in have:
            message = _("a second solution of step '{step}', beside {other}")
            message = message.format(step=step, other=have[step].name)
            found.append(LabProblem(str(path), 1, 1, message))
        elif int(match["number"]) != number_of[step]:
            message = _("step '{step}' is number {number}: name this file {name}")
            name = f"{number_of[step]:02}-{step}.sh"
            message = message.format(step=step, number=number_of[step], name=name)
            found.append(LabProblem(str(path), 1, 1, message))
        have.setdefault(step, path)
        read_script(path, found)
    for step, line in steps:
        if step not in have:
            message = _("step '{step}' has no solution: solution/{name}")
            message = message.format(step=step, name=f"{number_of[step]:02}-{step}.sh")
            found.append(LabProblem(str(folder / "lab.md"), line, 1, message))


def _solutions(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    paths = sorted((folder / "solution").glob("*.sh"))
    return [(path, match) for path in paths if (match := _SOLUTION.match(path.name))]


def entries(folder: Path, found: list[LabProblem]) -> list[Path]:
    """What stands in a folder that may be missing; hidden files apart."""
    if not folder.exists():
        return []
    if not folder.is_dir():
        found.append(LabProblem(str(folder), 1, 1, _("must be a folder")))
        return []
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def read_script(path: Path, found: list[LabProblem]) -> None:
    """Tell what is wrong with a script that can be seen without running it."""
    source = read_source(path, found)
    if source is not None and not any(
        line.strip() and not line.lstrip().startswith("#") for line in source.text.split("\n")
    ):
        found.append(source.problem(1, 1, _("a script that does nothing")))
