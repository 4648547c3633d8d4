"""Carrying out readiness probes.

Owns one attempt of each kind of probe; how long to insist is the boot's business.
"""

from __future__ import annotations

import socket
import ssl
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

from cluster.api import Api
from cluster.components.model import HttpProbe, Probe
from cluster.i18n import _
from cluster.machine import API_SERVER
from cluster.unix_address import short_path

_TIMEOUT = 2.0


def attempt(probe: Probe) -> str:
    """Empty when ready, else why not."""
    try:
        if isinstance(probe, HttpProbe):
            return _get(probe)
        _connect(probe.address)
    except OSError as error:  # URLError and ssl.SSLError are OSErrors
        return str(error) or type(error).__name__
    return ""


def _get(probe: HttpProbe) -> str:
    if probe.identity is not None:
        path = probe.url.removeprefix(API_SERVER)
        return "" if _api(probe.identity).ready(path) else _("{url} is not ready").format(url=probe.url)
    context = _unverified() if probe.insecure else None
    # The URL is our own constant on the sandbox's loopback.
    with urllib.request.urlopen(probe.url, timeout=_TIMEOUT, context=context) as answer:  # noqa: S310
        return "" if answer.status == 200 else f"{probe.url}: HTTP {answer.status}"


@cache
def _unverified() -> ssl.SSLContext:
    # Made once, and without the host's authorities: to load those takes as long as twenty probes.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@cache
def _api(identity: Path) -> Api:
    return Api.from_kubeconfig(identity)


def _connect(address: str) -> None:
    if address.startswith("/"):
        with socket.socket(socket.AF_UNIX) as unix:
            unix.settimeout(_TIMEOUT)
            with short_path(Path(address)) as name:
                unix.connect(name)
    else:
        host, port = address.rsplit(":", 1)
        socket.create_connection((host, int(port)), timeout=_TIMEOUT).close()
