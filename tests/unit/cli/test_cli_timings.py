"""`--timings` and `--json` of a start: the layout of what was measured, and that the command prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from rich.cells import cell_len

from cluster import i18n, local
from cluster.timings import BOOT, LAUNCH, SANDBOX, BootTimings, HostClock, Leg, Planned, TaskTiming
from grader.cli.documents import StartDocument
from grader.cli.timings import render_timings, timings_content
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader
from tests.unit.conftest import Golden
from tests.unit.session.pretended import PretendedMachines

PARTS = {
    "python": 0.31,
    "lab": 0.054,
    "session": 0.012,
    "programs": 0.004,
    "keys": 0.113,
    "files": 0.009,
    LAUNCH: 0.267,
    BOOT: 8.112,
}


def _task(
    wave: int, name: str, began: float, seconds: float, *, program: bool = False, objects: int | None = None
) -> TaskTiming:
    plan = Planned(name=name, program=program, wave=wave)
    return TaskTiming(plan=plan, began=began, seconds=seconds, objects=objects)


MADE_UP = BootTimings(
    seconds=8.112,
    tasks=(
        _task(1, "etcd", 0.081, 0.68, program=True),
        _task(1, "containerd", 0.082, 0.1, program=True),
        _task(2, "kube-apiserver", 0.762, 2.33, program=True),
        _task(3, "lws-definitions", 3.093, 0.94, objects=4),
        _task(3, "a-step-whose-name-is-longer-than-its-column", 3.094, 0.0, objects=0),
        _task(4, "kube-controller-manager", 5.33, 0.7, program=True),
        _task(5, "start-manifests", 8.09, 0.02, objects=12),
        _task(0, "unforeseen", 4.0, 1.0),
    ),
    path=(
        Leg(SANDBOX, 0.081),
        Leg("etcd", 0.681),
        Leg("kube-apiserver", 2.33),
        Leg("kube-controller-manager", 4.998),
        Leg("start-manifests", 0.02),
        Leg("READY", 0.002),
    ),
)


@pytest.fixture
def korean() -> Iterator[None]:
    i18n.set_language("ko")
    yield
    i18n.set_language("en")


def test_the_time_of_a_start_is_laid_out_for_a_person(golden: Golden) -> None:
    text = render_timings(PARTS, MADE_UP)
    golden("cli/timings.txt", text)
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.usefixtures("korean")
def test_the_time_of_a_start_is_told_in_korean(golden: Golden) -> None:
    text = render_timings(PARTS, MADE_UP)
    golden("cli/timings-ko.txt", text)
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.parametrize("width", [40, 60, 100])
def test_it_fits_every_terminal(width: int) -> None:
    assert max(map(cell_len, render_timings(PARTS, MADE_UP, width=width).splitlines())) <= max(width, 58)


def test_what_a_boot_without_a_known_beginning_took_is_left_out() -> None:
    assert render_timings({"python": 0.25, "lab": 0.5}, None).splitlines() == [
        "where the time went: 0.75 s",
        "   0.25 s  Python and what it imports",
        "   0.50 s  the lab's files are read",
    ]


def test_the_time_of_a_start_is_a_document() -> None:
    took = timings_content(PARTS, MADE_UP)
    StartDocument.model_validate(
        {"schema": "batchlab/start/v1", "lab": "l", "already": False, "folder": "f", "work": "w", "timings": took}
    )
    assert took["seconds"] == pytest.approx(sum(part["seconds"] for part in took["parts"]))
    boot = took["boot"]
    assert [task["task"] for task in boot["tasks"]] == [task.plan.name for task in MADE_UP.tasks]
    assert (boot["tasks"][0]["kind"], boot["tasks"][3]["kind"]) == ("program", "step")
    assert (boot["tasks"][0]["objects"], boot["tasks"][3]["objects"], boot["tasks"][4]["objects"]) == (None, 4, 0)
    assert sum(leg["seconds"] for leg in boot["critical_path"]) == pytest.approx(boot["seconds"])


@pytest.fixture
def measured(machines: PretendedMachines, monkeypatch: pytest.MonkeyPatch) -> PretendedMachines:
    monkeypatch.setattr(local, "timings", lambda _home: MADE_UP)
    monkeypatch.setattr(HostClock, "parts", lambda _self: dict(PARTS))
    return machines


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize("command", ["start", "reset"])
def test_timings_come_last(grader: Grader, command: str) -> None:
    assert grader(command, "lab-toy", "--timings").out.endswith("\n\n" + render_timings(PARTS, MADE_UP))
    assert "where the time went" not in grader(command, "lab-toy").out


@pytest.mark.usefixtures("measured")
def test_a_start_is_told_to_programs(grader: Grader) -> None:
    home = session_home("lab-toy")
    for already in (False, True):
        ran = grader("start", "lab-toy", "--json")
        assert ran.code == 0
        assert json.loads(ran.out) == {
            "schema": "batchlab/start/v1",
            "lab": "lab-toy",
            "already": already,
            "folder": str(home),
            "work": str(home / "work"),
            "timings": json.loads(json.dumps(timings_content(PARTS, MADE_UP))),
        }


@pytest.mark.usefixtures("machines")
def test_the_parts_of_a_real_command_are_told_in_order(grader: Grader) -> None:
    parts = json.loads(grader("start", "lab-toy", "--json").out)["timings"]["parts"]
    assert [part["part"] for part in parts] == ["python", "lab", "session", "programs", "boot"]
    again = json.loads(grader("start", "lab-toy", "--json").out)["timings"]["parts"]
    assert [part["part"] for part in again] == ["python", "lab", "session"]
