"""The host-side process of a sandbox: makes the namespaces, then waits and cleans up after it (`waiter`).

Owns the moment between "a command was typed" and "PID 1 supervises". Its lock on `run/keeper.json` is how every
other command knows that a sandbox lives. When it is killed the kernel kills PID 1 with it, and with PID 1
everything in the sandbox.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import IO, NoReturn

from cluster import i18n
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from cluster.machine import NODE_IP, RUNTIME, Layout, MachineConfig
from cluster.sandbox import bounds, cgroups, kernel, remains, rootfs, waiter
from cluster.supervisor.events import FAILED, EventLog
from cluster.supervisor.main import supervise

_NETWORK = f"""link set lo up
link add node0 type bridge
addr add {NODE_IP}/24 dev node0
link set node0 up
"""
_LOCK_SECONDS = 1.0
_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC

clean = remains.clean


def main() -> None:
    """`python -m cluster.sandbox.keeper SESSION-FOLDER`."""
    began = time.monotonic()
    i18n.set_language(i18n.from_environment())
    config = MachineConfig.from_json((Path(sys.argv[1]) / "machine.json").read_text())
    layout = Layout(config.home)
    with layout.keeper.open("a") as lock:
        _take(lock)
        lock.truncate(0)
        init = _start(config, layout, began)
        lock.write(json.dumps({"pid": os.getpid(), "init_pid": init, "since": time.time()}))
        lock.flush()
        _wait(config, lock, init)


def _take(lock: IO[str]) -> None:
    """Hold the session's lock for life. BlockingIOError: another keeper has it."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # perhaps only a `status` that looks whether anybody has it
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _wait(config: MachineConfig, lock: IO[str], init: int) -> NoReturn:
    """Become the process that waits for PID 1, and holds the lock meanwhile."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until it can pass it on
    os.set_inheritable(lock.fileno(), True)
    argv = [sys.executable, "-P", "-S", str(Path(waiter.__file__)), str(config.home), str(init)]
    os.execv(sys.executable, argv)  # noqa: S606  # our own interpreter and file: no shell is wanted


def _start(config: MachineConfig, layout: Layout, began: float) -> int:
    """Fork PID 1 of the new sandbox; its process id on the host.

    Namespaces are unshared in a short-lived process between, so that this one stays on the host; PID 1 becomes
    this process's child because this one adopts orphans.
    """
    kernel.adopt_orphans()
    report_out, report_in = os.pipe()
    leash_out, leash_in = os.pipe()
    opener = os.fork()
    if opener == 0:
        status = 1
        try:
            bounded = _join_cgroup(config, layout, began)
            _unshare(config)
            init = os.fork()
            if init == 0:
                os.close(leash_in)
                _become_init(config, layout, began, leash_out, bounded=bounded)
            os.write(report_in, str(init).encode())
            status = 0
        except BaseException:  # noqa: BLE001  # this fork must never return into its parent's code
            _report_failure(layout, began)
        os._exit(status)
    os.close(report_in)
    os.waitpid(opener, 0)
    init_pid = int(os.read(report_out, 32) or 0)
    os.close(report_out)
    if not init_pid:
        clean(layout)
        sys.exit(1)
    # Only now is PID 1 our child, and only now may it tie its life to its parent's.
    os.write(leash_in, b"x")
    os.close(leash_in)
    os.close(leash_out)
    return init_pid


def _join_cgroup(config: MachineConfig, layout: Layout, began: float) -> bool:
    """Into the session's cgroup; whether it bounds it. EnvironmentProblem where a real node can't do without."""
    bounds.offer_to_the_oom_killer(bounds.CLUSTER_OOM_SCORE)
    if not config.privileged:
        return False  # what holds an ordinary user's shell is said in `cluster.sandbox.bounds`
    lacking = cgroups.join(layout.cgroup, layout.cgroups, bounds.bounds(config.spec).session)
    if not lacking:
        return True
    problem = _("no bounds by cgroup: {controllers} can't be had here").format(controllers=", ".join(lacking))
    if config.spec.real_node:
        raise EnvironmentProblem(problem, _("`grader doctor` says what to do about cgroups"))
    EventLog(layout.events, began).write("sandbox", "note", problem)
    return False


def _unshare(config: MachineConfig) -> None:
    if config.privileged:
        kernel.unshare(_NAMESPACES | kernel.CLONE_NEWCGROUP)
        return
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(_NAMESPACES | kernel.CLONE_NEWUSER | kernel.CLONE_NEWCGROUP)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def _become_init(config: MachineConfig, layout: Layout, began: float, leash: int, *, bounded: bool) -> None:
    status = 1
    try:
        if os.read(leash, 1) != b"x":
            os._exit(1)  # the keeper died first
        os.close(leash)
        kernel.die_with_parent(signal.SIGKILL)
        kernel.refuse_huge_pages()
        kernel.share_one_heap()
        _make_room(config, layout, bounded=bounded)
        supervise(config, began)
        status = 0
    except BaseException:  # noqa: BLE001  # PID 1 must end, not unwind into the keeper's code
        _report_failure(layout, began)
    os._exit(status)


def _make_room(config: MachineConfig, layout: Layout, *, bounded: bool) -> None:
    """Root file system, cgroups, host name and network of the sandbox."""
    binds = [rootfs.Bind(source=folder, target=folder) for folder in rootfs.program_folders()]
    binds += [rootfs.Bind(source=folder, target=folder) for folder in (config.binaries, *config.shown)]
    binds.append(rootfs.Bind(source=config.home, target=config.home, read_only=False))
    real = config.spec.real_node is not None
    root = rootfs.build(layout.run / "sandbox", privileged=config.privileged, lower=Path("/"), kmsg=real)
    rootfs.add(root, binds)
    runtime = root / RUNTIME.relative_to("/")
    runtime.mkdir(exist_ok=True)
    if config.privileged:
        # What the learner's place starts from: the host's root file system, without anything mounted on it.
        (runtime / "host").mkdir()
        kernel.bind(Path("/"), runtime / "host", read_only=True)
        if bounded:
            cgroups.mount_inside(root, bounds.bounds(config.spec))
    rootfs.enter(root)
    socket.sethostname(config.spec.real_node.name if config.spec.real_node else "lab")
    subprocess.run(["ip", "-batch", "-"], input=_NETWORK, text=True, check=True)


def _report_failure(layout: Layout, began: float) -> None:
    """Into the supervisor's log in full, and as the start's last event in one line."""
    traceback.print_exc()
    sys.stderr.flush()
    error = sys.exc_info()[1]
    if isinstance(error, Problem):
        said = "\n".join(filter(None, (error.message, error.advice)))
    else:
        said = f"{type(error).__name__}: {error}"
    EventLog(layout.events, began).write(FAILED, "failed", said)


if __name__ == "__main__":
    main()
