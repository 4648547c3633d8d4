"""What a lab can't reach: the host's files and devices, the network, the cluster's keys, other sessions."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.conftest import Machine, needs_root
from tests.cluster.ordinary import as_ordinary_user

_AS_USER = """
import os, subprocess, sys
from pathlib import Path
from cluster import local
from tests.cluster.conftest import machine_config
assert os.geteuid() != 0
config = machine_config(Path(sys.argv[1]) / "lab", Path(sys.argv[2]), addons=("kueue",))
local.start(config, lambda event: None)
try:
    script = [
        "kubectl get nodes -o name | xargs",
        "kubectl get ns default -o jsonpath={.metadata.name}; echo",
        "ls /home",
        "rm -rf /* 2>/dev/null",
    ]
    command = local.desk_command(config.home, ["bash", "-c", "; ".join(script)], {"TERM": "dumb"})
    print(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip())
finally:
    local.stop(config.home)
print(local.status(config.home).state)
"""


def test_deleting_everything_deletes_nothing_of_ours_or_the_hosts(machine: Machine, tmp_path: Path) -> None:
    canaries = [Path("/var/lib/batchlab-canary"), Path.home() / ".batchlab-canary", tmp_path / "canary"]
    for canary in canaries:
        canary.write_text("alive")
    try:
        (machine.home / "work" / "mine.txt").write_text("the learner's own")
        machine.desk("rm -rf --no-preserve-root / 2>/dev/null; rm -rf /* 2>/dev/null")
        assert [canary.read_text() for canary in canaries] == ["alive"] * 3
        assert (machine.home / "pki/ca.crt").exists()
        assert (machine.config.binaries / "bin/kube-apiserver").exists()
        # The learner's own folder is the learner's to delete.
        assert not (machine.home / "work" / "mine.txt").exists()
        assert machine.desk("kubectl get nodes -o name").stdout.split() == ["node/gpu-a", "node/gpu-b", "node/lab"]
    finally:
        for canary in canaries:
            canary.unlink(missing_ok=True)


def test_the_learner_sees_no_key_and_no_process_of_the_cluster(machine: Machine) -> None:
    seen = machine.desk(f"ls {machine.home}; find / -xdev -name '*.key' -path '*pki*' 2>/dev/null; ps -e -o comm=")
    assert "pki" not in seen.stdout
    assert "kube-apiserver" not in seen.stdout
    assert machine.desk("kubectl config view --raw -o jsonpath='{.users[*].name}'").stdout == "learner"


def test_the_learner_has_no_way_to_etcd(machine: Machine) -> None:
    asked = machine.desk(
        "find / -name etcd.sock 2>/dev/null; "
        'python3 -c "import ssl, urllib.request as u; c = ssl._create_unverified_context(); '
        "u.urlopen('https://127.0.0.1:2379/v3/kv/range', b'{}', timeout=5, context=c)\" 2>&1 | tail -1"
    ).stdout
    assert "etcd.sock" not in asked
    assert "CERTIFICATE_REQUIRED" in asked or "certificate" in asked


def test_what_the_caller_hides_is_not_there(fresh: Callable[..., Machine]) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        (folder / "hidden").mkdir()
        for file in (folder / "hidden" / "ca.key", folder / "seen"):
            file.write_text(file.name)
        machine = fresh("hiding", hidden=(folder / "hidden",))
        assert machine.desk(f"cat {folder}/seen; cat {folder}/hidden/ca.key; cat /etc/shadow").stdout == "seen"
        assert (folder / "hidden" / "ca.key").read_text() == "ca.key"


@pytest.mark.parametrize(
    "attempt",
    [
        "mknod /tmp/disk b 254 0",
        "mount -t ext4 /dev/vda /mnt",
        "echo 1 > /proc/sys/kernel/sysrq",
        "kill -9 -1; kill -0 $(pgrep -o kube-apiserver || echo 999999)",
        "nsenter --target 1 --mount true && ls /proc/1/root/run/batchlab/host",
        "timeout 3 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'",
        "ip link add x type dummy && ip link set lo down",
    ],
)
def test_root_at_the_learners_place_has_no_power(machine: Machine, attempt: str) -> None:
    assert machine.desk(attempt).returncode != 0
    assert machine.status.state == "running"


_WRITABLE = """
import os
for top in ("/proc", "/sys"):
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not (folder == "/proc" and (name.isdigit() or name == "self"))]
        for name in files:
            if not os.path.islink(path := os.path.join(folder, name)):
                try:
                    if not os.stat(path).st_mode & 0o222:
                        continue  # opened by who is called root, and then written to by nobody
                    os.close(os.open(path, os.O_WRONLY))
                except OSError:
                    continue
                print(path)
