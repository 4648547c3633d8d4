"""The recorder's socket, from both ends."""

from __future__ import annotations

import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from grader.history.server import SyncServer
from grader.history.synced import Synced, wait_synced

if TYPE_CHECKING:
    from pathlib import Path


def answer(seconds: float, kinds: frozenset[str]) -> Synced:
    """Tells what it was asked."""
    return Synced(not kinds, seconds, tuple(sorted(kinds)))


def talk(path: Path, *lines: bytes) -> list[bytes]:
    """What the server says to `lines`, its greeting first."""
    with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rwb") as stream:
        connection.settimeout(5)
        connection.connect(str(path))
        told = [stream.readline()]
        for line in lines:
            stream.write(line)
            stream.flush()
            told.append(stream.readline())
        return told


def test_who_connects_is_told_that_it_is_ready(tmp_path: Path) -> None:
    server = SyncServer(tmp_path / "s", answer)
    assert talk(tmp_path / "s") == [b"ready\n"]
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o600
    server.close()
    assert list(tmp_path.iterdir()) == []


def test_a_socket_left_by_a_killed_recorder_is_replaced(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    server = SyncServer(tmp_path / "s", answer)
    assert talk(tmp_path / "s") == [b"ready\n"]
    server.close()


def test_the_protocol(tmp_path: Path) -> None:
    server = SyncServer(tmp_path / "s", answer)
    told = talk(tmp_path / "s", b"sync\n", b"sync 0.5\n", b"sync 1 Pod Node\n")
    assert told == [
        b"ready\n",
        b'{"synced": true, "at": 2.0, "behind": []}\n',
        b'{"synced": true, "at": 0.5, "behind": []}\n',
        b'{"synced": false, "at": 1.0, "behind": ["Node", "Pod"]}\n',
    ]
    server.close()


@pytest.mark.parametrize("line", [b"", b"stop", b"sync soon", b"sync -1", b"sync nan", b"sync 999", b"\xff"])
def test_what_is_not_understood(tmp_path: Path, line: bytes) -> None:
    server = SyncServer(tmp_path / "s", answer)
    assert talk(tmp_path / "s", line + b"\n", b"sync\n")[1:] == [
        b'{"error": "say: sync [SECONDS [KIND...]]"}\n',
        b'{"synced": true, "at": 2.0, "behind": []}\n',
    ]
    server.close()


def test_the_client(tmp_path: Path) -> None:
    server = SyncServer(tmp_path / "s", answer)
    assert wait_synced(tmp_path / "s") == Synced(True, 2.0)
    assert wait_synced(tmp_path / "s", 0.25, ["Pod"]) == Synced(False, 0.25, ("Pod",))
    assert wait_synced(tmp_path / "s").answered
    server.close()


def test_a_path_beyond_the_limit_of_the_kernel(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 25) / ("er" * 25)
    folder.mkdir(parents=True)
    server = SyncServer(folder / "recorder.sock", answer)
    assert wait_synced(folder / "recorder.sock").synced
    server.close()


@pytest.mark.parametrize(
    "greeting", [b"", b"welcome\n", b"ready\n", b"ready\nnonsense\n", b"ready\n[]\n", b'ready\n{"synced": 1}\n']
)
def test_a_recorder_that_does_not_answer(tmp_path: Path, greeting: bytes) -> None:
    assert wait_synced(tmp_path / "none") == Synced(False)
    assert wait_synced(tmp_path / "no" / "folder") == Synced(False)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "s"))
        other.listen()

        def serve() -> None:
            with other.accept()[0] as connection:
                connection.sendall(greeting)

        serving = threading.Thread(target=serve)
        serving.start()
        found = wait_synced(tmp_path / "s", 0.2)
        serving.join()
    assert found == Synced(False)
    assert not found.answered


def test_a_recorder_that_is_silent_costs_the_deadline(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "s"))
        other.listen()
        began = time.monotonic()
        assert wait_synced(tmp_path / "s", 0.1) == Synced(False)
        assert time.monotonic() - began < 2.0
