"""A backend that answers at once from what a test put into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cluster.errors import Problem
from cluster.i18n import language
from grader.content.model import Article
from grader.lab.model import Lab
from tui.backend.model import Catalogue, Entry, Shelf

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
            id="when-one-dies",
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
            after=("when-one-dies",),
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


@dataclass
class PretendedBackend:
    """What each question answers; a `failure` is raised instead."""

    shelf: tuple[Entry, ...] = field(default_factory=entries)
    lone: tuple[Entry, ...] = (
        Entry(kind="article", id="data", title="Volumes for training", minutes=9, passed=0, total=1, summary="RWO."),
    )
    failure: Problem | None = None
    obstacles: Sequence[str] = ()
    asked: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

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
        raise NotImplementedError(lab_id)

    async def article(self, article_id: str) -> Article:
        raise NotImplementedError(article_id)

    async def stop(self, lab_id: str) -> bool:
        self.stopped.append(lab_id)
        self.shelf = tuple(replace(one, machine="stopped") if one.id == lab_id else one for one in self.shelf)
        return True

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        del lab_id
        return self.obstacles if needs_root else ()


def _said(text: str) -> str:
    return KOREAN.get(text, text) if language() == "ko" else text


def _translated(entry: Entry) -> Entry:
    return replace(entry, title=_said(entry.title))
