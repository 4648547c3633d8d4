"""A start on a host without room: refused before anything is begun, with what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from cluster.needs import needs
from cluster.room import GIB
from grader.lab.model import Lab
from grader.session import admission, lifecycle
from grader.session.places import session_home
from tests.unit.cluster.test_doctor import ToldHost
from tests.unit.session.pretended import PretendedMachines, make_lab


@pytest.fixture(autouse=True)
def host(machines: PretendedMachines, monkeypatch: pytest.MonkeyPatch) -> ToldHost:
    """A host with room for everything, which tests take away."""
    monkeypatch.delenv(admission.IGNORE)
    told = ToldHost()
    monkeypatch.setattr(admission, "Host", lambda: told)
    return told


def memory(host: ToldHost, amount: int) -> None:
    host.files["/proc/meminfo"] = f"MemAvailable: {amount // 1024} kB\n"


def quiet(_event: object) -> None:
    """Hears nothing."""


def test_a_lab_that_fits_is_started(lab: Lab, host: ToldHost, machines: PretendedMachines, state_home: Path) -> None:
    memory(host, needs(lab.cluster).memory + (1 << 20))
    lifecycle.start_session(lab, on_event=quiet)
    assert machines.calls == ["start"]


def test_a_lab_that_does_not_fit_is_refused_before_anything_is_begun(
    lab: Lab, host: ToldHost, machines: PretendedMachines, state_home: Path
) -> None:
    memory(host, GIB // 4)
    host.watchers = 127
    with pytest.raises(EnvironmentProblem) as refused:
        lifecycle.start_session(lab, on_event=quiet)
    assert refused.value.exit_code == 3
    assert refused.value.message == (
        "this machine has no room for lab-toy; nothing was started\n"
        "  memory: 0.7 GiB needed, 0.2 GiB free\n"
        "  inotify instances: 2 needed, 1 free (fs.inotify.max_user_instances)"
    )
    assert refused.value.advice == ("stop other programs\n        sysctl -w fs.inotify.max_user_instances=1024")
    assert machines.calls == []
    assert not (state_home / "sessions/lab-toy/work").exists()


def test_what_runs_is_named(host: ToldHost, machines: PretendedMachines, state_home: Path) -> None:
    for name in ("lab-a", "lab-b", "lab-c"):
        lifecycle.start_session(make_lab(lab_id=name), on_event=quiet)
    lifecycle.stop_session("lab-b", on_event=quiet)
    memory(host, GIB // 4)
    with pytest.raises(EnvironmentProblem) as refused:
        lifecycle.start_session(make_lab(), on_event=quiet)
    assert (
        refused.value.advice
        == "stop a lab that runs: grader stop lab-a, grader stop lab-c\n        stop other programs"
    )


def test_a_running_lab_needs_no_room_to_be_left_or_reset(
    lab: Lab, host: ToldHost, machines: PretendedMachines, state_home: Path
) -> None:
    lifecycle.start_session(lab, on_event=quiet)
    memory(host, 0)
    assert lifecycle.start_session(lab, on_event=quiet).already
    lifecycle.reset_session(lab, on_event=quiet)
    assert machines.calls == ["start", "stop", "start"]


def test_a_stopped_lab_is_not_reset_without_room_and_keeps_its_files(
    lab: Lab, host: ToldHost, machines: PretendedMachines, state_home: Path
) -> None:
    lifecycle.start_session(lab, on_event=quiet)
    (session_home(lab.id) / "work/mine.txt").write_text("mine")
    lifecycle.stop_session(lab.id, on_event=quiet)
    memory(host, 0)
    with pytest.raises(EnvironmentProblem, match="no room for lab-toy"):
        lifecycle.reset_session(lab, on_event=quiet)
    assert (session_home(lab.id) / "work/mine.txt").read_text() == "mine"


def test_what_others_were_promised_is_not_free(
    lab: Lab, host: ToldHost, machines: PretendedMachines, state_home: Path
) -> None:
    """Two starts at once, and room for one."""
    memory(host, needs(lab.cluster).memory * 3 // 2)
    other = replace(lab, id="lab-other")

    def meanwhile(_config: object) -> None:
        machines.on_start = None
        with pytest.raises(EnvironmentProblem, match="no room for lab-other"):
            lifecycle.start_session(other, on_event=quiet)

    machines.on_start = meanwhile
    lifecycle.start_session(lab, on_event=quiet)
    assert machines.calls == ["start"]
    lifecycle.start_session(other, on_event=quiet)


def test_who_runs_the_host_may_know_better(
    lab: Lab, host: ToldHost, machines: PretendedMachines, monkeypatch: pytest.MonkeyPatch, state_home: Path
) -> None:
    memory(host, 0)
    monkeypatch.setenv(admission.IGNORE, "1")
    lifecycle.start_session(lab, on_event=quiet)
    assert machines.calls == ["start"]
