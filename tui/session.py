"""One lab while it is open: its text, its machine, the verdicts that come in, and a start that is under way.

Owns what is known of the lab now and keeps asking; draws nothing. Whoever draws is told by `on_change` that something
did, and by `on_news` what a person should hear.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cluster.errors import Problem
from cluster.i18n import _
from cluster.supervisor.events import FAILED, READY
from grader.results import State
from grader.session.places import session_home

if TYPE_CHECKING:
    from collections.abc import Callable

    from cluster.binaries.progress import BuildEvent
    from cluster.machine import BootEvent, ComponentStatus
    from grader.lab.model import Lab, Step
    from grader.report.model import RunReport, StepReport
    from tui.backend.model import Backend, Look, MachineState, Standing

POLL_SECONDS = 2.0
"""How often the machine's state and the lab's files are looked at."""
AGAIN_SECONDS = 2.0
"""After checks could not be made: how long until they are tried again."""
LEAST_FREE = 16 * 1024 * 1024
"""Bytes of disk below which etcd and the recorder are about to fail."""
News = Literal["good", "bad", "note"]


@dataclass(slots=True)
class Boot:
    """How far a start is."""

    began: float = field(default_factory=time.monotonic)
    waiting: dict[str, float] = field(default_factory=dict)
    """Task → when it began, in seconds since the start of the machine."""
    ready: dict[str, float] = field(default_factory=dict)
    """Task → how many seconds it took."""
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """The machine's clock at the last event."""
    told_at: float = field(default_factory=time.monotonic)
    host: str = ""
    """What the host is busy with before there is a machine, and after."""
    note: str = ""
    """What is done before or beside it: programs being built, another command being waited for."""

    def take(self, event: BootEvent) -> None:
        """One more event."""
        if event.state == "host":
            self.host, self.note = event.task, ""
            return
        if event.state == "note":
            self.note = event.detail
            return
        self.seconds, self.told_at = max(self.seconds, event.seconds), time.monotonic()
        if event.task in (READY, FAILED):
            return
        self.note = ""
        if event.state == "started":
            self.waiting[event.task] = event.seconds
        elif event.state == "ready":
            self.ready[event.task] = event.seconds - self.waiting.pop(event.task, event.seconds)
        elif event.state == "failed":
            self.waiting.pop(event.task, None)
            self.failed.append(event.task)

    def build(self, event: BuildEvent) -> None:
        """Programs are built or unpacked before the machine can start."""
        if not event.total:
            self.note = event.detail
        else:
            self.note = _("{index} of {total} programs: {task}, {seconds} s").format(
                index=event.index, total=event.total, task=event.task, seconds=round(event.seconds)
            )

    @property
    def now(self) -> float:
        """The machine's clock now."""
        return self.seconds + (time.monotonic() - self.told_at if self.seconds else 0.0)

    @property
    def elapsed(self) -> float:
        """Seconds since it was asked for."""
        return time.monotonic() - self.began


