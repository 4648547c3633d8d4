"""A class on one machine: many sessions with fake nodes at once, each of a learner of its own; then one is stopped,
one reset and one killed, and the others should notice nothing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from grader.lab.catalogue import lab_ids, load_lab
from tests.bench import load
from tests.bench.figures import Figure, Report
from tests.bench.ground import Ground
from tests.learner import Learner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PART = "density"
_START_SECONDS, _CHECK_SECONDS = 180.0, 2.0


@dataclass(frozen=True, slots=True)
class Seat:
    """A learner and the lab that is done there."""

    learner: Learner
    lab: str

    def start(self) -> float:
        """Seconds of `grader start`."""
        return self.learner.grader("start", self.lab).seconds

    def check(self) -> float:
        """Seconds of `grader check`, which finds what it finds in an untouched lab."""
        return self.learner.grader("check", self.lab, codes=(0, 1)).seconds

    def picture(self) -> tuple[object, object]:
        """What must stay the same where nothing happens: the programs and the cluster's objects."""
        return self.learner.components(self.lab), self.learner.objects(self.lab)


def measure(ground: Ground, report: Report, runs: int, size: int) -> None:
    """The whole of it, `runs` times. EnvironmentProblem where a session did not start or one of the others broke."""
    labs = [name for name in lab_ids() if not load_lab(name).needs_root]
    for number in range(1, runs + 1):
        ground.say(f"density {number}/{runs}: starting {size} at once")
        seats = [
            Seat(Learner(ground.folder / f"class-{seat}", ground.binaries), lab)
            for seat, lab in enumerate(islice(cycle(labs), size))
        ]
        with ThreadPoolExecutor(size) as everybody:
            title = f"{size} sessions at once: until the last grader start ended"
            figure = Figure(id="density.start", part=PART, title=title, unit="s", target=_START_SECONDS)
            report.add(figure, max(everybody.map(Seat.start, seats)))
            _weigh(report, seats)
            ground.say(f"density {number}/{runs}: checks")
            title = f"grader check in each of {size}, one after another: the greatest"
            figure = Figure(id="density.check", part=PART, title=title, unit="s", target=_CHECK_SECONDS)
            report.add(figure, max(seat.check() for seat in seats))
            title = f"grader check in all {size} at the same moment: the greatest"
            figure = Figure(id="density.checks", part=PART, title=title, unit="s")
            report.add(figure, max(everybody.map(Seat.check, seats)))
        ground.say(f"density {number}/{runs}: one is stopped, one reset, one killed")
        _disturb(report, seats)
        ground.stop_all()


def _weigh(report: Report, seats: Sequence[Seat]) -> None:
    size = len(seats)
    weighed = [sum(one.pss for one in load.memory(seat.learner.home(seat.lab)).values()) for seat in seats]
    title = f"memory (PSS) of {size} sessions, right after the start"
    report.add(Figure(id="density.memory", part=PART, title=title, unit="MB"), sum(weighed))


def _disturb(report: Report, seats: Sequence[Seat]) -> None:
    stopped, reset, killed, *others = seats
    before = [other.picture() for other in others]
    with _asked(others) as seconds:
        stopped.learner.grader("stop", stopped.lab)
        title = f"grader reset of one among {len(seats)}"
        reset_seconds = reset.learner.grader("reset", reset.lab).seconds
        killed.learner.kill(killed.lab)
        title_asked = f"grader check in the other {len(others)} meanwhile: the greatest"
    report.add(Figure(id="density.reset", part=PART, title=title, unit="s"), reset_seconds)
    figure = Figure(id="density.meanwhile", part=PART, title=title_asked, unit="s", target=_CHECK_SECONDS)
    report.add(figure, max(seconds))
    noticed = sum(other.picture() != then for other, then in zip(others, before, strict=True))
    title = f"of the other {len(others)}: a program restarted, or an object was not the same"
    report.add(Figure(id="density.noticed", part=PART, title=title, unit="sessions", target=0), noticed)
    if (state := killed.learner.status(killed.lab).state) != "dead":
        raise EnvironmentProblem(f"a session whose processes were killed is {state}")


@contextmanager
def _asked(seats: Sequence[Seat]) -> Iterator[list[float]]:
    """Somebody asks one seat after the other, again and again, until the end; how long each answer took."""
    over = threading.Event()
    seconds: list[float] = []

    def ask() -> None:
        for seat in cycle(seats):
            if over.is_set() and len(seconds) >= len(seats):
                return
            seconds.append(seat.check())

    with ThreadPoolExecutor(1) as somebody:
        asking = somebody.submit(ask)
        try:
            yield seconds
        finally:
            over.set()
        asking.result()
