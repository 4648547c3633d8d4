"""The scenes of which pictures are kept: each screen of the application, and each state of it that looks otherwise.

A scene brings the application there by keys, from the catalogue, and leaves nothing moving: whatever is told aside for
a few seconds is cleared away, clocks stand still.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent, ComponentStatus
from grader.progress import Attempt
from grader.results import State
from tests.unit.tui import boards, timelines
from tests.unit.tui.conftest import Played
from tests.unit.tui.pretended import NOON, UNREACHABLE, row
from tests.unit.tui.test_tui_lab import opened, told
from tui.backend.model import Look
from tui.board.detail import DetailScreen
from tui.board.screen import BoardScreen
from tui.screens.confirm import ConfirmScreen
from tui.screens.jump import JumpScreen
from tui.timeline.screen import TimelineScreen

Scene = Callable[[Played], Awaitable[None]]
STARTING: Final = (
    BootEvent(task="launch", state="host", seconds=15000.0),
    BootEvent(task="etcd", state="started", seconds=0.1),
    BootEvent(task="containerd", state="started", seconds=0.2),
    BootEvent(task="etcd", state="ready", seconds=0.9),
    BootEvent(task="kube-apiserver", state="started", seconds=1.0),
)
ATTEMPTS: Final = (
    Attempt(lab="lab-demo", at=NOON, seconds=1.0, total=3, steps={"groups": State.FAILED, "names": State.SKIPPED}),
    Attempt(lab="lab-demo", at=NOON + 60, seconds=1.0, total=3, steps={"groups": State.PASSED, "names": State.FAILED}),
)


async def catalogue(played: Played) -> None:
    """Where one begins."""
    await played.rest()


async def search(played: Played) -> None:
    """Letters narrow the list."""
    await played.press("slash", *"lab")


async def unreadable(played: Played) -> None:
    """Nothing can be read at all: drawn where the list would be."""
    played.backend.failure = EnvironmentProblem(
        "the labs folder /labs can't be read: Permission denied", "let this user read it, or set BATCHLAB_LABS"
    )
    screen = played.screen
    screen.catalogue = None  # type: ignore[attr-defined]  # as when it is opened
    await screen.look()  # type: ignore[attr-defined]
    played.app.clear_notifications()


async def stopped(played: Played) -> None:
    """A lab before its start."""
    await opened(played, running=False)


async def refused(played: Played) -> None:
    """A lab that this user may not start."""
    played.backend.obstacles = (
        "lab-demo has a node that runs real containers; only root can start it",
        "leave, and come back as root: sudo /usr/bin/batchlab",
    )
    await opened(played, running=False)


async def starting(played: Played) -> None:
    """What is ready, what is waited for."""
    await opened(played, running=False)
    await played.press("g")
    for event in STARTING:
        played.backend.boots.put_nowait(event)
    session = played.screen.session  # type: ignore[attr-defined]
    await played.until(lambda: session.boot and "kube-apiserver" in session.boot.waiting)
    played.screen._draw_panel()  # type: ignore[attr-defined]


async def failed(played: Played) -> None:
    """A start that failed, with the log and what to do."""
    played.backend.start_failure = EnvironmentProblem(
        "lab-demo could not start\netcd: it ended\nthe last lines of /logs/etcd.log:\n  panic: no space left on device",
        "nothing was left running; `grader doctor` looks at the machine",
    )
    await opened(played, running=False)
    await played.press("g")
    played.backend.boots.put_nowait(BootEvent(task="etcd", state="failed", seconds=2.0))
    played.backend.boots.put_nowait(None)
    await played.until(lambda: played.screen.session.failure is not None)  # type: ignore[attr-defined]


async def lab(played: Played) -> None:
    """Text, the chosen block, checks, one of them open."""
    await opened(played)
    await told(played, lws_yaml=State.PASSED)
    await played.press("tab", "down", "enter")


async def hints(played: Played) -> None:
    """Two hints, at the end of the text."""
    await opened(played)
    for count in (1, 2):
        await played.press("h")
        await played.until(lambda n=count: len(played.screen.query("MarkdownH3")) == n)  # type: ignore[misc]


async def silent(played: Played) -> None:
    """The examiner does not answer: why, above what was seen before."""
    await opened(played)
    played.backend.looks.put_nowait(Look(problem=UNREACHABLE))
    await played.until(lambda: played.screen.session.problem is not None)  # type: ignore[attr-defined]


async def unjudged(played: Played) -> None:
    """The cluster does not answer: ERR."""
    await opened(played)
    await told(played, lws_yaml=State.ERROR)
    await played.press("tab", "enter")


async def dead(played: Played) -> None:
    """The lab's processes were killed."""
    await opened(played)
    played.backend.machine = "dead"
    await played.until(lambda: played.screen.session.machine == "dead")  # type: ignore[attr-defined]


