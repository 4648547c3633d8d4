"""The supervisor's socket: `status` and `stop`, one JSON object a line each way.

Owns the protocol's both ends; the socket lies in the session folder, which nobody else may enter.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from cluster.errors import EnvironmentProblem
from cluster.machine import ComponentStatus
from cluster.unix_address import short_path

_TIMEOUT = 5.0


class _Booted(Protocol):
    ready: threading.Event

    @property
    def services(self) -> dict[str, Any]: ...


def serve(path: Path, boot: _Booted, stop: Callable[[], None]) -> None:
    """Answer requests in a background thread."""
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    with short_path(path) as name:
        server.bind(name)
    path.chmod(0o600)
    server.listen(16)

    def answer(operation: str) -> dict[str, Any]:
        if operation == "stop":
            stop()
            return {"ok": True}
        components = [asdict(service.status) for service in boot.services.values()]
        return {"ok": True, "ready": boot.ready.is_set(), "components": components}

    def loop() -> None:
        while True:
            connection, _address = server.accept()
            with connection:
                try:
                    connection.settimeout(_TIMEOUT)
                    request = json.loads(connection.makefile("rb").readline())
                    connection.sendall(json.dumps(answer(request["op"])).encode() + b"\n")
                except (OSError, ValueError, KeyError):
                    continue  # a caller that went away or spoke nonsense is no concern of the cluster's

    threading.Thread(target=loop, name="control", daemon=True).start()


def ask(path: Path, operation: str) -> dict[str, Any]:
    """One request. EnvironmentProblem when nobody answers."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_TIMEOUT)
            with short_path(path) as name:
                client.connect(name)
            client.sendall(json.dumps({"op": operation}).encode() + b"\n")
            reply: dict[str, Any] = json.loads(client.makefile("rb").readline())
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(f"{path}: {error}") from error
    return reply


def components(reply: dict[str, Any]) -> tuple[ComponentStatus, ...]:
    """The components of a `status` reply."""
    return tuple(ComponentStatus(**component) for component in reply["components"])
