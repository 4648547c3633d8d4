"""Which keys of a lab's screen do something now, and what is missing for the others.

Owns these rules, by what is known of the lab; knows nothing of how anything is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.lab.model import Step
    from tui.session import LabSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """What a lab allows just now. `key` tells how an action's key is called (`lab.start`)."""

    session: LabSession
    step: Step | None
    obstacles: str
    """Why this user may not start it; "" where nothing is in the way."""
    recorded: bool
    """Whether there is a history of it."""
    looks: bool
    """Whether a check names a command to look with."""
    key: Callable[[str], str]

    def may(self, action: str) -> bool | None:
        """Whether the key of an action is there (True), there but dim (None), or not there (False)."""
        session = self.session
        running, booting = session.machine == "running", session.boot is not None
        match action:
            case "start":
                return (not running or session.broken is not None) and not booting and not self.obstacles
            case "give_up":
                return booting
            case "check":
                return None if running and session.checking else running
            case "shell" | "stop" | "type_block" | "run_block" | "board":
                return running
            case "reset":
                return not booting and session.standing is not None and session.standing.work is not None
            case "hint":
                return bool(running and self.step and self.step.hints)
            case "timeline":
                return running or self.recorded
            case "look":
                return running and self.looks
        return True

    def why_not(self, action: str) -> str:
        """What is missing for it."""
        session, lab = self.session, self.session.lab_id
        running = session.machine == "running" and session.boot is None
        match action:
            case "start" if running:
                return _("{lab} runs already").format(lab=lab)
            case "start" if session.boot is None:
                return self.obstacles
            case "timeline":
                return _("nothing of {lab} has been recorded").format(lab=lab)
            case "reset" if session.boot is None:
                return _("there is nothing to begin again: {lab} was never started").format(lab=lab)
            case "hint" if running and self.step is None:
                return _("hints belong to a step: {key} goes to the first").format(key=self.key("lab.next"))
            case "hint" if running:
                return _("this step has no hints")
            case "look" if running:
                return _("no check of this step names a command to look with")
            case "check" if running:
                return _("checking now")
            case "give_up":
                return _("no start is under way")
        if session.boot is not None:
            return _("{lab} is being started").format(lab=lab)
        return _("{lab} is not running: {key} starts it").format(lab=lab, key=self.key("lab.start"))
