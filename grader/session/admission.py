"""Whether a lab may be started now: on a host without room it is refused before anything is begun.

Owns the refusal and its advice. What counts as room is `cluster.room`'s.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cluster import local
from cluster.claims import claim
from cluster.errors import EnvironmentProblem
from cluster.host import Host
from cluster.i18n import _
from cluster.needs import needs
from cluster.room import Free, amount_of, name_of, room, short
from grader.session.places import session_home, session_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cluster.needs import Needs
    from grader.lab.model import Lab

IGNORE = "BATCHLAB_IGNORE_ROOM"
"""Environment variable of who runs the host and knows better than its figures; not a word in the advice, since on a
host that others use, too, it is not the learner's to say."""


@contextmanager
def admitted(lab: Lab, home: Path) -> Iterator[None]:
    """The time in which `lab` is started in `home`. EnvironmentProblem at its beginning where there is no room."""
    wanted = needs(lab.cluster)
    with claim(wanted.memory) as promised:
        if not os.environ.get(IGNORE):
            found = room(home, Host())
            left = tuple(
                replace(free, amount=free.amount - promised) if free.thing == "memory" else free for free in found
            )
            if lacking := short(wanted, left):
                raise _refusal(lab.id, wanted, lacking)
        yield


def _refusal(lab: str, wanted: Needs, lacking: tuple[Free, ...]) -> EnvironmentProblem:
    lines = [_("this machine has no room for {lab}; nothing was started").format(lab=lab)]
    for free in lacking:
        need = amount_of(free.thing, getattr(wanted, free.thing))
        left = amount_of(free.thing, free.amount)
        sentence = _("{thing}: {need} needed, {left} free").format(thing=name_of(free.thing), need=need, left=left)
        lines.append(f"  {sentence} ({free.by})" if free.by else f"  {sentence}")
    advice = [free.remedy for free in lacking]
    others = [name for name in session_ids() if name != lab]
    alive = ("running", "starting")
    if running := [name for name in others if local.status(session_home(name)).state in alive]:
        commands = ", ".join(f"grader stop {name}" for name in running)
        advice.insert(0, _("stop a lab that runs: {commands}").format(commands=commands))
    return EnvironmentProblem("\n".join(lines), "\n        ".join(dict.fromkeys(advice)))
