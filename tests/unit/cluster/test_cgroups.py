"""Where a session's cgroup goes on machines with cgroup v1, v2 and both, and what bounds it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from cluster.needs import needs
from cluster.sandbox import cgroups
from cluster.sandbox.bounds import GIB, Bound, Bounds, bounds, holding_back, offer_to_the_oom_killer
from cluster.spec import ClusterSpec, NodeSpec

V1_MOUNTS = """\
30 25 0:26 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 / /sys/fs/cgroup/systemd rw,nosuid - cgroup cgroup rw,xattr,name=systemd
34 30 0:30 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
35 25 8:1 / / rw - ext4 /dev/sda rw
"""
V1_OWN = "4:memory:/jobs/mine\n3:cpu,cpuacct:/\n2:name=systemd:/user.slice\n0::/user.slice\n"
V2_MOUNTS = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
IN_CONTAINER = "31 30 0:27 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"


def read(monkeypatch: pytest.MonkeyPatch, mounts: str, own: str) -> dict[str, cgroups.Hierarchy]:
    texts = {"/proc/self/mountinfo": mounts, "/proc/self/cgroup": own}
    monkeypatch.setattr(Path, "read_text", lambda self, *_args: texts[str(self)])
    return {str(hierarchy.mount): hierarchy for hierarchy in cgroups.hierarchies()}


def test_v1_goes_below_the_callers_own_group_in_each_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, V1_MOUNTS, V1_OWN)
    assert found["/sys/fs/cgroup/memory"].folder("s") == Path("/sys/fs/cgroup/memory/jobs/mine/s")
    assert found["/sys/fs/cgroup/cpu,cpuacct"].folder("s") == Path("/sys/fs/cgroup/cpu,cpuacct/s")
    assert found["/sys/fs/cgroup/systemd"].options == "none,name=systemd"
    assert found["/sys/fs/cgroup/cpu,cpuacct"].options == "cpu,cpuacct"


def test_v2_goes_below_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = read(monkeypatch, V2_MOUNTS, "0::/user.slice/user-0.slice/session-1.scope\n").values()
    assert found.options == ""
    assert found.folder("s") == Path("/sys/fs/cgroup/s")


def test_a_containers_part_of_a_hierarchy_is_its_root(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, IN_CONTAINER, "4:memory:/docker/abc\n")
    assert found["/sys/fs/cgroup/memory"].folder("s") == Path("/sys/fs/cgroup/memory/s")


def test_a_group_outside_what_is_mounted_falls_back_to_the_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, IN_CONTAINER, "4:memory:/elsewhere\n")
    assert found["/sys/fs/cgroup/memory"].folder("s") == Path("/sys/fs/cgroup/memory/s")


NAME = "batchlab-0123456789ab"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


def place(folder: Path, monkeypatch: pytest.MonkeyPatch, options: str = "") -> Path:
    """One hierarchy whose sessions lie below `folder`."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(cgroups, "hierarchies", lambda: [cgroups.Hierarchy(folder, options, folder, folder)])
    return folder


