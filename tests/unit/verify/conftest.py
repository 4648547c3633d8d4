"""A pretended lab: facts that scripts set, files that they write, checks that look at either."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import pytest

from cluster.errors import Problem
from cluster.spec import ClusterSpec
from grader.checks.base import Check, CheckKind
from grader.lab.cases import WrongCase
from grader.lab.model import Lab, Step
from grader.lab.values import ValueMatter, example, told
from grader.results import Finding, Result, State, Verdict
from grader.verify import Plan, VerifyEvent, VerifyReport
from grader.verify.procedure import Verification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.lab.values import Value


class Pretend(CheckKind):
    """Passes when the fact or file `key` is `ok`; the fake driver evaluates it."""

    name: ClassVar[str] = "pretend"
    key: str

    def evaluate(self, world: Any) -> Verdict:
        raise AssertionError(f"the fake driver evaluates: {world}")


def check(name: str, *after: str, hold: Literal["once", "now"] = "once", key: str = "") -> Check:
    return Check(id=name, says=f"{name} is ok", after=after, hold=hold, kind=Pretend(key=key or name))


@dataclass
class FakeDriver:
    """Runs scripts of lines `set FACT VALUE`, `file NAME VALUE`, `say TEXT` and `exit CODE`, as a lab would."""

    lab: Lab
    facts: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    stubborn: dict[str, str] = field(default_factory=dict)
    """Facts that a reset does not clear."""
    pending: dict[str, int] = field(default_factory=dict)
    """Check → for how many more looks it waits before it passes."""
    broken: dict[str, Result] = field(default_factory=dict)
    """Check → what is answered whatever the state."""
    right: list[tuple[str, str]] = field(default_factory=list)
    """(check, answer) of the solved lab."""
    was_kept: bool = False
    refuse: dict[str, list[Problem]] = field(default_factory=dict)
    """Name of a script, or `reset` → problems raised, one each time."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """`$n` of a script is the value n; a fact that is `ok3` is right where n is 3."""

    def use_values(self, values: Mapping[str, Value]) -> None:
        self.log.append(f"values {told(values)}")
        self.values = dict(values)

    def reset(self) -> None:
        self.log.append("reset")
        self._maybe_refuse("reset")
        self.facts, self.files = dict(self.stubborn), {}

    def run_script(self, script: Path) -> tuple[int, str]:
        self.log.append(f"run {script.parent.name}/{script.name}")
        self._maybe_refuse(script.name)
        said = []
        for line in script.read_text().splitlines():
            for name, value in self.values.items():
                line = line.replace(f"${name}", str(value))  # noqa: PLW2901  # as a shell does
            match line.split(maxsplit=2):
                case ["set", name, value]:
                    self.facts[name] = value
                case ["file", name, value]:
                    self.files[name] = value
                case ["say", *words]:
                    said.append(" ".join(words))
                case ["exit", code]:
                    return int(code), "\n".join(said)
        return 0, "\n".join(said)

    def check(self, steps: Sequence[str] | None, achievements: Mapping[str, float]) -> list[Result]:
        self.log.append(f"check {','.join(steps) if steps is not None else 'all'}")
        known: dict[str, Result] = {}
        for step in self.lab.steps:
            for one in step.checks:
                known[one.id] = self._result(step, one, achievements, known)
        return [result for result in known.values() if steps is None or result.step_id in steps]

    def snapshot_work(self) -> None:
        self.kept = dict(self.files)

    def restore_work(self) -> None:
        self.files = dict(self.kept)

    def answers(self) -> list[tuple[str, str]]:
        self.log.append("answers")
        return self.right

    def keep(self) -> str:
        self.was_kept = True
        return "/state/verify/lab-x"

    def _maybe_refuse(self, name: str) -> None:
        if self.refuse.get(name):
            raise self.refuse[name].pop(0)

    def _result(self, step: Step, one: Check, achievements: Mapping[str, float], known: Mapping[str, Result]) -> Result:
        result = Result(check=one.id, step=step.number, step_id=step.id, says=one.says, state=State.PASSED)
        if one.id in self.broken:
            return self.broken[one.id]
        if one.hold == "once" and one.id in achievements:
            return Result(**{**_fields(result), "achieved": achievements[one.id]})
        if any(known[before].state is not State.PASSED for before in one.after):
            return Result(**{**_fields(result), "state": State.SKIPPED, "finding": Finding(saw="not yet")})
        assert isinstance(one.kind, Pretend)
        seen = {**self.facts, **self.files}.get(one.kind.key, "nothing")
        if seen not in ("ok", *(f"ok{value}" for value in self.values.values())):
            return Result(**{**_fields(result), "state": State.FAILED, "finding": Finding(saw=f"it is {seen}")})
        if self.pending.get(one.id):
            self.pending[one.id] -= 1
            finding = Finding(saw="it moves")
            return Result(**{**_fields(result), "state": State.WAITING, "finding": finding, "seconds": 3.0})
        return result


def _fields(result: Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in result.__slots__}


@dataclass
class Scene:
    """A lab with its scripts and cases, to be bent by a test and then verified."""

    folder: Path
    checks: dict[str, list[Check]] = field(
        default_factory=lambda: {
            "one": [check("a", hold="now")],
            "two": [check("b", "a")],
            "three": [check("c"), check("d", "c")],
        }
    )
    solution: dict[str, str] = field(
        default_factory=lambda: {
            "one": "set a ok",
            "two": "file b ok",
            "three": "set c ok\nfile d ok",
        }
    )
    cases: dict[str, tuple[str, Literal["solved", "fresh"], tuple[str, ...], str]] = field(
        default_factory=lambda: {
            "a-bad": ("a", "fresh", (), "set a bad"),
            "b-bad": ("b", "solved", (), "file b bad"),
            "c-bad": ("c", "fresh", ("one",), "set c bad\nfile d ok"),
            "d-bad": ("d", "solved", (), "file d bad"),
        }
    )
    declared: dict[str, ValueMatter] = field(default_factory=dict)
    events: list[VerifyEvent] = field(default_factory=list)

    def lab(self) -> Lab:
        steps = [
            Step(
                number=number,
                id=step,
                title=f"Step {step}",
                body="",
                blocks=(),
                checks=tuple(checks),
                hints=(),
                line=1,
            )
            for number, (step, checks) in enumerate(self.checks.items(), 1)
        ]
        return Lab(
            id="lab-x",
            title="An example",
            minutes=5,
            after=(),
            workdir="x",
            namespace="x",
            cluster=ClusterSpec(),
            intro="",
            steps=tuple(steps),
            folder=self.folder,
            language="en",
            declared=self.declared,
            values=example(self.declared),
        )

    def driver(self) -> FakeDriver:
        lab = self.lab()
        return FakeDriver(lab, values=lab.values)

    def plan(self, lab_id: str = "lab-x", only: Sequence[str] | None = None) -> Plan:
        scripts = {
            step: self._script(f"solution/{number:02}-{step}.sh", text)
            for number, (step, text) in enumerate(self.solution.items(), 1)
        }
        cases = [
            WrongCase(
                name=name,
                fails=fails,
                says=f"{name} is wrong",
                on=on,
                plays=plays,
                script=self._script(f"wrong/{name}/answer.sh", text),
            )
            for name, (fails, on, plays, text) in self.cases.items()
            if only is None or name in only
        ]
        lab = replace(self.lab(), id=lab_id)
        return Plan(lab=lab, solution=scripts, cases=tuple(cases), whole=only is None)

    def verify(
        self,
        driver: FakeDriver | None = None,
        only: Sequence[str] | None = None,
        *,
        keep: bool = False,
        lacks: Sequence[str] = (),
    ) -> VerifyReport:
        plan = self.plan(only=only)
        verification = Verification(
            plan.lab,
            plan.solution,
            plan.cases,
            driver or self.driver(),
            self.events.append,
            whole=plan.whole,
            keep=keep,
            lacks=lacks,
            clock=Clock(),
        )
        return verification.run()

    def _script(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Clock:
    """Half a second passes at every look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.5
        return self.now


class MakeCheck(Protocol):
    """Makes a check of a pretended lab."""

    def __call__(self, name: str, *after: str, hold: Literal["once", "now"] = "once", key: str = "") -> Check: ...


@pytest.fixture
def make_check() -> MakeCheck:
    return check


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A right lab of three steps and four checks, each with a wrong answer."""
    return Scene(tmp_path)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretended labs don't move by themselves."""
    monkeypatch.setattr("grader.verify.bench.PAUSE_SECONDS", 0.0)
