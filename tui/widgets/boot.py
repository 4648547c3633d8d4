"""A lab that does not run: what can be done; one that starts: what is ready and what is waited for; one that failed.

Owns their words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from cluster.i18n import _
from grader.report.layout import pad
from tui.marks import mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cluster.errors import Problem
    from cluster.machine import ComponentStatus
    from tui.backend.model import MachineState
    from tui.session import Boot


def booting(lab_id: str, boot: Boot) -> Content:
    """What is ready, what is waited for, and for how long."""
    head = _("{lab} starts: {seconds:.0f} s, {count} ready").format(
        lab=lab_id, seconds=boot.elapsed, count=len(boot.ready)
    )
    lines = [Content.styled(head, "bold")]
    if boot.note:
        lines.append(Content.styled(boot.note, "$warning"))
    waits = [(name, boot.now - began) for name, began in boot.waiting.items()]
    names = max((cell_len(name) for name, _seconds in waits), default=0)
    lines += [
        Content.assemble((f"{mark('waiting')} {_('waits for')}  ", "$warning"), f"{pad(name, names)}  {seconds:4.1f} s")
        for name, seconds in waits
    ]
    if boot.failed:
        lines.append(Content.styled(_("failed: {names}").format(names=", ".join(boot.failed)), "$error"))
    if boot.ready:
        took = " ".join(f"{name} {seconds:.1f}" for name, seconds in reversed(boot.ready.items()))
        lines.append(Content.assemble((f"{mark('passed')} {_('ready')}  ", "$success"), (took, "$muted")))
    if not waits and not boot.note and boot.host:
        lines.append(Content(_("the host is busy with: {task}").format(task=boot.host)))
    return Content("\n").join(lines)


def idle(lab_id: str, machine: MachineState, obstacles: Sequence[str], minutes: int, key: str) -> Content:
    """What a lab that does not run waits for."""
    if obstacles:
        return Content("\n").join([Content.styled(line, "$error") for line in obstacles])
    if machine == "dead":
        return Content("\n").join(
            [
                Content.styled(_("The processes of {lab} died.").format(lab=lab_id), "bold $error"),
                Content(
                    _("{key} repairs it: a new cluster; your files and the steps that passed stay.").format(key=key)
                ),
            ]
        )
    if machine == "starting":
        return Content(_("{lab} is being started by another command.").format(lab=lab_id))
    return Content("\n").join(
        [
            Content.styled(_("{lab} is not running.").format(lab=lab_id), "bold"),
            Content(
                _("{key} starts a cluster of its own: some ten seconds. The lab takes about {minutes} minutes.").format(
                    key=key, minutes=minutes
                )
            ),
        ]
    )


def broken(component: ComponentStatus, key: str) -> Content:
    """A program that nobody starts again, and what then helps."""
    return Content("\n").join(
        [
            Content.styled(
                _("{name} does not run any more: {why}").format(name=component.name, why=component.note), "bold $error"
            ),
            Content(_("{key} repairs it: a new cluster; your files and the steps that passed stay.").format(key=key)),
        ]
    )


def failed(problem: Problem, key: str) -> Content:
    """Why a start failed, with the last lines of the log, and what to do."""
    first, *rest = problem.message.split("\n")
    lines = [Content.styled(first, "bold $error"), *(Content.styled(line, "$foreground") for line in rest)]
    if problem.advice:
        lines.append(Content.styled(problem.advice, "$warning"))
    lines.append(Content(_("{key} tries again").format(key=key)))
    return Content("\n").join(lines)


def unjudged(problem: Problem) -> Content:
    """Why there can be no verdict now; it is tried again by itself."""
    lines = [Content.styled(problem.message, "bold $error")]
    if problem.advice:
        lines.append(Content(problem.advice))
    lines.append(Content.styled(_("tried again by itself; what was seen before stands below"), "$muted"))
    return Content("\n").join(lines)
