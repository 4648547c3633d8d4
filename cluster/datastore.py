"""A narrow port to etcd, beneath kube-apiserver: all entries of the registry, out and in.

Only the start of a machine uses it, to take and to restore a snapshot. It speaks to etcd's JSON gateway, so that no
gRPC library is needed. Source: etcd API v3 (`/v3/kv/range`, `/v3/kv/txn`).
"""

from __future__ import annotations

import json
import ssl
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, cast

import urllib3

from cluster.errors import ApiRefused, ApiUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REGISTRY = b"/registry/"
_PAGE = 200
_MOST_PUTS, _MOST_BYTES = 100, 700_000
"""Of one request: etcd refuses more than 128 operations, and more than 1.5 MB."""


class Datastore:
    """The etcd at `url`, with the API server's own certificate from `pki`."""

    def __init__(self, url: str, pki: Path) -> None:
        context = ssl.create_default_context(cafile=str(pki / "etcd-ca.crt"))
        context.load_cert_chain(pki / "apiserver-etcd-client.crt", pki / "apiserver-etcd-client.key")
        self._url = url
        self._pool = urllib3.PoolManager(ssl_context=context, retries=urllib3.Retry(total=0), timeout=30.0)

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        """(key, value) of everything below /registry/, as of one revision. ApiUnavailable if etcd doesn't answer."""
        start, revision = REGISTRY, "0"
        end = REGISTRY[:-1] + bytes([REGISTRY[-1] + 1])
        while True:
            asked = {"key": _text(start), "range_end": _text(end), "limit": _PAGE, "revision": revision}
            answer = self._call("range", asked)
            revision = answer["header"]["revision"]
            found = [(b64decode(each["key"]), b64decode(each.get("value", ""))) for each in answer.get("kvs", ())]
            yield from found
            if not answer.get("more"):
                return
            start = found[-1][0] + b"\0"

    def put_all(self, entries: dict[bytes, bytes]) -> None:
        """Write every entry, many in one revision. ApiUnavailable if etcd doesn't answer."""
        batch: list[dict[str, Any]] = []
        size = 0
        for key, value in entries.items():
            if batch and (len(batch) == _MOST_PUTS or size + len(value) > _MOST_BYTES):
                self._call("txn", {"success": batch})
                batch, size = [], 0
            batch.append({"requestPut": {"key": _text(key), "value": _text(value)}})
            size += len(key) + len(value)
        if batch:
            self._call("txn", {"success": batch})

    def _call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        try:
            response = self._pool.request("POST", f"{self._url}/v3/kv/{method}", body=json.dumps(body).encode())
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiUnavailable(f"etcd {method}: {error}") from error
        if response.status != 200:
            raise ApiRefused(response.status, "", f"etcd {method}: {response.data.decode(errors='replace')}")
        return cast("dict[str, Any]", response.json())


def _text(data: bytes) -> str:
    return b64encode(data).decode()