async def broken(played: Played) -> None:
    """A program of the cluster that is not started again, on a full disk."""
    await opened(played)
    note = "exit code 1; given up after 6 crashes"
    played.backend.components = (ComponentStatus(name="etcd", state="failed", pid=0, restarts=5, since=0.0, note=note),)
    played.backend.free = 0
    await played.until(lambda: played.screen.session.broken)  # type: ignore[attr-defined]


async def done(played: Played) -> None:
    """Every step has passed."""
    every = {"lws_yaml": State.PASSED, "llm_live": State.PASSED, "names_match": State.PASSED, "group_new": State.PASSED}
    known = await played.backend.lab("lab-demo")
    played.backend.passed = frozenset(step.id for step in known.steps)
    await opened(played)
    await told(played, **every)


async def article(played: Played) -> None:
    """The beginning of an article."""
    await played.press("k", "enter")
    await played.until(lambda: played.app.screen.query("MarkdownH1"))


async def questions(played: Played) -> None:
    """Its questions, one answered."""
    await article(played)
    await played.press("a")
    await played.until(lambda: len(played.screen.query("MarkdownBlockQuote")) == 1)


async def report(played: Played) -> None:
    """Progress, and the attempts of a lab."""
    played.backend.rows = [row("lab-demo", steps=1, attempts=ATTEMPTS), row("lab-done", steps=3), row("lab-new")]
    await played.press("p")
    await played.shows("2023-11-14 22:14")


async def help(played: Played) -> None:  # noqa: A001  # a scene is called as its screen is
    """The keys of a screen."""
    await opened(played)
    await played.press("question_mark")


async def confirm(played: Played) -> None:
    """A question before something that can't be taken back."""
    await opened(played)
    await played.press("X")
    await played.until(lambda: isinstance(played.app.screen, ConfirmScreen))


async def jump(played: Played) -> None:
    """A letter beside everything."""
    await lab(played)


async def _board(played: Played, name: str, namespace: str) -> BoardScreen:
    screen = BoardScreen("lab-demo", "One group, one fate", boards.recorded(name, namespace))
    await played.app.push_screen(screen)
    await played.until(lambda: screen.shown is not None, "a first look")
    return screen


async def board_lws(played: Played) -> None:
    """The board of a LeaderWorkerSet."""
    await _board(played, "lab-lws", "infer")


async def board_cohort(played: Played) -> None:
    """The board of queues that lend to each other."""
    await _board(played, "lab-cohort", "team-a")
    await played.press("3")


async def board_why(played: Played) -> None:
    """Why an object is as it is."""
    await _board(played, "lab-cohort", "team-a")
    await played.press("2", "w")
    await played.until(lambda: isinstance(played.app.screen, DetailScreen) and "nothing is wrong" in played.text)


async def timeline_lws(played: Played) -> None:
    """Group 0 ended and began again, group 1 went on."""
    screen = TimelineScreen("lab-demo", "One group, one fate", timelines.recorded("lab-lws", "infer"))
    await played.app.push_screen(screen)
    await played.until(lambda: screen.shown is not None, "a first look")


async def timeline_cohort(played: Played) -> None:
    """Quota, admitted and taken back."""
    screen = TimelineScreen("lab-demo", "Lend and borrow", timelines.recorded("lab-cohort", "team-a"))
    await played.app.push_screen(screen)
    await played.until(lambda: screen.shown is not None, "a first look")


SCENES: Final[dict[str, Scene]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        catalogue,
        search,
        unreadable,
        stopped,
        refused,
        starting,
        failed,
        lab,
        hints,
        silent,
        unjudged,
        dead,
        broken,
        done,
        article,
        questions,
        report,
        help,
        confirm,
        jump,
        board_lws,
        board_cohort,
        board_why,
        timeline_lws,
        timeline_cohort,
    )
}
DRAWN: Final = (
    "catalogue",
    "starting",
    "failed",
    "lab",
    "questions",
    "report",
    "board-lws",
    "board-cohort",
    "timeline-lws",
)
"""Those that are kept as pictures at each size; the others once."""


async def _to_the_end(played: Played) -> None:
    played.screen.query_one("#text").scroll_end(animate=False)


async def _jump_again(played: Played) -> None:
    await played.until(lambda: not isinstance(played.app.screen, JumpScreen))
    await played.press("ctrl+o")
    await played.until(lambda: isinstance(played.app.screen, JumpScreen))


AFTER: Final[dict[str, Scene]] = {"hints": _to_the_end, "questions": _to_the_end, "jump": _jump_again}
"""What is done again when the size has changed."""
