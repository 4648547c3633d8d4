"""The board in a browser: `grader board --serve`.

Owns who is let in. textual-serve runs one application for each websocket and asks nobody for a name, so a gate stands
before everything it answers: the first visit brings a token in its address, which is exchanged for a cookie; every
later request needs the cookie. It listens on loopback only.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import shlex
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

import tui
from cluster.errors import EnvironmentProblem
from cluster.i18n import _, language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiohttp.typedefs import Handler, Middleware

HOST = "127.0.0.1"
MOST_VIEWERS = 12
"""Each has an application of its own, of about 60 MB."""
_TEMPLATES = Path(__file__).with_name("page")
_NO_STORE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}


def serve_board(lab_id: str, port: int, *, ascii_only: bool = False) -> int:
    """Serve the board of a lab until Ctrl-C; 0. `port` 0: any that is free. EnvironmentProblem: it is taken."""
    with _listening(port) as listener:
        server = BoardServer(lab_id, listener.getsockname()[1], viewer_command(lab_id, ascii_only=ascii_only))
        asyncio.run(_run(server, listener))
    return 0


def viewer_command(lab_id: str, *, ascii_only: bool) -> list[str]:
    """What runs for each viewer."""
    packages = str(Path(tui.__file__).resolve().parents[1])
    place = ["env", f"PYTHONPATH={packages}", "PYTHONSAFEPATH=1"]
    program = [sys.executable, "-m", "tui", "--lang", language(), "--board", lab_id]
    return [*place, *program, *(["--ascii"] if ascii_only else [])]


class BoardServer(Server):
    """One lab's board behind a gate."""

    def __init__(self, lab_id: str, port: int, command: Sequence[str], token: str = "") -> None:
        """`port`: the one it listens on. `token`: chosen by chance where empty."""
        title = _("{lab}: board").format(lab=lab_id)
        super().__init__(shlex.join(command), host=HOST, port=port, title=title, templates_path=_TEMPLATES)
        self.public_url = f"http://{HOST}:{port}"
        self.token = token or secrets.token_urlsafe(24)
        self._cookie = f"batchlab-board-{port}"  # cookies of one host are shared by all of its ports
        self._pass = secrets.token_urlsafe(24)
        self._viewers = 0

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"{self.public_url}/?token={self.token}"

    async def application(self) -> web.Application:
        """Everything there is to ask for, behind the gate."""
        app: web.Application = await self._make_app()
        app.middlewares.append(self._gate())
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Say where it is; only here, and on stdout, because whoever has the address gets in."""
        del app
        sys.stderr.write(_("open this address in a browser on this machine; Ctrl-C ends it") + "\n")
        sys.stdout.write(self.address + "\n")
        sys.stdout.flush()

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """One more viewer, if there is room."""
        if self._viewers >= MOST_VIEWERS:
            raise web.HTTPServiceUnavailable(text=_("too many look at this board already"))
        self._viewers += 1
        try:
            return await super().handle_websocket(request)
        finally:
            self._viewers -= 1

    def _gate(self) -> Middleware:
        @web.middleware
        async def gate(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._refuse_strangers(request)
            if "token" in request.query:
                return self._welcome(request)
            if not _same(request.cookies.get(self._cookie, ""), self._pass):
                raise web.HTTPForbidden(text=_("open the address that `grader board --serve` printed"))
            response = await handler(request)
            if not response.prepared:
                response.headers.update(_NO_STORE)
            return response

        return gate

    def _refuse_strangers(self, request: web.Request) -> None:
        """A page of another site, which a browser would let talk to us, is not let in: not under another name for
        this host, nor from another origin."""
        if request.host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
            raise web.HTTPForbidden(text=_("unknown host"))
        origin = request.headers.get("Origin")
        if origin is not None and origin not in (self.public_url, f"http://localhost:{self.port}"):
            raise web.HTTPForbidden(text=_("unknown origin"))

    def _welcome(self, request: web.Request) -> web.StreamResponse:
        """The token for a cookie; the address without it is what stays in the browser's history."""
        if not _same(request.query["token"], self.token):
            raise web.HTTPForbidden(text=_("open the address that `grader board --serve` printed"))
        # Under one name of this host only: a cookie holds for the name it was given under.
        if request.host != f"{HOST}:{self.port}":
            return _redirect(self.address)
        response = _redirect(f"{self.public_url}/")
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="Strict", path="/")
        return response


def _redirect(address: str) -> web.Response:
    return web.Response(status=303, headers={**_NO_STORE, "Location": address})


def _same(one: str, other: str) -> bool:
    """Compared in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise EnvironmentProblem(
            _("can't listen on port {port}: {why}").format(port=port, why=error.strerror or error),
            _("leave out --port, or take another"),
        ) from error
    listener.listen(64)
    listener.setblocking(False)
    return listener


async def _run(server: BoardServer, listener: socket.socket) -> None:
    """Answer until told to end."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    runner = web.AppRunner(await server.application(), access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        await ended.wait()
    finally:
        await runner.cleanup()
