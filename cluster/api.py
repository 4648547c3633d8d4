"""A narrow port to kube-apiserver: plain dicts in and out.

Owns connections, paths of kinds (by discovery) and the translation of HTTP failures into
`ApiUnavailable`, `ApiRefused` and `WatchExpired`. It is urllib3 and JSON instead of the `kubernetes` client,
because importing that takes a second in every process, and it has no typed models for most of our objects
(custom resources).
"""

from __future__ import annotations

import json
import os
import ssl
import threading
import urllib.parse
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import urllib3
import yaml
from urllib3.util import Timeout

from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem, WatchExpired
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster.spec import Manifest

    Manifests = list[Manifest]  # inside the class, `list` is its method

FIELD_MANAGER = "batchlab"
_JSON = "application/json"
_NO_RETRIES = urllib3.Retry(total=0, redirect=0)


@dataclass(frozen=True, slots=True)
class _Resource:
    path: str  # "/api/v1" or "/apis/<group>/<version>"
    plural: str
    namespaced: bool


class Page(NamedTuple):
    """A part of a list: `version` is the resourceVersion of the whole, `remaining` how many items are to come."""

    items: list[Manifest]
    version: str
    remaining: int


class Api:
    """One identity's view of one kube-apiserver. Safe to share between threads."""

    def __init__(self, server: str, context: ssl.SSLContext, *, token: str = "", timeout: float = 10.0) -> None:
        self.server = server.rstrip("/")
        self._timeout = timeout
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._pool = urllib3.PoolManager(ssl_context=context, maxsize=16, retries=_NO_RETRIES)
        self._resources: dict[tuple[str, str], _Resource] = {}
        self._discovery = threading.Lock()

    @classmethod
    def from_kubeconfig(cls, path: Path, timeout: float = 10.0) -> Api:
        """The identity of `path`'s current context (certificate or token, inline data only)."""
        try:
            config = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)  # a safe loader, in C
            context = next(c for c in config["contexts"] if c["name"] == config["current-context"])["context"]
            user = next(u for u in config["users"] if u["name"] == context["user"])["user"]
            cluster = next(c for c in config["clusters"] if c["name"] == context["cluster"])["cluster"]
            authority = b64decode(cluster["certificate-authority-data"]).decode()
        except (OSError, KeyError, TypeError, StopIteration, ValueError, yaml.YAMLError) as error:
            raise EnvironmentProblem(f"{path}: {error!r}") from error
        tls = ssl.create_default_context(cadata=authority)
        if "client-key-data" in user:
            _load_identity(tls, user["client-certificate-data"], user["client-key-data"])
        return cls(cluster["server"], tls, token=user.get("token", ""), timeout=timeout)

    # -- reading ------------------------------------------------------------------------------------

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
        """The object, or None where there is none of that name (or no such kind)."""
        try:
            return self.call("GET", self._path(api_version, kind, namespace, name))
        except ApiRefused as refusal:
            if refusal.status == 404:
                return None
            raise

    def list(  # the API's own verb
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> Manifests:
        """All objects of a kind, in one namespace or all; items carry apiVersion and kind."""
        return self.list_page(api_version, kind, namespace, labels=labels, fields=fields)[0]

    def list_page(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> tuple[Manifests, str]:
        """Like `list`, with the resourceVersion a watch can start from. Unknown kind: ApiRefused 404."""
        query = {"labelSelector": labels, "fieldSelector": fields}
        page = self.call("GET", self._path(api_version, kind, namespace), query=query)
        items = [{"apiVersion": api_version, "kind": kind, **item} for item in page.get("items") or []]
        return items, page["metadata"]["resourceVersion"]

    def pages(
        self,
        api_version: str,
        kind: str,
        *,
        fields: str = "",
        exact: str = "",
        metadata_only: bool = False,
        limit: int = 500,
        timeout: float | None = None,
    ) -> Iterator[Page]:
        """One consistent list over all namespaces, page by page, at least one.

        `exact`: as it was at that resourceVersion (WatchExpired: compacted away). `metadata_only`: items have
        only `metadata`, a fraction of the work on both sides. `timeout`: seconds for one page.
        """
        query = {"fieldSelector": fields, "limit": str(limit)}
        if exact:
            query |= {"resourceVersion": exact, "resourceVersionMatch": "Exact"}
        accept = f"{_JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" if metadata_only else _JSON
        path = self._path(api_version, kind)
        while True:
            page = self.call("GET", path, query=query, accept=accept, timeout=timeout)
            meta, named = page["metadata"], {"apiVersion": api_version, "kind": kind}
            items = [{**item, **named} for item in page.get("items") or []]
            yield Page(items, meta["resourceVersion"], meta.get("remainingItemCount", 0))
            if not (rest := meta.get("continue")):
                return
            query = {"fieldSelector": fields, "limit": str(limit), "continue": rest}

    def watch(
        self,
        api_version: str,
        kind: str,
        resource_version: str,
        *,
        fields: str = "",
        metadata_only: bool = False,
        seconds: int = 300,
    ) -> Iterator[tuple[str, Manifest]]:
        """(verb, object) for each change after `resource_version`: ADDED, MODIFIED, DELETED, BOOKMARK.

        The server has begun to watch when this returns. The iterator ends when the server closes the watch
        (after about `seconds`). `metadata_only`: as for `pages`. WatchExpired, here or while iterating: that
        version is gone.
        """
        query = {
            "fieldSelector": fields,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(seconds),
        }
        timeout = Timeout(connect=5, read=seconds + 15)
        accept = f"{_JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1" if metadata_only else _JSON
        path = self._path(api_version, kind)
        response = self._send("GET", path, query=query, accept=accept, stream=True, timeout=timeout)
        try:
            self._raise_for_status(response)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            raise ApiUnavailable(f"watch {kind}: {error}") from error
        except BaseException:
            response.close()
            raise
        return self._events(kind, response)

    @staticmethod
    def _events(kind: str, response: urllib3.BaseHTTPResponse) -> Iterator[tuple[str, Manifest]]:
        try:
            for line in _lines(response):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    if event["object"].get("code") == 410:
                        raise WatchExpired
                    raise ApiUnavailable(event["object"].get("message", "watch failed"))
                yield event["type"], event["object"]
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise ApiUnavailable(f"watch {kind}: {error}") from error
        finally:
            response.close()

    def ready(self, path: str = "/readyz") -> bool:
        """Whether `path` answers 200 now."""
        try:
            return self._send("GET", path, timeout=Timeout(2)).status == 200
        except ApiUnavailable:
            return False

    def fetch(self, path: str) -> bytes:
        """What `path` answers, whatever it is."""
        response = self._send("GET", path, accept="*/*")
        self._raise_for_status(response)
        return response.data

    # -- writing ------------------------------------------------------------------------------------

    def apply(self, obj: Manifest, *, dry_run: bool = False) -> Manifest:
        """Server-side apply, forced: we own what we say, the learner keeps what we don't."""
        meta = obj["metadata"]
        path = self._path(obj["apiVersion"], obj["kind"], meta.get("namespace"), meta["name"])
        query = {"fieldManager": FIELD_MANAGER, "force": "true", "dryRun": "All" if dry_run else ""}
        return self.call("PATCH", path, obj, query=query, content_type="application/apply-patch+yaml")

    def create(self, obj: Manifest, *, dry_run: bool = False) -> Manifest:
        """POST; 409 AlreadyExists is an ApiRefused."""
        path = self._path(obj["apiVersion"], obj["kind"], obj["metadata"].get("namespace"))
        return self.call("POST", path, obj, query={"dryRun": "All" if dry_run else ""})

    def merge(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: dict[str, Any],
        *,
        namespace: str | None = None,
        subresource: str = "",
    ) -> Manifest:
        """JSON merge patch of the object or its subresource (`status`)."""
        path = self._path(api_version, kind, namespace, name) + (f"/{subresource}" if subresource else "")
        return self.call("PATCH", path, patch, content_type="application/merge-patch+json")

    def delete(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> bool:
        """Delete; False where there was nothing."""
        try:
            self.call("DELETE", self._path(api_version, kind, namespace, name))
        except ApiRefused as refusal:
            if refusal.status == 404:
                return False
            raise
        return True

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: dict[str, str] | None = None,
        content_type: str = _JSON,
        accept: str = _JSON,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """One request to any API path; the decoded answer. `timeout`: seconds, the identity's own if None."""
        limit = None if timeout is None else Timeout(timeout)
        response = self._send(method, path, body, query=query, content_type=content_type, accept=accept, timeout=limit)
        self._raise_for_status(response)
        return cast("dict[str, Any]", response.json())

    # -- beneath ------------------------------------------------------------------------------------

    def _path(self, api_version: str, kind: str, namespace: str | None = None, name: str = "") -> str:
        resource = self._resource(api_version, kind)
        parts = [resource.path]
        if namespace and resource.namespaced:
            parts += ["namespaces", namespace]
        parts.append(resource.plural)
        if name:
            parts.append(urllib.parse.quote(name, safe=""))
        return "/".join(parts)

    def _resource(self, api_version: str, kind: str) -> _Resource:
        known = self._resources.get((api_version, kind))
        if known is None:
            with self._discovery:
                path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
                for entry in self.call("GET", path).get("resources", []):
                    if "/" not in entry["name"]:
                        found = _Resource(path, entry["name"], entry["namespaced"])
                        self._resources[api_version, entry["kind"]] = found
            known = self._resources.get((api_version, kind))
        if known is None:
            message = _("the cluster has no kind {kind} in {version}").format(kind=kind, version=api_version)
            raise ApiRefused(404, "NotFound", message)
        return known

    def _send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: dict[str, str] | None = None,
        content_type: str = _JSON,
        accept: str = _JSON,
        stream: bool = False,
        timeout: Timeout | None = None,
    ) -> urllib3.BaseHTTPResponse:
        pairs = {key: value for key, value in (query or {}).items() if value}
        url = self.server + path + (f"?{urllib.parse.urlencode(pairs)}" if pairs else "")
        headers = {**self._headers, "Accept": accept}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = content_type
        try:
            return self._pool.request(
                method,
                url,
                body=data,
                headers=headers,
                preload_content=not stream,
                timeout=timeout or Timeout(self._timeout),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiUnavailable(f"{method} {path}: {_why_silent(error)}") from error

    @staticmethod
    def _raise_for_status(response: urllib3.BaseHTTPResponse) -> None:
        if response.status < 400:
            return
        raw = response.data if response.data else b""
        try:
            status = json.loads(raw)
        except ValueError:
            status = {}
        message = status.get("message") or raw.decode(errors="replace") or f"HTTP {response.status}"
        if response.status == 410:
            raise WatchExpired
        if response.status in (429, 502, 503, 504):
            raise ApiUnavailable(message)
        raise ApiRefused(response.status, status.get("reason", ""), message)


def _why_silent(error: Exception) -> str:
    """In a few words: what urllib3 says names its own objects first."""
    if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason is not None:
        error = error.reason
    # A refused connection is a kind of time-out to urllib3.
    if isinstance(error, urllib3.exceptions.TimeoutError) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        return _("kube-apiserver gave no answer in time")
    cause = error.__cause__ or error.__context__ or error
    if isinstance(cause, OSError) and cause.strerror:
        return _("kube-apiserver does not answer: {why}").format(why=cause.strerror)
    return str(error)


def _load_identity(context: ssl.SSLContext, certificate: str, key: str) -> None:
    # ssl reads an identity from a file only: an anonymous one that no path leads to.
    descriptor = os.memfd_create("identity", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b64decode(certificate) + b"\n" + b64decode(key))
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(amt=None) if not response.chunked else response.read_chunked():
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line for line in whole if line)
