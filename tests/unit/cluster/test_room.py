"""How much room a host has, on hosts that are only told about; and what a start claims of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import claims
from cluster.claims import claim
from cluster.needs import Needs, needs
from cluster.room import GIB, Free, amount_of, room, short
from cluster.spec import ClusterSpec, NodeSpec
from tests.unit.cluster.test_doctor import ToldHost

ROOT = Path(__file__).parents[3]
HOME = Path("/home-of/lab-x")


def free(host: ToldHost, thing: str) -> Free:
    return next(one for one in room(HOME, host) if one.thing == thing)


def with_group(host: ToldHost, controller: str, folder: str, **files: str) -> ToldHost:
    """`host` with one more cgroup around the caller; a double underscore is a dot."""
    host.groups[controller] = (*host.groups.get(controller, ()), folder)
    host.files |= {f"{folder}/{name.replace('__', '.')}": f"{content}\n" for name, content in files.items()}
    return host


def test_a_host_without_bounds_has_what_it_says() -> None:
    found = {one.thing: (one.amount, one.by) for one in room(HOME, ToldHost())}
    assert found == {
        "memory": (4 * GIB, ""),
        "disk": (100 * GIB, str(HOME)),
        "tasks": (32768 - 700, "kernel.pid_max"),
        "watchers": (108, "fs.inotify.max_user_instances"),
    }


def test_the_narrowest_cgroup_of_v2_decides_and_caches_count_as_free() -> None:
    stat = f"anon 1\ninactive_file {GIB // 2}"
    host = with_group(ToldHost(), "memory", "/g/inner", memory__max="max", memory__high="max", memory__current="5")
    with_group(host, "memory", "/g", memory__max=str(3 * GIB), memory__current=str(2 * GIB), memory__stat=stat)
    assert free(host, "memory") == Free(
        thing="memory", amount=3 * GIB // 2, by="/g", remedy=free(ToldHost(), "memory").remedy
    )
    with_group(host, "memory", "/", memory__max=str(9 * GIB), memory__high=str(3 * GIB), memory__current=str(2 * GIB))
    assert (free(host, "memory").amount, free(host, "memory").by) == (GIB, "/")


def test_a_cgroup_of_v1_counts_what_is_below_it() -> None:
    stat = f"inactive_file 0\ntotal_inactive_file {GIB}"
    told = {"memory__limit_in_bytes": str(2 * GIB), "memory__usage_in_bytes": str(2 * GIB), "memory__stat": stat}
    host = with_group(ToldHost(), "memory", "/m/jobs", **told)
    assert free(host, "memory").amount == GIB
    unbounded = with_group(ToldHost(), "memory", "/m", memory__limit_in_bytes="9223372036854771712")
    assert free(unbounded, "memory").amount == 4 * GIB


def test_a_cgroup_that_is_wider_than_the_host_bounds_nothing() -> None:
    host = with_group(ToldHost(), "memory", "/g", memory__max=str(64 * GIB), memory__current="0", memory__stat="anon 0")
    assert (free(host, "memory").amount, free(host, "memory").by) == (4 * GIB, "")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (with_group(ToldHost(), "pids", "/p", pids__max="400", pids__current="150"), (250, "/p")),
        (with_group(ToldHost(), "pids", "/p", pids__max="max", pids__current="150"), (32068, "kernel.pid_max")),
        (ToldHost(most_tasks=90), (40, "ulimit -u")),
    ],
)
def test_processes_are_bounded_by_the_host_its_cgroups_and_the_users_own_limit(
    host: ToldHost, expected: tuple[int, str]
) -> None:
    assert (free(host, "tasks").amount, free(host, "tasks").by) == expected


def test_only_what_is_too_little_is_short() -> None:
    found = room(HOME, ToldHost(disk=7, watchers=122))
    wanted = Needs(memory=4 * GIB, disk=8, tasks=32068, watchers=7)
    assert [one.thing for one in short(wanted, found)] == ["disk", "watchers"]


def test_amounts_have_their_units_and_what_is_overdrawn_is_nothing() -> None:
    assert amount_of("memory", GIB * 3 // 2) == "1.5 GiB"
    assert amount_of("tasks", 12) == "12"
    assert amount_of("disk", -5) == "0.0 GiB"


def test_a_machine_that_has_more_needs_more() -> None:
    real = NodeSpec(name="lab", real=True)
    small, large = needs(ClusterSpec()), needs(ClusterSpec(addons=("jobset", "kueue"), nodes=(real,)))
    for thing in ("memory", "tasks", "watchers"):
        assert getattr(small, thing) < getattr(large, thing)


# -- claims -------------------------------------------------------------------------------------------


@pytest.fixture
def only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labs that are being started on this host meanwhile are no matter."""
    monkeypatch.setattr(claims, "_PREFIX", f"batchlab-test-{os.getpid()}")


@pytest.mark.usefixtures("only_ours")
def test_who_claims_later_is_told_what_was_claimed_before() -> None:
    with claim(5 * GIB) as first:
        with claim(GIB) as second, claim(1) as third:
            assert second - first == 5 * GIB
            assert third - first == 6 * GIB
        with claim(1) as fourth:
            assert fourth - first == 5 * GIB, "a claim that is over is none"


@pytest.mark.usefixtures("only_ours")
def test_what_was_taken_already_is_no_longer_promised() -> None:
    """The machine is the claiming process's child."""
    hold = 300 << 20
    script = f"import sys; held = b'x' * {hold}; print('holds', flush=True); sys.stdin.read()"
    with claim(GIB), claim(1) as before:
        child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdin is not None
        assert child.stdout is not None
        with child, child.stdin:
            assert child.stdout.readline() == b"holds\n"
            with claim(1) as after:
                assert hold <= before - after < 2 * hold


def test_a_claim_is_gone_with_its_process() -> None:
    script = "import os; from cluster.claims import claim\nwith claim(7 << 40): os.kill(os.getpid(), 9)"
    killed = subprocess.run([sys.executable, "-c", script], check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert killed.returncode == -9
    with claim(1) as promised:
        assert promised < 7 << 40
