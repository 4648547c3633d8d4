"""The recorder's socket: readiness, and "is all of it stored?".

The server says `ready` to whoever connects. A line `sync [SECONDS [KIND…]]` is answered with one line of JSON:
`synced` (every change of these kinds, or of all, that the API server had at `at` is stored), `at` (Unix seconds
of the recorder's clock), `behind` (the kinds that were not within SECONDS, 2 if not given).

Owns that protocol; knows nothing of how an answer is found.
"""

from __future__ import annotations

import json
import os
import socketserver
import threading
from typing import TYPE_CHECKING

from cluster.unix_address import short_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.history.synced import Synced

    Sync = Callable[[float, frozenset[str]], Synced]

_DEFAULT_SECONDS, _MOST_SECONDS = 2.0, 30.0


class SyncServer:
    """Listens at `path` from its construction on. `sync` is given the seconds it may take and kinds, if any."""

    def __init__(self, path: Path, sync: Sync) -> None:
        self._path = path
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        with short_path(fresh) as address:
            self._server = _Server(address, sync)
        fresh.chmod(0o600)
        fresh.replace(path)  # a socket that can be seen is one that answers
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="socket", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._path.unlink(missing_ok=True)
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: str, sync: Sync) -> None:
        self.sync = sync
        super().__init__(address, _Handler)


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            self.wfile.write(b"ready\n")
            for line in self.rfile:
                self.wfile.write(self._answer(line.decode(errors="replace").split()) + b"\n")
        except OSError:
            return  # whoever asked has gone

    def _answer(self, words: list[str]) -> bytes:
        try:
            seconds = float(words[1]) if len(words) > 1 else _DEFAULT_SECONDS
        except ValueError:
            seconds = 0.0
        if words[:1] != ["sync"] or not 0.0 < seconds <= _MOST_SECONDS:
            return b'{"error": "say: sync [SECONDS [KIND...]]"}'
        found = self.server.sync(seconds, frozenset(words[2:]))
        return json.dumps({"synced": found.synced, "at": found.at, "behind": found.behind}).encode()
