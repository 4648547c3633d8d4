"""The machine of a lab: its cluster, and beside it the recorder and the examiner.

Owns the translation from a `Lab` to what `cluster.local.start` takes; starts nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import grader
from cluster.machine import Layout, MachineConfig, Sidecar
from cluster.paths import state_dir
from cluster.scripts import Script
from grader.collections.store import collections_dir
from grader.lab.catalogue import LABS_VARIABLE, labs_dir
from grader.session.here import INSIDE_SOCKET
from grader.session.places import examiner_socket, history_file, recorder_socket

if TYPE_CHECKING:
    from grader.lab.model import Lab


SETUP_SECONDS = 120.0
"""How long one script of `start/` may take."""


def machine_config(lab: Lab, home: Path, binaries: Path) -> MachineConfig:
    """What `lab` needs, for the session in `home` with the programs in `binaries`."""
    layout = Layout(home)
    packages = str(Path(grader.__file__).resolve().parents[1])
    labs = labs_dir().resolve()
    # Of collections only the lab's own: what another one's files say is no business of this machine.
    kept = (collections_dir() / lab.collection,) if lab.collection else ()
    environment = {
        "PYTHONPATH": packages,
        "PYTHONSAFEPATH": "1",
        "XDG_STATE_HOME": str(state_dir().parent),
        LABS_VARIABLE: str(labs),
    }
    recorder = Sidecar(
        name="recorder",
        argv=(
            *(sys.executable, "-m", "grader.history.recorder"),
            *("--kubeconfig", str(layout.grader_kubeconfig)),
            *("--database", str(history_file(home))),
            *("--socket", str(recorder_socket(home))),
        ),
        # Its thirty threads need no heap each (`cluster.sandbox.kernel.share_one_heap` says why).
        env={**environment, "MALLOC_ARENA_MAX": "1"},
        socket=str(recorder_socket(home)),
    )
    examiner = Sidecar(
        name="examiner",
        argv=(
            *(sys.executable, "-m", "grader.session.examiner"),
            *("--socket", str(examiner_socket(home))),
            *("--home", str(home)),
        ),
        env=environment,
        socket=str(examiner_socket(home)),
        late=True,
    )
    client = (sys.executable, "-m", "grader.session.examiner_client", str(INSIDE_SOCKET))
    return MachineConfig(
        name=lab.id,
        home=home,
        binaries=binaries,
        spec=lab.cluster,
        sidecars=(recorder, examiner),
        workdir=lab.workdir,
        namespace=lab.namespace,
        shown=(labs, *kept),
        hidden=(state_dir(), labs),
        setup=tuple(
            Script(name=path.name, text=path.read_text(encoding="utf-8"), seconds=SETUP_SECONDS) for path in lab.setup
        ),
        tools={"grader": ("env", f"PYTHONPATH={packages}", "PYTHONSAFEPATH=1", *client)},
    )
