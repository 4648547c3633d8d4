"""Several labs, with pretended drivers in real processes: every lab has a report, whatever becomes of another."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.errors import EnvironmentProblem
from cluster.machine import BootEvent
from grader.session.lifecycle import Programs
from grader.verify import PartOutcome, VerifyEvent, VerifyReport, together
from grader.verify.together import verify_labs
from tests.unit.verify.conftest import FakeDriver

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.lab.model import Lab
    from tests.unit.verify.conftest import Scene


class Ears:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.told_of: dict[str, list[BootEvent | VerifyEvent]] = {}
        self.reports: dict[str, VerifyReport] = {}

    def told(self, lab: str, what: BootEvent | VerifyEvent) -> None:
        self.told_of.setdefault(lab, []).append(what)

    def ended(self, lab: str, report: VerifyReport) -> None:
        assert lab not in self.reports
        self.reports[lab] = report


class Session(FakeDriver):
    """Stands in for SessionDriver: started with an event, and as the lab's name says, not to its end."""

    def __init__(self, lab: Lab, on_event: Callable[[BootEvent], None], programs: Programs) -> None:
        super().__init__(lab)
        self._on_event = on_event
        assert programs.bin_dir == Path("/programs")

    def __enter__(self) -> Session:
        if self.lab.id == "lab-closed":
            raise EnvironmentProblem("no room")
        self._on_event(BootEvent(task="etcd", state="ready", seconds=0.5))
        return self

    def __exit__(self, *_exc: object) -> None:
        """Nothing to stop."""

    def run_script(self, script: Path) -> tuple[int, str]:
        if script.name == "02-two.sh" and self.lab.id == "lab-killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if script.name == "02-two.sh" and self.lab.id == "lab-buggy":
            raise ZeroDivisionError("ours")
        if script.name == "02-two.sh" and self.lab.id == "lab-wrong":
            return 1, "it does not work"
        return super().run_script(script)


@pytest.fixture
def cleared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Labs whose left-overs were cleared away by the first process."""
    found: list[str] = []

    def clear_away(lab_id: str, on_event: Any) -> None:
        assert callable(on_event)
        found.append(lab_id)

    monkeypatch.setattr(together, "SessionDriver", Session)
    monkeypatch.setattr(together, "clear_away", clear_away)
    return found


def verify(scene: Scene, labs: list[str], jobs: int, on_bug: Callable[[Exception], None]) -> tuple[Any, Ears]:
    ears = Ears()
    plans = {lab: scene.plan(lab) for lab in labs}
    return verify_labs(plans, jobs, Programs(bin_dir=Path("/programs")), ears, on_bug), ears


def no_bug(error: Exception) -> None:
    raise AssertionError(error)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_reports_are_in_order_and_whole(scene: Scene, cleared: list[str], jobs: int) -> None:
    labs = ["lab-b", "lab-wrong", "lab-a", "lab-closed"]
    reports, ears = verify(scene, labs, jobs, no_bug)
    assert [report.lab for report in reports] == labs
    assert [report.exit_code for report in reports] == [0, 1, 0, 3]
    assert ears.reports == {report.lab: report for report in reports}
    assert {len(report.parts) for report in reports} == {12}
    for report in reports:
        events = [event for event in ears.told_of[report.lab] if isinstance(event, VerifyEvent) and event.part]
        assert [event.part for event in events] == list(report.parts)
    assert ears.told_of["lab-a"][0] == BootEvent(task="etcd", state="ready", seconds=0.5)
    assert cleared == []


def test_a_lab_whose_process_is_killed_is_told_and_cleared_away(scene: Scene, cleared: list[str]) -> None:
    (killed, fine), _ears = verify(scene, ["lab-killed", "lab-a"], 2, no_bug)
    outcomes = [part.outcome for part in killed.parts]
    assert outcomes == [*[PartOutcome.OK] * 3, PartOutcome.ERROR, *[PartOutcome.NOT_RUN] * 8]
    assert killed.parts[3].problems == ("the process that proved it ended: SIGKILL",)
    assert (killed.exit_code, fine.exit_code) == (3, 0)
    assert cleared == ["lab-killed"]


def test_our_own_failure_in_one_lab_is_reported_where_it_happened(
    scene: Scene, cleared: list[str], tmp_path: Path
) -> None:
    def on_bug(error: Exception) -> None:
        (tmp_path / f"bug-{os.getpid()}").write_text(repr(error))

    (buggy, fine), _ears = verify(scene, ["lab-buggy", "lab-a"], 1, on_bug)
    assert (buggy.parts[3].outcome, buggy.parts[3].fault) == (PartOutcome.ERROR, "bug")
    assert buggy.parts[3].problems == ("our bug: ZeroDivisionError('ours')",)
    assert (buggy.exit_code, fine.exit_code) == (4, 0)
    assert cleared == ["lab-buggy"]
    (told,) = tmp_path.glob("bug-*")
    assert told.read_text() == "ZeroDivisionError('ours')"
    assert told.name != f"bug-{os.getpid()}"


def test_what_can_not_be_cleared_away_is_told(
    scene: Scene, cleared: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_lab: str, _on_event: object) -> None:
        raise EnvironmentProblem("process 7 does not end")

    monkeypatch.setattr(together, "clear_away", fails)
    (killed,), _ears = verify(scene, ["lab-killed"], 1, no_bug)
    assert killed.parts[3].problems[0].endswith("SIGKILL\nprocess 7 does not end")
    assert cleared == []
