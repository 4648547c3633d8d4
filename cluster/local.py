"""The local provider: a machine in a sandbox on this host, from nothing to READY and back to nothing.

Owns what a command of the host does with a sandbox. The main flow is `start`; what happens inside is
`cluster.supervisor`, how the sandbox is made `cluster.sandbox`. What only a start needs is imported there: every
command asks for a machine's status, and keys and manifests are half of all modules.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _, language
from cluster.machine import BootEvent, Layout, MachineConfig, MachineStatus
from cluster.sandbox import desk
from cluster.sandbox.remains import clean
from cluster.supervisor import control
from cluster.supervisor.events import FAILED, READY, read_events
from cluster.timings import LAUNCH, BootTimings, boot_timings, read_plan, turned_to

if TYPE_CHECKING:
    from cluster.snapshots.shelf import Shelf

_POLL = 0.03
_STOP_SECONDS = 5.0
_START_SECONDS = 300.0


def start(config: MachineConfig, on_event: Callable[[BootEvent], None], snapshots: Path | None = None) -> None:
    """Make the machine and return when it is READY, or raise EnvironmentProblem with nothing left running.

    `snapshots`: the folder of what earlier starts kept, which makes this one warm where something fits, and which
    gets what this one can keep; None: a cold start that keeps nothing. Any exception on the way (Ctrl-C too) ends
    the sandbox first.
    """
    if config.spec.real_node and not config.privileged:
        raise EnvironmentProblem(
            _("{name} runs containers on a real node, and that needs root").format(name=config.name),
            advice=_("run the same command with sudo"),
        )
    layout = Layout(config.home)
    if _holder(layout) is not None:
        raise EnvironmentProblem(_("{name} is running already").format(name=config.name))
    if layout.run.is_dir():
        clean(layout)  # what an earlier machine left that was killed with its keeper
    from cluster.snapshots.shelf import Shelf

    shelf = Shelf(snapshots, _noting(on_event)) if snapshots else None
    config = prepare(config, shelf, on_event)
    on_event(turned_to(LAUNCH))
    try:
        _follow(config, _launch(config), on_event)
    except BaseException:
        stop(config.home)
        raise
    if shelf and not config.warm:
        on_event(turned_to("snapshot"))
        shelf.keep(layout.taken)


def prepare(config: MachineConfig, shelf: Shelf | None, on_event: Callable[[BootEvent], None]) -> MachineConfig:
    """Write everything a start reads: the machine's description, keys, configuration files.

    What is returned says whether the start will be warm, by a snapshot from `shelf`.
    """
    from cluster.addons import ADDONS
    from cluster.pki import write_pki
    from cluster.plan import write_files
    from cluster.snapshots.recipe import recipe

    layout = Layout(config.home)
    for folder in (layout.home, layout.run, layout.desk, layout.work):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (layout.logs, layout.etcd, layout.etc, layout.pki):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    for path in (layout.events, layout.snapshot, layout.taken):
        path.unlink(missing_ok=True)
    snapshot = None
    if shelf:
        on_event(turned_to("snapshot"))
        config = replace(config, recipe=recipe(config))
        snapshot = shelf.take(config.recipe, layout.snapshot)
        config = replace(config, warm=snapshot is not None)
    layout.machine.write_text(config.to_json())
    on_event(turned_to("keys"))
    addons = [ADDONS[name] for name in config.spec.addons]
    hosts = {addon.name: addon.hosts for addon in addons if addon.webhook_port}
    own = {addon.name: addon.rotation.authority for addon in addons if addon.rotation}
    write_pki(config, hosts, own, kept=snapshot.keys if snapshot else None)
    on_event(turned_to("files"))
    write_files(config)
    return config


def stop(home: Path) -> bool:
    """End the sandbox and remove what it left on the host; whether there was anything to end. Idempotent."""
    layout = Layout(home)
    if not layout.run.is_dir():
        return False
    holder = _holder(layout)
    if holder is not None:
        _end_keeper(layout, holder)
    left = clean(layout)
    if left:
        raise EnvironmentProblem(_("could not remove {path}").format(path=left[0]))
    return holder is not None


def status(home: Path) -> MachineStatus:
    """What is there now."""
    layout = Layout(home)
    holder = _holder(layout)
    if holder is None:
        died = layout.control.exists() or layout.etcd.exists()
        return MachineStatus(state="dead" if died else "stopped", notes=_notes(layout) if died else ())
    try:
        reply = control.ask(layout.control, "status")
    except EnvironmentProblem:
        return MachineStatus(state="starting", pid=holder.get("pid", 0), since=holder.get("since", 0.0))
    return MachineStatus(
        state="running" if reply["ready"] else "starting",
        pid=holder.get("pid", 0),
        init_pid=holder.get("init_pid", 0),
        since=holder.get("since", 0.0),
        components=control.components(reply),
        notes=_notes(layout),
    )


def desk_command(home: Path, argv: list[str], env: dict[str, str]) -> list[str]:
    """The command line that runs `argv` at the learner's place. EnvironmentProblem if nothing runs there."""
    layout = Layout(home)
    holder = _holder(layout)
    if not holder or not holder.get("init_pid"):
        raise EnvironmentProblem(_("the lab's machine is not running"))
    config = MachineConfig.read(layout.machine)
    return desk.command(home, holder["init_pid"], argv, env, privileged=config.privileged)


