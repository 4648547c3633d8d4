"""How many hints of a step a learner has been shown, and one more.

Owns that rule and what is remembered of it; knows nothing of how a hint is laid out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from grader.progress import load_progress, note_hints, record_hint
from grader.record.telling import note_hint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.lab.model import Lab, Step


def show_more(lab: Lab, step: Step, home: Path, *, everything: bool = False, on_note: Callable[[str], None]) -> int:
    """How many hints to show now: one more than before, or all of them.

    Remembered only where the lab was started: without a session there is nothing to count for. `on_note` is told
    where it can't be remembered.
    """
    if not home.is_dir():
        return len(step.hints) if everything else min(1, len(step.hints))
    try:
        before = load_progress(home).hints.get(step.id, 0)
        shown = len(step.hints) if everything else min(before + 1, len(step.hints))
        if shown > before:
            note_hints(home, step.id, shown)
            record_hint(lab.id, time.time(), home)
            if note := note_hint(home, lab, step.id, shown):
                on_note(note)
    except EnvironmentProblem as problem:
        on_note(problem.message)
        return len(step.hints) if everything else min(1, len(step.hints))
    return shown
