"""A start in a thread, told of step by step, and given up when nobody waits for it any more.

Owns the way from a cancelled task to a start that ends and leaves nothing; what a start does is `grader.session`'s.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from cluster import local
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from grader.session.places import session_home

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.lab.model import Lab
    from grader.session.lifecycle import Started
    from tui.backend.model import OnBoot, OnBuild

_Event = TypeVar("_Event")


class GivenUp(EnvironmentProblem):
    """Raised inside the start, by its own reports, when it is not wanted any more."""


async def start(lab: Lab, on_boot: OnBoot, on_build: OnBuild, *, again: bool) -> Started:
    """`start_session` or `reset_session`; both callbacks run in the event loop.

    Cancelled: the start is ended, what it had made is cleared away, and only then this returns.
    """
    from grader.session import lifecycle

    loop = asyncio.get_running_loop()
    given_up = False

    def relay(receive: Callable[[_Event], None]) -> Callable[[_Event], None]:
        def told(event: _Event) -> None:
            if given_up:
                raise GivenUp(_("the start of {lab} was given up").format(lab=lab.id))
            loop.call_soon_threadsafe(receive, event)

        return told

    begin = lifecycle.reset_session if again else lifecycle.start_session
    programs = lifecycle.Programs(on_progress=relay(on_build))
    work = asyncio.create_task(asyncio.to_thread(begin, lab, on_event=relay(on_boot), programs=programs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        given_up = True
        # It may be waiting for a program that never gets ready, and then it tells nothing: end the machine.
        await asyncio.to_thread(_end, lab.id)
        with suppress(Problem):
            await work
            await asyncio.to_thread(_end, lab.id)  # it was ready before it heard
        raise


def _end(lab_id: str) -> None:
    with suppress(Problem):
        local.stop(session_home(lab_id))
