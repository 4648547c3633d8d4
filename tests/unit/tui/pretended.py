"""A backend that does as a test says: its machine, its verdicts and its failures are set from outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cluster.binaries.progress import BuildEvent
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import language
from cluster.machine import BootEvent, ComponentStatus, MachineStatus
from grader.content.article import parse_article
from grader.content.model import Article
from grader.lab.model import Lab
from grader.lab.parse import parse_lab
from grader.progress import Attempt, LabRecord
from grader.report.model import RunReport, make_report
from grader.report.progress_report import Row
from grader.results import Finding, Result, State
from grader.session.lifecycle import Started
from tui.backend.model import Catalogue, Entry, Look, OnBoot, OnBuild, Shelf, Standing

LABS = Path(__file__).parent / "labs"
ARTICLES = Path(__file__).parents[1] / "content" / "example" / "articles"
NOON = 1_700_000_000.0
KOREAN = {
    "Groups with one fate": "운명을 같이하는 파드들",
    "From one Job to a shared cluster.": "Job 하나에서 함께 쓰는 클러스터까지.",
    "Why one dead pod ends all": "파드 하나가 죽으면 왜 모두 끝나는가",
    "One group, one fate: LeaderWorkerSet": "그룹은 한 몸이다: LeaderWorkerSet",
    "Who gets the GPUs, and why my job waits: queues and cohorts": (
        "GPU는 누구 차례이고, 내 작업은 왜 기다리나: 큐와 코호트"
    ),
    "Volumes for training": "학습용 볼륨",
}


def entries() -> tuple[Entry, ...]:
    """Every state there is."""
    return (
        Entry(
            kind="article",
            id="pods",
            title="Why one dead pod ends all",
            minutes=12,
            passed=1,
            total=1,
            summary="Training is many pods with one fate.",
        ),
        Entry(
            kind="lab",
            id="lab-demo",
            title="One group, one fate: LeaderWorkerSet",
            minutes=40,
            passed=2,
            total=3,
            after=("pods",),
            needs_root=True,
            summary="A model that is **too large** for one machine is served by several pods.",
            steps=(("Two groups", True), ("Names", True), ("Restart", False)),
        ),
        Entry(
            kind="lab",
            id="lab-later",
            title="Who gets the GPUs, and why my job waits: queues and cohorts",
            minutes=50,
            passed=0,
            total=2,
            after=("lab-demo",),
            waits_for=("lab-demo",),
            summary="Quota, queues, priorities.",
            steps=(("Refused", False), ("Queues", False)),
        ),
    )


def verdict(lab: Lab, **states: State) -> RunReport:
    """A verdict on the whole lab: `lws_yaml=State.PASSED`, …; the others failed, or were skipped after one that did."""
    results = []
    known = {name.replace("_", "-"): state for name, state in states.items()}
    for step in lab.steps:
        for check in step.checks:
            state = known.get(check.id)
            if state is None:
                blocked = any(known.get(before) is not State.PASSED for before in check.after)
                state = State.SKIPPED if blocked else State.FAILED
            results.append(result(check.id, step.number, step.id, check.says, state))
    return make_report(lab, results, at=NOON, seconds=0.3)


def result(check: str, number: int, step: str, says: str, state: State) -> Result:
    finding = Finding()
    if state in (State.FAILED, State.WAITING):
        finding = Finding(
            wanted="lws.yaml as asked",
            saw="spec.replicas is 1; 두 그룹이 아니다",
            where=("lws.yaml:6", "LeaderWorkerSet infer/llm"),
            look_at="kubectl get lws llm -o yaml",
        )
    if state is State.ERROR:
        finding = Finding(saw="our fault, not yours: the API server does not answer")
    return Result(check=check, step=number, step_id=step, says=says, state=state, finding=finding)


@dataclass
class PretendedBackend:
    """What each question answers; a `failure` is raised instead."""

    shelf: tuple[Entry, ...] = field(default_factory=entries)
    lone: tuple[Entry, ...] = (
        Entry(kind="article", id="data", title="Volumes for training", minutes=9, passed=0, total=1, summary="RWO."),
    )
    failure: Problem | None = None
    lab_failure: Problem | None = None
    edited: Lab | None = None
    """The lab as somebody has made it meanwhile; None: as it is in the tests' folder."""
    obstacles: Sequence[str] = ()
    machine: str = "stopped"
    components: tuple[ComponentStatus, ...] = ()
    hints: dict[str, int] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    stamp: tuple[int, ...] = (1,)
    free: int | None = None
    rows: list[Row] = field(default_factory=list)
    start_failure: Problem | None = None
    hint_failure: Problem | None = None
    asked: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    checks: list[str | None] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    given_up: int = 0
    check_answers: list[Look] = field(default_factory=list)
    _looks: asyncio.Queue[Look | None] | None = None
    _boots: asyncio.Queue[BootEvent | BuildEvent | None] | None = None

    # -- what a test does -----------------------------------------------------------------------------

    @property
    def looks(self) -> asyncio.Queue[Look | None]:
        """What `watch` yields next; None ends it."""
        self._looks = self._looks or asyncio.Queue()
        return self._looks

    @property
    def boots(self) -> asyncio.Queue[BootEvent | BuildEvent | None]:
        """What a start tells next; None ends it."""
        self._boots = self._boots or asyncio.Queue()
        return self._boots

    # -- what the application asks --------------------------------------------------------------------

    async def catalogue(self) -> Catalogue:
        self.asked.append("catalogue")
        if self.failure:
            raise self.failure
        course = Shelf(
            title=_said("Groups with one fate"),
            summary=_said("From one Job to a shared cluster."),
            entries=tuple(map(_translated, self.shelf)),
            minutes_left=64,
        )
        rest = Shelf(title="", summary="", entries=tuple(map(_translated, self.lone)), minutes_left=9, is_course=False)
        return Catalogue(shelves=(course, rest), next="lab-demo")

    async def lab(self, lab_id: str) -> Lab:
        if self.lab_failure:
            raise self.lab_failure
        if self.edited is not None:
            return self.edited
        lab, problems = parse_lab(LABS / lab_id, language())
        assert lab is not None, problems
        return lab

    async def article(self, article_id: str) -> Article:
        self.asked.append(article_id)
        article, problems = parse_article(ARTICLES, article_id, language())
        assert article is not None, problems
        return article

    async def report(self) -> list[Row]:
        return self.rows

    async def standing(self, lab_id: str) -> Standing:
        self.asked.append(f"standing {lab_id}")
        return Standing(
            machine=MachineStatus(state=self.machine, components=self.components),  # type: ignore[arg-type]  # a test's
            hints=dict(self.hints),
            passed=self.passed,
            work=Path("/work"),
            stamp=self.stamp,
            free=self.free,
        )

    async def start(self, lab: Lab, on_boot: OnBoot, on_build: OnBuild, *, again: bool = False) -> Started:
        self.starts.append(again)
        try:
            while (event := await self.boots.get()) is not None:
                if isinstance(event, BootEvent):
                    on_boot(event)
                else:
                    on_build(event)
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.start_failure:
            raise self.start_failure
        self.machine = "running"
        kept = Path("/kept") if again else None
        return Started(lab=lab.id, home=Path("/home"), work=Path("/work"), kept_work=kept)

    async def watch(self, lab: Lab, *, explain: bool = False) -> AsyncIterator[Look]:
        del explain
        self.asked.append(f"watch {lab.id}")
        while (look := await self.looks.get()) is not None:
            yield look

    async def check(self, lab: Lab, step_id: str | None = None) -> Look:
        self.checks.append(step_id)
        return self.check_answers.pop(0) if self.check_answers else Look(report=verdict(lab))

    async def hint(self, lab: Lab, step_id: str) -> int:
        if self.hint_failure:
            raise self.hint_failure
        self.hints[step_id] = min(self.hints.get(step_id, 0) + 1, len(lab.step(step_id).hints))
        return self.hints[step_id]

    def shell_command(self, lab_id: str) -> tuple[list[str], dict[str, str]]:
        return ["bash", "--norc"], {"BATCHLAB_INSIDE": lab_id}

    async def stop(self, lab_id: str) -> bool:
        self.stopped.append(lab_id)
        self.machine = "stopped"
        self.shelf = tuple(replace(one, machine="stopped") if one.id == lab_id else one for one in self.shelf)
        return True

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        del lab_id
        return self.obstacles if needs_root else ()


def row(lab: str, *, steps: int = 0, total: int = 3, attempts: tuple[Attempt, ...] = ()) -> Row:
    """A lab of the report."""
    record = LabRecord(
        lab=lab,
        started=NOON if steps else None,
        last=NOON if steps else None,
        finished=NOON if steps == total else None,
        seconds_at_work=steps * 300.0,
        attempts=len(attempts),
        hints=steps,
        steps={f"step-{number}": NOON for number in range(steps)},
        total=total if steps else 0,
    )
    return Row(record=record, attempts=attempts)


UNREACHABLE = EnvironmentProblem("the lab's examiner does not answer", "`grader status` says what runs")


def _said(text: str) -> str:
    return KOREAN.get(text, text) if language() == "ko" else text


def _translated(entry: Entry) -> Entry:
    return replace(entry, title=_said(entry.title))