def dry_run(config: MachineConfig, snapshots: Path | None = None) -> str:
    """What `start` would do with the same arguments, as shell."""
    from cluster.plan import shell
    from cluster.snapshots.recipe import recipe
    from cluster.snapshots.shelf import Shelf

    if snapshots:
        name = recipe(config)
        config = replace(config, recipe=name, warm=Shelf(snapshots, lambda _sentence: None).has(name))
    return shell(config)


def timings(home: Path) -> BootTimings | None:
    """Where the time of the present or last start went; None where it never became ready."""
    layout = Layout(home)
    return boot_timings(read_events(layout.events)[0], read_plan(layout.plan))


def _launch(config: MachineConfig) -> int:
    """Start the keeper; its process id. It outlives this process, so nobody holds a handle to it."""
    layout = Layout(config.home)
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
        "LANG": "C.UTF-8",
        "LC_MESSAGES": language(),  # what goes wrong inside is said in the language of who started it
        "HOME": str(Path.home()),
        # In the sandbox the state folder is told by the session's own path; nothing else is looked up.
        "XDG_STATE_HOME": os.environ.get("XDG_STATE_HOME", ""),
    }
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "cluster.sandbox.keeper", str(config.home)],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(layout.log("supervisor")), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _follow(config: MachineConfig, keeper_pid: int, on_event: Callable[[BootEvent], None]) -> None:
    layout = Layout(config.home)
    offset, failures = 0, []
    deadline = time.monotonic() + _START_SECONDS
    while True:
        ended = _reaped(keeper_pid)
        events, offset = read_events(layout.events, offset)
        for event in events:
            on_event(event)
            if event.task == READY:
                return
            if event.state == "failed":
                failures.append(event)
            if event.task == FAILED:
                raise _start_failure(config, failures)
        if ended:
            raise _start_failure(config, failures)
        if time.monotonic() > deadline:
            raise EnvironmentProblem(_("{name} was not ready in time").format(name=config.name))
        time.sleep(_POLL)


def _noting(on_event: Callable[[BootEvent], None]) -> Callable[[str], None]:
    return lambda sentence: on_event(BootEvent(task="snapshot", state="note", seconds=0.0, detail=sentence))


def _start_failure(config: MachineConfig, failures: list[BootEvent]) -> EnvironmentProblem:
    details = [f"{event.task}: {event.detail}" for event in failures if event.detail]
    if not details:
        log = Layout(config.home).log("supervisor")
        details = log.read_text(errors="replace").splitlines()[-5:]
    message = _("{name} could not start").format(name=config.name) + "\n" + "\n".join(details)
    logs = Layout(config.home).logs
    return EnvironmentProblem(message, advice=_("the logs are in {folder}").format(folder=logs))


def _holder(layout: Layout) -> dict[str, int] | None:
    """What the keeper wrote if one lives ({} while it begins), else None: its lock ends with its process."""
    try:
        with layout.keeper.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                text = file.read()
                holder: dict[str, int] = json.loads(text) if text else {}
                return holder
    except FileNotFoundError:
        pass
    return None


def _end_keeper(layout: Layout, holder: dict[str, int]) -> None:
    try:
        control.ask(layout.control, "stop")
    except EnvironmentProblem:
        _signal(holder, signal.SIGTERM)
    if not _gone(layout, _STOP_SECONDS):
        _signal(holder, signal.SIGKILL)
        if not _gone(layout, _STOP_SECONDS):
            raise EnvironmentProblem(_("process {pid} does not end").format(pid=holder.get("pid")))
    if pid := holder.get("pid"):
        _reaped(pid)


def _signal(holder: dict[str, int], number: signal.Signals) -> None:
    if pid := holder.get("pid"):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return


def _reaped(pid: int) -> bool:
    """Whether the process has ended; collects it where it is our child."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False


def _gone(layout: Layout, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _holder(layout) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _notes(layout: Layout) -> tuple[str, ...]:
    events = read_events(layout.events)[0]
    return tuple(f"{event.task}: {event.detail}" for event in events if event.state == "note")
