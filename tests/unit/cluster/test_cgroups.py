"""Where a session's cgroup goes on machines with cgroup v1, v2 and both."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.sandbox import cgroups

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


def test_remove_takes_nested_folders_from_the_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s" / "kubepods" / "pod1").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(cgroups, "hierarchies", lambda: [cgroups.Hierarchy(tmp_path, "", tmp_path)])
    assert cgroups.remove("s") == []
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_remove_names_what_will_not_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "held").write_text("")
    monkeypatch.setattr(cgroups, "hierarchies", lambda: [cgroups.Hierarchy(tmp_path, "", tmp_path)])
    monkeypatch.setattr(cgroups, "_REMOVE_SECONDS", 0.05)
    assert cgroups.remove("s") == [tmp_path / "s"]
