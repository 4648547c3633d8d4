"""PID 1 of a sandbox: what runs after the namespaces and the root file system are made.

Owns signals, the reaper and the end: when this process ends, the kernel ends everything else in the sandbox.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

from cluster.components.sidecars import sidecar
from cluster.i18n import _
from cluster.machine import Layout, MachineConfig
from cluster.spec import GPU, NodeSpec
from cluster.supervisor.boot import Boot
from cluster.supervisor.control import serve
from cluster.supervisor.events import EventLog
from cluster.supervisor.gpus import keep_gpus
from cluster.supervisor.processes import ProcessTable
from cluster.supervisor.settling import settle

_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
_SIDECAR_SECONDS = 1.0


def supervise(config: MachineConfig, began: float) -> None:
    """Boot the machine and keep it until SIGTERM or `stop` on the control socket."""
    # Blocked before any thread exists: every thread inherits it, and only `sigwait` below receives them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    sys.setswitchinterval(0.001)
    layout = Layout(config.home)
    processes = ProcessTable()
    events = EventLog(layout.events, began)
    boot = Boot(config, processes, events)
    main_thread = threading.get_ident()
    serve(layout.control, boot, stop=lambda: signal.pthread_kill(main_thread, signal.SIGTERM))
    boot.begin()
    if (node := config.spec.real_node) is not None:
        threading.Thread(target=_keep_gpus, args=(boot, node, events), daemon=True).start()
    threading.Thread(target=_settle, args=(boot,), daemon=True).start()
    while signal.sigwait(_SIGNALS) == signal.SIGCHLD:
        processes.reap()
    _end(config, boot, processes)


def _settle(boot: Boot) -> None:
    boot.ready.wait()
    settle(boot.api)


def _keep_gpus(boot: Boot, node: NodeSpec, events: EventLog) -> None:
    def note() -> None:
        again = _("{resource} of {node} set to {count} again")
        events.write("real-node", "note", again.format(resource=GPU, node=node.name, count=node.gpus))

    boot.ready.wait()
    keep_gpus(boot.api, node, note)


def _end(config: MachineConfig, boot: Boot, processes: ProcessTable) -> None:
    """Let the caller's programs store what they hold; the cluster itself has nothing to lose."""
    names = [sidecar(program, needs=()).name for program in config.sidecars]
    stopping = [
        threading.Thread(target=boot.services[name].stop, args=(_SIDECAR_SECONDS,), daemon=True)
        for name in names
        if name in boot.services
    ]
    for thread in stopping:
        thread.start()
    deadline = time.monotonic() + _SIDECAR_SECONDS
    while any(thread.is_alive() for thread in stopping) and time.monotonic() < deadline:
        processes.reap()
        time.sleep(0.01)
