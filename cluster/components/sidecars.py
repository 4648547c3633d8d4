"""The caller's own programs (recorder, examiner) as components."""

from __future__ import annotations

from cluster.components.model import Component, SocketProbe
from cluster.machine import Sidecar


def sidecar(program: Sidecar, needs: tuple[str, ...]) -> Component:
    """Ready when its socket accepts; without a socket it would never be known to be ready."""
    return Component(
        name=program.name,
        argv=program.argv,
        env=program.env,
        needs=needs,
        ready=SocketProbe(program.socket),
    )