def files(folder: Path, **contents: str) -> None:
    """The files that the kernel would make in a new group; a double underscore is a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("__", ".")).write_text(content)


def test_remove_takes_nested_folders_from_the_bottom(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = place(tmp_path / "fs", monkeypatch)
    (here / NAME / "kubepods" / "pod1").mkdir(parents=True)
    (here / "other").mkdir()
    assert cgroups.remove(NAME, record) == []
    assert [path.name for path in here.iterdir()] == ["other"]


def test_remove_names_what_will_not_go(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place(tmp_path / "fs", monkeypatch)
    files(here / NAME, held="")
    record.write_text("")
    monkeypatch.setattr(cgroups, "_REMOVE_SECONDS", 0.05)
    assert cgroups.remove(NAME, record) == [here / NAME]
    assert record.exists()


def test_remove_finds_what_was_made_from_another_cgroup(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "fs" / "login-1" / NAME
    there.mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.mkdir()
    record.write_text(f"{there}\n{precious}\n")
    place(tmp_path / "login-2", monkeypatch)
    assert cgroups.remove(NAME, record) == []
    assert not there.exists()
    assert not record.exists()
    assert precious.exists(), "only what has our name is ours"


BOUND = Bound(memory=3 * GIB, swap=GIB, tasks=700, weight=25)


def test_a_session_of_v2_is_bounded_before_it_is_entered(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = place(tmp_path / "fs", monkeypatch)
    files(here, cgroup__controllers="cpu memory pids rdma", cgroup__subtree_control="")
    unset = dict.fromkeys(("memory__max", "memory__swap__max", "pids__max", "cpu__weight", "cgroup__procs"), "max")
    files(here / NAME, **unset)
    assert cgroups.join(NAME, record, BOUND) == ()
    found = {path.name: path.read_text() for path in (here / NAME).iterdir()}
    assert found == {
        "memory.max": str(3 * GIB),
        "memory.swap.max": str(GIB),
        "pids.max": "700",
        "cpu.weight": "25",
        "cgroup.procs": "0",
    }
    assert cgroups.recorded(record) == {here / NAME}


def test_a_session_of_v1_is_bounded_in_the_units_of_v1(
    tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = place(tmp_path / "fs", monkeypatch, "cpu,cpuset,memory")
    files(here, cpuset__cpus="0-3", cpuset__mems="0")
    names = ("cpu__shares", "cpuset__cpus", "cpuset__mems", "memory__limit_in_bytes", "memory__memsw__limit_in_bytes")
    files(here / NAME, **dict.fromkeys(names, ""), cgroup__procs="")
    assert cgroups.join(NAME, record, BOUND) == ("pids",), "said, since no hierarchy has it"
    found = {path.name: path.read_text() for path in (here / NAME).iterdir()}
    assert found["cpu.shares"] == "256"
    assert (found["cpuset.cpus"], found["cpuset.mems"]) == ("0-3", "0")
    assert found["memory.limit_in_bytes"] == str(3 * GIB)
    assert found["memory.memsw.limit_in_bytes"] == str(4 * GIB), "of memory and swap together"


def test_what_cannot_be_entered_bounds_nothing(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place(tmp_path / "fs", monkeypatch, "pids")
    files(here / NAME, pids__max="max")
    (here / NAME / "cgroup.procs").mkdir()  # as good as one that can't be written
    assert cgroups.join(NAME, record, BOUND) == ("cpu", "memory", "pids")
    assert cgroups.recorded(record) == {here / NAME}, "it was made, and has to be removed"


def test_a_shell_goes_where_shells_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    files(tmp_path / "pids" / "desk", pids__max="512", pids__current="511", cgroup__procs="")
    files(tmp_path / "memory" / "desk", cgroup__procs="")
    files(tmp_path / "blkio", cgroup__procs="")
    cgroups.enter_desk()
    entered = {path.parent.parent.name for path in tmp_path.rglob("cgroup.procs") if path.read_text() == "0"}
    assert entered == {"pids", "memory"}


def test_a_shell_in_which_nothing_could_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    files(tmp_path / "desk", pids__max="512", pids__current="512", cgroup__procs="")
    with pytest.raises(EnvironmentProblem, match="run 512 processes, as many as they may"):
        cgroups.enter_desk()
    assert (tmp_path / "desk" / "cgroup.procs").read_text() == ""


def spec(*, real: bool) -> ClusterSpec:
    return ClusterSpec(addons=("lws",), nodes=(NodeSpec(name="lab", real=real, gpus=4),))


@pytest.mark.parametrize("memory", [2 * GIB, 24 * GIB])
def test_shells_and_pods_at_their_bounds_leave_the_cluster_what_it_needs(memory: int) -> None:
    found: Bounds = bounds(spec(real=True), memory)
    assert found.pods is not None
    for what in ("memory", "tasks"):
        left = getattr(found.session, what) - getattr(found.desk, what) - getattr(found.pods, what)
        assert left > 1.5 * getattr(needs(spec(real=True)), what)
    assert max(found.desk.weight, found.pods.weight) < found.session.weight
    assert found.desk.memory + found.pods.memory <= memory * 3 / 8
    assert bounds(spec(real=False), memory).pods is None


def test_an_ordinary_users_processes_are_counted_where_linux_counts_them_for_each_shell() -> None:
    assert holding_back("6.1.0-18-amd64")[1] == "--nproc=512"
    assert not any("nproc" in word for word in holding_back("5.12.3"))
    assert "--data=1073741824" in holding_back("5.12.3")


def test_a_score_for_the_oom_killer_is_never_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "oom_score_adj"
    monkeypatch.setattr("cluster.sandbox.bounds.OOM_SCORE", file)
    for before, after in (("0\n", "700"), ("900\n", "900")):
        file.write_text(before)
        offer_to_the_oom_killer(700)
        assert file.read_text() == after