"""


@pytest.mark.parametrize(
    "attempt",
    [
        "true",
        "mount -o remount,rw,bind /proc/sys; umount /proc/sys; umount -l /proc/sys; umount /sys; umount -l /sys",
        "mount -t proc proc /mnt && mount --move /mnt /proc; mount -t sysfs sysfs /mnt && mount --move /mnt /sys",
        "unshare --user --map-root-user --mount --pid --fork --mount-proc true",
    ],
)
def test_nothing_of_the_machines_kernel_can_be_written(machine: Machine, attempt: str) -> None:
    """Root's name alone is enough for most of it: kernel.core_pattern runs a program, sysrq-trigger reboots."""
    (machine.home / "work/look.py").write_text(_WRITABLE)
    seen = machine.desk(f"({attempt}) >&2; python3 look.py; ls /proc/self/status /sys/kernel")
    assert seen.stdout.splitlines()[0] == "/proc/self/status", seen.stdout[:2000]


def test_what_is_written_outside_the_work_folder_stays_in_that_shell(machine: Machine) -> None:
    assert machine.desk("echo x > /etc/batchlab-test && cat /etc/batchlab-test").stdout == "x\n"
    assert not Path("/etc/batchlab-test").exists()
    assert machine.desk("cat /etc/batchlab-test").returncode != 0


def test_the_work_folder_is_the_same_in_every_shell_and_on_the_host(machine: Machine) -> None:
    machine.desk("echo hello > note.txt")
    assert machine.desk("pwd; cat ~/work/note.txt").stdout == "/home/learner/work\nhello\n"
    assert (machine.home / "work/note.txt").read_text() == "hello\n"


def test_everything_listens_inside_the_sandbox_only(machine: Machine) -> None:
    outside = subprocess.run(["ss", "-Hltnu"], capture_output=True, text=True, check=True).stdout
    for port in (6443, 2379, 10250, 10257, 10259):
        assert f":{port} " not in outside
    inside = machine.desk("ss -Hltn | awk '{print $4}'").stdout.split()
    assert {address.rsplit(":", 1)[0] for address in inside} == {"127.0.0.1", "10.250.0.2"}


@needs_root
def test_two_machines_side_by_side_do_not_see_each_other(machine: Machine, fresh: Callable[..., Machine]) -> None:
    other = fresh("other", real=True)
    names = "kubectl get namespaces -o name"
    other.desk("kubectl create namespace only-there")
    assert "only-there" in other.desk(names).stdout
    assert "only-there" not in machine.desk(names).stdout
    for one in (machine, other):
        one.desk("kubectl run p --image=busybox:stable --image-pull-policy=IfNotPresent -- sleep 100")
        waited = one.desk("kubectl wait --for=condition=Ready pod/p --timeout=60s")
        assert waited.returncode == 0, waited.stderr + one.desk("kubectl describe pod p").stdout
        one.desk("kubectl delete pod p --now")


@needs_root
def test_an_ordinary_user_starts_a_machine_of_fake_nodes(binaries: Path) -> None:
    said = as_ordinary_user(_AS_USER, str(binaries))
    assert said == ["node/gpu-a node/gpu-b", "default", "learner", "stopped"]