class LabSession:
    """What is known of one lab; `open` first, then `follow` and `poll` for as long as it is open."""

    def __init__(
        self, backend: Backend, lab_id: str, *, on_change: Callable[[], None], on_news: Callable[[News, str], None]
    ) -> None:
        self.lab_id = lab_id
        self.lab: Lab | None = None
        self.standing: Standing | None = None
        self.report: RunReport | None = None
        self.problem: Problem | None = None
        """Why there can be no verdict now."""
        self.boot: Boot | None = None
        self.failure: Problem | None = None
        """Why the last start failed."""
        self.checking = False
        self.looked: float | None = None
        """When the last verdict was made (Unix time)."""
        self._backend = backend
        self._on_change, self._news = on_change, on_news
        self._wake = asyncio.Event()
        self._counted: set[str] = set()
        self._said: set[str] = set()
        self._counting: set[asyncio.Task[None]] = set()

    @property
    def broken(self) -> ComponentStatus | None:
        """A program of the running machine that ended too often and is not started again."""
        components = self.standing.machine.components if self.standing and self.machine == "running" else ()
        return next((one for one in components if one.state == "failed"), None)

    @property
    def disk_full(self) -> bool:
        """Whether there is next to no room where the lab's state is."""
        free = self.standing.free if self.standing else None
        return free is not None and free < LEAST_FREE

    @property
    def machine(self) -> MachineState:
        """The state of the lab's machine, as far as known."""
        return self.standing.machine.state if self.standing else "stopped"

    def step_report(self, step: Step) -> StepReport | None:
        """The newest verdict on a step."""
        return next((one for one in self.report.steps if one.id == step.id), None) if self.report else None

    def state(self, step: Step) -> State | None:
        """The step's state, or what is remembered of it; None where nothing is."""
        if (found := self.step_report(step)) is not None:
            return found.state
        return State.PASSED if self.standing and step.id in self.standing.passed else None

    def hints_shown(self, step: Step) -> int:
        """How many hints of the step were shown."""
        return self.standing.hints.get(step.id, 0) if self.standing else 0

    @property
    def passed(self) -> int:
        """How many steps have passed."""
        return sum(self.state(step) is State.PASSED for step in self.lab.steps) if self.lab else 0

    # -- what goes on ---------------------------------------------------------------------------------

    async def open(self) -> None:
        """Read the lab; Problem where it can't be."""
        self.lab = await self._backend.lab(self.lab_id)
        await self._stand()

    async def reread(self) -> bool:
        """The lab in the language in force, or after its files changed; a wrong file is said, the last good kept.
        Whether it could be read."""
        try:
            self.lab = await self._backend.lab(self.lab_id)
        except Problem as problem:
            self._say_once("bad", _("the lab's files are wrong now, the last good ones are shown:"), problem)
            return False
        self.report = None
        self._wake.set()
        self._on_change()
        return True

    async def poll(self) -> None:
        """Keep the machine's state and the lab's text up to date; never ends."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            before = self.standing
            try:
                await self._stand()
            except Problem as problem:
                self._say_once("bad", "", problem)
                continue
            changed = before is not None and self.standing is not None and before.stamp != self.standing.stamp
            if changed and await self.reread():
                told = _("the files of {lab} were changed: they are read again")
                self._news("note", told.format(lab=self.lab_id))

    async def follow(self) -> None:
        """Take verdicts while the lab runs; never ends."""
        while True:
            self._wake.clear()
            if self.lab is None or self.machine != "running":
                await self._wake.wait()
                continue
            lab = self.lab
            async for look in self._backend.watch(lab):
                self._take(look)
                if self._wake.is_set():
                    break  # other words, another machine
            done = self.report is not None and self.report.exit_code == 0 and self.problem is None
            try:
                # All has passed: only something new is worth a look. Else it failed: soon again.
                await asyncio.wait_for(self._wake.wait(), None if done else AGAIN_SECONDS)
            except TimeoutError:
                continue

    async def check(self, step_id: str | None = None) -> None:
        """Look now, patiently; it counts."""
        if self.lab is None or self.checking:
            return
        self.checking = True
        self._on_change()
        try:
            self._take(await self._backend.check(self.lab, step_id))
        finally:
            self.checking = False
            self._on_change()

    async def start(self, *, again: bool = False) -> bool:
        """Bring the machine up; whether it came. Cancelled: nothing is left of it."""
        if self.lab is None or self.boot is not None:
            return False
        self.boot, self.failure, self.report, self.problem = Boot(), None, None, None
        self._counted.clear()
        self._on_change()
        try:
            if self.broken is not None and not again:  # a start alone would say that it runs
                await self._backend.stop(self.lab_id)
            started = await self._backend.start(self.lab, self.boot.take, self.boot.build, again=again)
        except Problem as problem:
            self.failure = problem
            return False
        finally:
            self.boot = None
            await self._stand()
            self._on_change()
        if started.kept_work:
            self._news("note", _("your earlier files are in {folder}").format(folder=started.kept_work))
        return True

    async def hint(self, step: Step) -> int:
        """One more hint; how many are shown."""
        assert self.lab is not None
        shown = await self._backend.hint(self.lab, step.id)
        await self._stand()
        return shown

    # -- beneath --------------------------------------------------------------------------------------

    async def _stand(self) -> None:
        before, known = self.machine, self.standing
        restarts = _restarts(known)
        self.standing = await self._backend.standing(self.lab_id)
        if self.standing == known and self.boot is None:
            return
        if self.machine != before:
            self._wake.set()
            if self.machine != "running":
                self.report, self.problem = None, None
            if self.machine == "dead" and before == "running":
                self._news("bad", _("the processes of {lab} died").format(lab=self.lab_id))
        elif self.machine == "running":
            for name, count in _restarts(self.standing).items():
                if count > restarts.get(name, count):
                    self._news("bad", _("{name} ended and was started again").format(name=name))
        if self.disk_full and not (known and known.free is not None and known.free < LEAST_FREE):
            folder = session_home(self.lab_id)
            self._news(
                "bad", _("the disk of {folder} is full: make room, or the lab stops working").format(folder=folder)
            )
        self._on_change()

    def _take(self, look: Look) -> None:
        for sentence in look.notes:
            self._say_once("note", sentence)
        self.problem = look.problem
        if look.report is not None:
            self._merge(look.report)
        self._on_change()

    def _merge(self, report: RunReport) -> None:
        from dataclasses import replace

        first = self.report is None
        if self.report is not None and not report.whole_lab:
            new = {step.id: step for step in report.steps}
            report = replace(report, steps=tuple(new.get(step.id, step) for step in self.report.steps))
        self.report, self.looked = report, report.at
        remembered = self.standing.passed if self.standing else frozenset()
        for step in report.steps:
            if step.state is State.PASSED and step.id not in self._counted:
                self._counted.add(step.id)
                if step.id not in remembered:
                    self._news("good", _("step {number} passed: {title}").format(number=step.number, title=step.title))
                    self._counting.add(task := asyncio.create_task(self._count(step.id)))
                    task.add_done_callback(self._counting.discard)
        if not first and report.exit_code == 0:
            self._news("good", _("every step of {lab} has passed").format(lab=self.lab_id))

    async def _count(self, step_id: str) -> None:
        """A step that passed in a passing look is looked at once more, as an attempt that is remembered."""
        if self.lab is not None:
            look = await self._backend.check(self.lab, step_id)
            for sentence in look.notes:
                self._say_once("note", sentence)

    def _say_once(self, kind: News, sentence: str, problem: Problem | None = None) -> None:
        lines = [sentence, *((problem.message, problem.advice) if problem else ())]
        text = "\n".join(filter(None, lines))
        if text not in self._said:
            self._said.add(text)
            self._news(kind, text)


def _restarts(standing: Standing | None) -> dict[str, int]:
    return {one.name: one.restarts for one in standing.machine.components} if standing else {}
