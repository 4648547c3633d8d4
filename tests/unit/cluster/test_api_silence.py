"""What is said of an API that does not answer."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import pytest

from cluster.api import Api
from cluster.errors import ApiUnavailable


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def _said(port: int) -> str:
    with pytest.raises(ApiUnavailable) as silence:
        Api(f"https://127.0.0.1:{port}", ssl.create_default_context(), timeout=0.1).get("v1", "Node", "gpu-a")
    return silence.value.message


def test_a_port_that_nobody_listens_at(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    listener.close()
    assert _said(port) == "GET /api/v1: kube-apiserver does not answer: Connection refused"


def test_a_server_that_takes_connections_and_says_nothing(listener: socket.socket) -> None:
    assert _said(listener.getsockname()[1]) == "GET /api/v1: kube-apiserver gave no answer in time"
