"""An example lab and runs of it, for every report format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest

from cluster.spec import ClusterSpec
from grader.checks.base import Check, CheckKind
from grader.lab.model import Hint, Lab, Step
from grader.report import RunReport, make_report
from grader.results import Finding, Result, State, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

AT = 1764500000.25
"""2025-11-30 10:53:20.250 UTC."""

STEPS = {
    "groups": ("Two groups of two", ["file-right", "live-right", "four-running"]),
    "names": ("Label who is who", ["names-match"]),
    "env": ("What a worker is told", ["env-match"]),
    "dns": ("Find the leader", ["dns-match"]),
    "restart": ("Break one pod, lose the group", ["before-right", "group-recreated", "other-untouched"]),
    "rollout": ("A new version, group by group", ["one-by-one", "same-set"]),
    "wide": ("One group, one rack", ["wide-placed"]),
    "orphan": ("Half a group is no group", ["half-started", "reason-quoted"]),
}
SAYS = {
    "file-right": "lws.yaml holds an LWS named llm: 2 groups of 2 pods, 1 GPU for each",
    "live-right": "the live LWS llm has GPUs on both templates and recreates its groups",
    "four-running": "four pods of llm run on the real node",
    "names-match": "names.txt has one line for each pod, with its group and worker index",
    "env-match": "env.txt holds the LWS_ variables of llm-1-1",
    "dns-match": "dns.txt holds the leader's name and address",
    "before-right": "restart.txt has the UIDs both leaders had before",
    "group-recreated": "group 0 came back as one",
    "other-untouched": "group 1 was left alone",
    "one-by-one": "the groups rolled one after the other",
    "same-set": "the set is the one of step 1",
    "wide-placed": "each group of wide is on one node, the groups on two",
    "half-started": "orphan's leader runs, its worker is pending",
    "reason-quoted": "partial.txt quotes the scheduler's reason",
}
AFTER = {
    "group-recreated": ("before-right",),
    "other-untouched": ("group-recreated",),
    "wide-placed": ("one-by-one",),
}
KOREAN_TITLES = {
    "groups": "둘씩 두 그룹",
    "names": "누가 누구인지 라벨로 알기",
    "env": "워커가 전해 받는 것",
    "dns": "리더 찾기",
    "restart": "파드 하나를 망가뜨리면 그룹 전체가 다시 뜬다",
    "rollout": "그룹 단위로 올라가는 새 버전",
    "wide": "그룹 하나, 랙 하나",
    "orphan": "반쪽짜리 그룹은 그룹이 아니다",
}
KOREAN_SAYS = {
    **{check: f"{check} 확인이 맞아야 한다" for check in SAYS},
    "names-match": "names.txt에는 파드마다 한 줄씩, 그룹 번호와 워커 번호가 정확히 적혀 있어야 한다",
    "before-right": "restart.txt에 두 리더의 이전 UID가 적혀 있다",
    "group-recreated": "그룹 0이 하나로 다시 떴다",
    "other-untouched": "그룹 1은 그대로 남았다",
}


class Stub(CheckKind):
    """A kind that is never evaluated: reports know only results."""

    name: ClassVar[str] = "stub"

    def evaluate(self, world: Any) -> Verdict:
        raise AssertionError(f"reports evaluate nothing: {world}")


class Run(Protocol):
    """Makes a report in which every check passed but those given."""

    def __call__(
        self, *others: Result | Sequence[Result], language: str = "en", steps: Sequence[str] = ()
    ) -> RunReport: ...


class Answer(Protocol):
    """Makes one result of the example lab."""

    def __call__(self, check: str, state: State, finding: Finding | None = None, **more: Any) -> Result: ...


def make_lab(language: str = "en") -> Lab:
    korean = language == "ko"
    steps = []
    for number, (step_id, (title, checks)) in enumerate(STEPS.items(), 1):
        steps.append(
            Step(
                number=number,
                id=step_id,
                title=KOREAN_TITLES[step_id] if korean else title,
                body="",
                blocks=(),
                checks=tuple(
                    Check(
                        id=check,
                        says=(KOREAN_SAYS if korean else SAYS)[check],
                        after=AFTER.get(check, ()),
                        kind=Stub(),
                    )
                    for check in checks
                ),
                hints=(Hint(text="Look closer.", line=1),) if step_id != "groups" else (),
                line=1,
            )
        )
    return Lab(
        id="lab-lws",
        title="한 그룹, 한 운명: LeaderWorkerSet" if korean else "One group, one fate: LeaderWorkerSet",
        minutes=40,
        after=(),
        workdir="gsb-lws",
        namespace="infer",
        cluster=ClusterSpec(),
        intro="",
        steps=tuple(steps),
        folder=Path("lab-lws"),
        language=language,
    )


def _answer(check: str, state: State, finding: Finding | None = None, **more: Any) -> Result:
    number, step_id = next(
        (number, step) for number, (step, (_, checks)) in enumerate(STEPS.items(), 1) if check in checks
    )
    content = {"says": SAYS[check], "finding": finding or Finding(), "seconds": 0.01, **more}
    return Result(check=check, step=number, step_id=step_id, state=state, **content)


@pytest.fixture
def lab() -> Lab:
    """The example lab in English."""
    return make_lab()


@pytest.fixture
def answer() -> Answer:
    return _answer


@pytest.fixture
def run() -> Run:
    def make(*others: Result | Sequence[Result], language: str = "en", steps: Sequence[str] = ()) -> RunReport:
        lab = make_lab(language)
        given = {
            result.check: result for other in others for result in ([other] if isinstance(other, Result) else other)
        }
        results = [
            given.get(check.id, _answer(check.id, State.PASSED, says=check.says))
            for step in lab.steps
            if not steps or step.id in steps
            for check in step.checks
        ]
        return make_report(lab, results, at=AT, seconds=0.8125)

    return make
