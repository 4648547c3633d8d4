"""The doctor: which findings block what, and what it advises, on machines that are only told about."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries import packages
from cluster.doctor import LARGEST, Diagnosis, Finding, diagnose
from cluster.errors import UsageProblem
from cluster.host import Host
from cluster.needs import needs
from cluster.room import GIB

if TYPE_CHECKING:
    from cluster.doctor import Purpose

V1_MOUNTS = (
    "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n"
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n"
    "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
    "cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0\n"
)


@dataclass(kw_only=True)
class ToldHost(Host):
    """A machine on which everything is as it should be, but for what a test changes."""

    root: bool = True
    lacking: tuple[str, ...] = ()
    go_found: tuple[str, str] = ("/opt/go/bin/go", "go1.99.0")
    may_fetch: bool = False
    folder: Path | None = Path("/cache/abc")
    trouble: str = ""
    bundle: bool = False
    refuses: str = ""
    """Trials whose command line has this word fail."""
    files: dict[str, str] = field(
        default_factory=lambda: {
            "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory hugetlb pids",
            "/proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 4194304 kB\n",
            "/proc/loadavg": "0.10 0.20 0.30 2/700 4711\n",
            "/proc/sys/kernel/pid_max": "32768\n",
            "/proc/sys/kernel/threads-max": "60000\n",
            "/proc/sys/fs/inotify/max_user_instances": "128\n",
        }
    )
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    most_tasks: int | None = None
    watchers: int = 20
    closed: str = ""
    disk: int = 100 * GIB
    trials: list[list[str]] = field(default_factory=list)

    def is_root(self) -> bool:
        return self.root

    def missing(self, purpose: packages.Purpose) -> tuple[packages.Package, ...]:
        return tuple(package for package in packages.packages(purpose) if package.name in self.lacking)

    def go(self) -> tuple[str, str]:
        return self.go_found

    def go_may_fetch(self) -> bool:
        return self.may_fetch

    def binaries(self) -> Path | None:
        if self.trouble:
            raise UsageProblem(self.trouble)
        return self.folder

    def has_bundle(self) -> bool:
        return self.bundle

    def try_out(self, argv: list[str]) -> tuple[bool, str]:
        self.trials.append(argv)
        failed = bool(self.refuses) and any(self.refuses in word for word in argv)
        return (False, "Operation not permitted") if failed else (True, "")

    def read(self, path: str) -> str:
        return self.files.get(path, "")

    def can_make_cgroup(self, folder: str) -> bool:
        return folder != self.closed

    def free_disk(self, folder: Path | None = None) -> int:  # noqa: ARG002  # one disk is told, wherever
        return self.disk

    def bounding_groups(self, controller: str) -> list[Path]:
        return [Path(folder) for folder in self.groups.get(controller, ())]

    def task_limit(self) -> int | None:
        return self.most_tasks

    def own_tasks(self) -> int:
        return 50

    def own_watchers(self) -> int:
        return self.watchers


def _states(diagnosis: Diagnosis) -> dict[Purpose, str]:
    return {verdict.purpose: verdict.state for verdict in diagnosis.verdicts}


def _finding(diagnosis: Diagnosis, name: str) -> Finding:
    return next(finding for finding in diagnosis.findings if finding.name == name)


def test_a_good_machine_is_ready_for_everything() -> None:
    diagnosis = diagnose(ToldHost())
    assert [finding for finding in diagnosis.findings if not finding.ok] == []
    assert _states(diagnosis) == {"fake-nodes": "ready", "real-node": "ready", "build": "ready"}
    assert diagnosis.install == ""


def test_an_ordinary_user_may_run_fake_nodes_and_tries_them_as_they_would_start() -> None:
    host = ToldHost(root=False)
    assert _states(diagnose(host)) == {"fake-nodes": "ready", "real-node": "needs-root", "build": "ready"}
    assert all("--map-root-user" in argv for argv in host.trials)


@pytest.mark.parametrize(
    ("change", "blocked", "name"),
    [
        (ToldHost(lacking=("iproute2",)), {"fake-nodes", "real-node"}, "iproute2"),
        (ToldHost(lacking=("libseccomp-dev",)), {"build"}, "libseccomp-dev"),
        (ToldHost(go_found=("", "")), {"build"}, "go"),
        (ToldHost(refuses="--mount-proc"), {"fake-nodes", "real-node"}, "namespaces"),
        (ToldHost(refuses="bridge"), {"fake-nodes", "real-node"}, "bridge links"),
        (ToldHost(refuses="veth"), {"real-node"}, "veth links"),
        (ToldHost(refuses="overlay"), {"fake-nodes", "real-node"}, "overlay file system"),
        (ToldHost(closed="/sys/fs/cgroup"), {"real-node"}, "cgroups"),
        (ToldHost(disk=GIB), {"fake-nodes", "real-node", "build"}, "disk"),
        (ToldHost(watchers=120), {"fake-nodes", "real-node"}, "inotify instances"),
        (ToldHost(watchers=115), {"real-node"}, "inotify instances"),
        (ToldHost(most_tasks=100), {"fake-nodes", "real-node"}, "processes and threads"),
        (ToldHost(trouble="too old"), {"fake-nodes", "real-node"}, "binaries"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_blocks_what_needs_it(change: ToldHost, blocked: set[str], name: str) -> None:
    diagnosis = diagnose(change)

    assert [finding.name for finding in diagnosis.findings if not finding.ok] == [name]
    assert _finding(diagnosis, name).remedy
    assert {v.purpose for v in diagnosis.verdicts if v.state == "not-ready"} == blocked
    assert {v.blocked_by for v in diagnosis.verdicts if v.state == "not-ready"} == {(name,)}


def test_one_command_installs_all_that_is_missing() -> None:
    diagnosis = diagnose(ToldHost(lacking=("util-linux", "gcc", "iproute2")))
    assert diagnosis.install.endswith("apt-get install -y gcc util-linux iproute2")


def test_user_namespaces_are_needed_for_labs() -> None:
    root, user = (diagnose(ToldHost(root=root, refuses="--user")) for root in (True, False))
    assert not _finding(root, "user namespaces").ok
    assert [one.verdict("fake-nodes").state for one in (root, user)] == ["not-ready", "not-ready"]


@pytest.mark.parametrize(
    ("path", "content", "remedy"),
    [
        ("/proc/sys/kernel/unprivileged_userns_clone", "0\n", "kernel.unprivileged_userns_clone=1"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "apparmor_restrict_unprivileged_userns=0"),
        ("/proc/sys/user/max_user_namespaces", "0\n", "user.max_user_namespaces="),
        ("/proc/sys/user/max_user_namespaces", "9000\n", "run labs as root"),
    ],
)
def test_refused_user_namespaces_lead_to_the_switch_that_is_off(path: str, content: str, remedy: str) -> None:
    host = ToldHost(root=False, refuses="--user")
    host.files[path] = content
    assert remedy in _finding(diagnose(host), "user namespaces").remedy


def _told_v1() -> ToldHost:
    host = ToldHost()
    del host.files["/sys/fs/cgroup/cgroup.controllers"]
    host.files["/proc/mounts"] = V1_MOUNTS
    return host


def test_cgroups_of_version_1_are_found_by_their_mounts() -> None:
    host = _told_v1()
    assert _finding(diagnose(host), "cgroups").detail == "v1: cpu, cpuset, memory, pids"

    host.files["/proc/mounts"] = V1_MOUNTS.replace("cgroup rw,relatime,pids", "tmpfs rw,relatime,pids")
    finding = _finding(diagnose(host), "cgroups")
    assert (finding.ok, finding.detail) == (False, "v1 without pids")


def test_cgroups_that_can_not_be_written_are_told_by_folder() -> None:
    host = replace(_told_v1(), closed="/sys/fs/cgroup/memory")
    finding = _finding(diagnose(host), "cgroups")
    assert finding.detail == "v1, but nothing can be made in /sys/fs/cgroup/memory"
    assert not finding.ok


IN_CONTAINER = {
    "/sys/fs/cgroup/cgroup.type": "domain\n",
    "/sys/fs/cgroup/cgroup.procs": "1\n77\n",
    "/sys/fs/cgroup/cgroup.subtree_control": "cpu\n",
}


def test_cgroups_of_a_container_that_holds_processes_itself_are_told_with_the_way_out() -> None:
    host = ToldHost()
    host.files |= IN_CONTAINER
    finding = _finding(diagnose(host), "cgroups")
    assert (finding.ok, finding.needed_for) == (False, frozenset({"real-node"}))
    assert "cpuset, memory, pids can't be handed down" in finding.detail
    assert "/sys/fs/cgroup/init/cgroup.procs" in finding.remedy


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("/sys/fs/cgroup/cgroup.type", ""),
        ("/sys/fs/cgroup/cgroup.procs", ""),
        ("/sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu memory pids\n"),
    ],
    ids=["the host's own root", "its processes moved away", "handed down already"],
)
def test_other_cgroups_of_version_2_will_do(file: str, content: str) -> None:
    host = ToldHost()
    host.files |= {**IN_CONTAINER, file: content}
    assert _finding(diagnose(host), "cgroups").ok


def test_memory_for_fake_nodes_may_be_too_little_for_a_real_one() -> None:
    host = ToldHost()
    between = (needs(LARGEST["fake-nodes"]).memory + needs(LARGEST["real-node"]).memory) // 2
    host.files["/proc/meminfo"] = f"MemAvailable: {between // 1024} kB\n"
    assert _states(diagnose(host)) == {"fake-nodes": "ready", "real-node": "not-ready", "build": "ready"}
    finding = _finding(diagnose(host), "memory")
    assert finding.detail == f"{between / GIB:.1f} GiB free; a session takes up to 0.9 GiB, with a real node 1.1 GiB"
    assert finding.remedy == "stop other programs; or stop sessions: grader stop --all"


@pytest.mark.parametrize(
    ("go", "may_fetch", "ok"),
    [
        (("/g", "go1.21.0"), True, True),
        (("/g", "go1.21.0"), False, False),
        (("/g", "go1.19.8"), True, False),
        (("/g", ""), True, False),
    ],
)
def test_an_old_go_will_do_if_it_may_fetch_a_newer_one(go: tuple[str, str], may_fetch: bool, ok: bool) -> None:
    finding = _finding(diagnose(ToldHost(go_found=go, may_fetch=may_fetch)), "go")
    assert finding.ok is ok
    assert ("fetches" in finding.detail) is ok
    assert ("pip install" in finding.remedy) is not ok


def test_labs_need_binaries_or_a_way_to_get_them() -> None:
    nothing = ToldHost(folder=None, go_found=("", ""))
    assert diagnose(nothing).verdict("fake-nodes").blocked_by == ("binaries",)
    assert "--from-bundle" in _finding(diagnose(nothing), "binaries").remedy
    assert diagnose(replace(nothing, bundle=True)).verdict("fake-nodes").state == "ready"
    assert diagnose(ToldHost(folder=None)).verdict("fake-nodes").state == "ready"


def test_room_to_build_is_asked_only_of_who_has_to_build() -> None:
    assert _finding(diagnose(ToldHost(disk=5 * GIB)), "disk").ok
    without = diagnose(ToldHost(disk=5 * GIB, folder=None))
    assert not _finding(without, "disk").ok
    assert without.verdict("build").blocked_by == ("disk",)


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    host = Host()
    assert host.can_make_cgroup(str(tmp_path))
    host.own_tasks(), host.own_watchers(), host.bounding_groups("memory")
    assert list(tmp_path.iterdir()) == []
    assert not host.can_make_cgroup(str(tmp_path / "nowhere"))


def test_inotify_instances_are_counted() -> None:
    host = Host()
    before = host.own_watchers()
    mine = [ctypes.CDLL(None).inotify_init1(os.O_CLOEXEC) for _ in range(20)]
    try:
        # Other programs of this user come and go meanwhile, but not twenty of them.
        assert host.own_watchers() > before + 10
    finally:
        for descriptor in mine:
            os.close(descriptor)


def test_a_trial_that_can_not_start_is_a_refusal() -> None:
    assert Host().try_out(["/no/such/program"])[0] is False
    assert Host().try_out(["sh", "-c", "echo one; echo two >&2; exit 3"]) == (False, "two")
    assert Host().try_out(["true"]) == (True, "")
