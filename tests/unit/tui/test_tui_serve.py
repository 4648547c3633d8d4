"""The board in a browser: nobody is let in without the token, by real requests to a real server."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web

from cluster.errors import EnvironmentProblem
from tui.board import serve
from tui.board.serve import BoardServer, serve_board, viewer_command

Visit = Callable[[BoardServer, aiohttp.ClientSession], Awaitable[None]]
SPEAKS = "import sys; sys.stdout.write('__GANGLION__\\n'); sys.stdout.buffer.write(b'D\\x00\\x00\\x00\\x05hello'); "
SPEAKS += "sys.stdout.flush(); sys.stdin.read()"
"""An application that says `hello` as textual-serve wants it, and goes when its viewer does."""


def visit(play: Visit) -> None:
    """Run `play` against a server on a port of its own, with a client that keeps cookies."""

    async def main() -> None:
        with socket.socket() as listener:
            listener.bind((serve.HOST, 0))
            server = BoardServer("lab-demo", listener.getsockname()[1], [sys.executable, "-c", SPEAKS], token="secret")
            runner = web.AppRunner(await server.application(), shutdown_timeout=1.0)
            await runner.setup()
            try:
                await web.SockSite(runner, listener).start()
                jar = aiohttp.CookieJar(unsafe=True)  # of a host that is a number
                async with aiohttp.ClientSession(cookie_jar=jar) as client:
                    await asyncio.wait_for(play(server, client), 30)
            finally:
                await runner.cleanup()

    asyncio.run(main())


async def status(client: aiohttp.ClientSession, url: str, **more: object) -> int:
    async with client.get(url, **more) as response:  # type: ignore[arg-type]  # handed on as it came
        return response.status


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/x", "/?token=wrong", "/nothing"])
def test_without_the_token_nothing_is_answered(path: str) -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        assert await status(client, server.public_url + path) == 403
        wrong = {"Cookie": f"batchlab-board-{server.port}=guess"}
        assert await status(client, server.public_url + path, headers=wrong) == 403

    visit(play)


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address() -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        async with client.get(server.address, allow_redirects=False) as response:
            assert response.status == 303
            assert response.headers["Location"] == f"{server.public_url}/"
            cookie = response.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
            assert "secret" not in cookie
        async with client.get(f"{server.public_url}/") as response:
            page = await response.text()
            assert response.status == 200
            assert response.headers["Cache-Control"] == "no-store"
        assert "lab-demo: board" in page
        assert f"ws://127.0.0.1:{server.port}/ws" in page
        assert "https://" not in page, "a browser needs nothing from elsewhere"
        assert await status(client, f"{server.public_url}/static/js/textual.js") == 200

    visit(play)


def test_another_name_of_this_host_is_led_to_the_first() -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        address = server.address.replace("127.0.0.1", "localhost")
        async with client.get(address, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (303, server.address)

    visit(play)


def test_a_viewer_gets_an_application_of_its_own() -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        await status(client, server.address)
        async with client.ws_connect(f"ws://127.0.0.1:{server.port}/ws?width=80&height=24") as viewer:
            assert (await viewer.receive()).data == b"hello"

    visit(play)


def test_a_websocket_needs_the_cookie_and_comes_from_our_page() -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        url = f"ws://127.0.0.1:{server.port}/ws"
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(url)
        assert refused.value.status == 403
        await status(client, server.address)
        for origin in ("http://evil.example", f"http://127.0.0.1:{server.port + 1}", "null"):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect(url, headers={"Origin": origin})
            assert refused.value.status == 403
        async with client.ws_connect(url, headers={"Origin": server.public_url}) as viewer:
            assert (await viewer.receive()).data == b"hello"

    visit(play)


def test_under_a_name_that_others_gave_us_nothing_is_answered() -> None:
    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        await status(client, server.address)
        assert await status(client, server.address, headers={"Host": f"evil.example:{server.port}"}) == 403

    visit(play)


def test_there_is_an_end_to_viewers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "MOST_VIEWERS", 1)

    async def play(server: BoardServer, client: aiohttp.ClientSession) -> None:
        await status(client, server.address)
        url = f"ws://127.0.0.1:{server.port}/ws"
        async with client.ws_connect(url) as first:
            assert (await first.receive()).data == b"hello"
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect(url)
            assert refused.value.status == 503

    visit(play)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind((serve.HOST, 0))
        taken.listen()
        with pytest.raises(EnvironmentProblem, match="can't listen on port"):
            serve_board("lab-demo", taken.getsockname()[1])


def test_each_viewer_runs_the_board_and_nothing_else() -> None:
    command = viewer_command("lab-demo", ascii_only=True)
    assert command[-7:] == ["-m", "tui", "--lang", "en", "--board", "lab-demo", "--ascii"]


def test_tokens_differ() -> None:
    one, other = (BoardServer("lab-demo", 1, ["true"]) for _n in range(2))
    assert len(one.token) >= 32
    assert one.token != other.token
