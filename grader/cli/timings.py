"""Where the time of a start went, for people and for programs (`--timings`, `--json`).

Owns the words and the layout of both; what took how long is measured by `cluster.timings`, and whatever tasks and
parts there are is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from cluster.i18n import _
from cluster.supervisor.events import READY
from cluster.timings import BOOT, LAUNCH, SANDBOX
from grader.report.layout import WIDTH, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cluster.timings import BootTimings, TaskTiming

PYTHON, LAB = "python", "lab"
"""Parts of a command before it turns to the session."""
_NAME = 24
"""Cells for a task's name: kube-controller-manager has 23."""


def render_timings(parts: Mapping[str, float], boot: BootTimings | None, *, width: int = WIDTH) -> str:
    """`parts` of the command, then the waves and the critical path of the boot, in lines of at most `width` cells."""
    lines = [_("where the time went: {seconds:.2f} s").format(seconds=sum(parts.values()))]
    lines += [_line(seconds, _part(part), width) for part, seconds in parts.items()]
    if boot is not None:
        lines += ["", *_waves(boot, width)]
        if boot.later:
            lines += [cut(_(" after READY: {tasks}").format(tasks=", ".join(boot.later)), width)]
        lines += ["", _("what held up READY (#), and for how long:")]
        lines += [_line(leg.seconds, _leg(leg.task), width) for leg in boot.path]
    return "\n".join(lines) + "\n"


def timings_content(parts: Mapping[str, float], boot: BootTimings | None) -> dict[str, Any]:
    """The same for `grader.cli.documents.TimingsPart`."""
    return {
        "seconds": _rounded(sum(parts.values())),
        "parts": [{"part": part, "seconds": _rounded(seconds)} for part, seconds in parts.items()],
        "boot": boot and _boot_content(boot),
    }


def _boot_content(boot: BootTimings) -> dict[str, Any]:
    return {
        "seconds": _rounded(boot.seconds),
        "tasks": [
            {
                "task": task.plan.name,
                "kind": "program" if task.plan.program else "step",
                "wave": task.plan.wave,
                "needs": task.plan.needs,
                "began": _rounded(task.began),
                "seconds": _rounded(task.seconds),
                "objects": task.objects,
            }
            for task in boot.tasks
        ],
        "after_ready": boot.later,
        "critical_path": [{"task": leg.task, "seconds": _rounded(leg.seconds)} for leg in boot.path],
    }


def _rounded(seconds: float) -> float:
    return round(max(seconds, 0.0), 3)


def _line(seconds: float, text: str, width: int) -> str:
    return cut(_("{seconds:7.2f} s  {task}").format(seconds=seconds, task=text), width)


def _waves(boot: BootTimings, width: int) -> Iterator[str]:
    """A row for each task: its wave, name, beginning, launch to ready, objects, and a bar on the boot's time."""
    heads = [_("wave"), _("task"), _("from"), _("took"), _("objects")]
    numbers = [max(cell_len(head), 6) for head in heads[2:]]
    first = cell_len(heads[0])
    room = width - 1 - first - 2 - _NAME - sum(2 + number for number in numbers) - 2
    yield f" {heads[0]}  {pad(heads[1], _NAME)}" + "".join(map(_right, heads[2:], numbers))
    critical = {leg.task for leg in boot.path}
    wave = None
    for task in boot.tasks:
        shown = "" if task.plan.wave == wave else str(task.plan.wave or "")
        wave = task.plan.wave
        cells = [f"{task.began:.2f}", f"{task.seconds:.2f}", "" if task.objects is None else str(task.objects)]
        row = f" {shown.rjust(first)}  {pad(cut(task.plan.name, _NAME), _NAME)}" + "".join(map(_right, cells, numbers))
        yield f"{row}  {_bar(task, boot.seconds, room, '#' if task.plan.name in critical else '-')}".rstrip()


def _right(cell: str, width: int) -> str:
    return " " * (2 + width - cell_len(cell)) + cell


def _bar(task: TaskTiming, whole: float, room: int, mark: str) -> str:
    if whole <= 0 or room < 8:
        return ""
    begin = min(int(task.began / whole * room), room - 1)
    end = min(round((task.began + task.seconds) / whole * room), room)
    return " " * begin + mark * max(end - begin, 1)


def _part(part: str) -> str:
    """What the host does, in words; a part that has none is told by its name."""
    return {
        PYTHON: _("Python and what it imports"),
        LAB: _("the lab's files are read"),
        "session": _("the session: its lock, its files"),
        "programs": _("the cluster's programs are found"),
        "stop": _("what runs is stopped"),
        "snapshot": _("the snapshot: found and checked, or kept"),
        "keys": _("keys and certificates"),
        "files": _("configuration files"),
        LAUNCH: _("the sandbox's keeper is launched"),
        BOOT: _("the boot, from its first moment to READY"),
    }.get(part, part)


def _leg(task: str) -> str:
    return {SANDBOX: _("the sandbox: namespaces, file system, network"), READY: _("READY is said")}.get(task, task)
