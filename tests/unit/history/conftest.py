"""A scripted API server: revisions, lists (paged, exact, metadata only), watches, and everything that goes wrong."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from cluster.api import Api
from grader.history.kinds import RecordedKind
from grader.history.recorder import Recorder
from grader.history.store import HistoryReader
from grader.history.synced import wait_synced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POD = RecordedKind("v1", "Pod")
EVENT = RecordedKind("v1", "Event")
NAMESPACE = RecordedKind("v1", "Namespace")
LWS = RecordedKind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
LEASE = RecordedKind("coordination.k8s.io/v1", "Lease")
DEFINITION = RecordedKind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
PLURALS = {
    POD: "pods",
    EVENT: "events",
    NAMESPACE: "namespaces",
    LWS: "leaderworkersets",
    LEASE: "leases",
    DEFINITION: "customresourcedefinitions",
}

Obj = dict[str, Any]


def eventually(condition: Callable[[], object], what: str = "", seconds: float = 10.0) -> None:
    """Wait until `condition` holds; fail after `seconds`."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never came true: {what or condition}"
        pause.wait(0.005)


class FakeCluster:
    """What etcd holds, and how the API server misbehaves."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.revision = 10
        self.compacted = 0
        self.floor: dict[RecordedKind, int] = defaultdict(int)  # the watch cache begins here
        self.served = {POD, EVENT, NAMESPACE}
        self.log: dict[RecordedKind, list[tuple[int, str, Obj]]] = defaultdict(list)
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.refusing = False  # as a killed API server
        self.ready = True
        self.failing: dict[str, int] = {}  # plural → HTTP status of its lists and watches
        self.held = False  # watches tell nothing for now
        self.generation = 0  # watches of an earlier one end
        self.bookmarks: dict[RecordedKind, int] = defaultdict(int)
        self.raw: dict[RecordedKind, bytes] = {}  # said once, by the next watch that looks
        self.put(NAMESPACE, "kube-system", uid="cluster-1")

    # -- what happens in it ---------------------------------------------------------------------------

    def put(self, kind: RecordedKind, name: str, *, uid: str = "", namespace: str = "lab", **content: Any) -> Obj:
        """Create or change an object."""
        with self.lock:
            self.revision += 1
            old = self.state(kind, self.revision).get((namespace, name))
            meta = {
                "name": name,
                "uid": old["metadata"]["uid"] if old else uid or f"{name}-{self.revision}",
                "resourceVersion": str(self.revision),
                "managedFields": [{"manager": "kubectl"}],
            }
            if kind is not NAMESPACE:
                meta["namespace"] = namespace
            obj = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": meta, **content}
            self.log[kind].append((self.revision, "MODIFIED" if old else "ADDED", obj))
            self.lock.notify_all()
            return obj

    def delete(self, kind: RecordedKind, name: str, namespace: str = "lab") -> None:
        """Delete an object."""
        with self.lock:
            self.revision += 1
            obj = deepcopy(self.state(kind, self.revision)[namespace, name])
            obj["metadata"]["resourceVersion"] = str(self.revision)
            self.log[kind].append((self.revision, "DELETED", obj))
            self.lock.notify_all()

    def other_writes(self, number: int) -> None:
        """Revisions of kinds that nobody records."""
        with self.lock:
            self.revision += number

    def state(self, kind: RecordedKind, revision: int) -> dict[tuple[str, str], Obj]:
        """The objects of a kind as of a revision."""
        living: dict[tuple[str, str], Obj] = {}
        for at, verb, obj in self.log[kind]:
            key = ("lab" if kind is NAMESPACE else obj["metadata"]["namespace"]), obj["metadata"]["name"]
            if at <= revision:
                living[key] = obj
                if verb == "DELETED":
                    del living[key]
        return living

    # -- what is done to it ---------------------------------------------------------------------------

    def drop_watches(self) -> None:
        """Close every open watch, as after its time or a broken connection."""
        with self.lock:
            self.generation += 1
            self.lock.notify_all()

    def kill(self) -> None:
        """Answer nobody until `revive`."""
        with self.lock:
            self.refusing = True
            self.generation += 1
            self.lock.notify_all()

    def revive(self, *, forget: bool) -> None:
        """Answer again. `forget`: the watch caches begin now, as after a restart."""
        with self.lock:
            if forget:
                for kind in PLURALS:
                    self.floor[kind] = self.revision
            self.refusing = False

    def compact(self) -> None:
        """Forget all versions but the current ones."""
        with self.lock:
            self.compacted = self.revision
            for kind in PLURALS:
                self.floor[kind] = self.revision

    def hold(self, held: bool) -> None:
        """Let watches fall silent, or speak again."""
        with self.lock:
            self.held = held
            self.lock.notify_all()

    def bookmark(self, kind: RecordedKind) -> int:
        """Have the watches of a kind say how far they are; the revision."""
        with self.lock:
            self.bookmarks[kind] = self.revision
            self.lock.notify_all()
            return self.revision

    def say(self, kind: RecordedKind, line: bytes) -> None:
        """Put raw bytes into the next watch of a kind."""
        with self.lock:
            self.raw[kind] = line
            self.lock.notify_all()

    def unserve(self, kind: RecordedKind) -> None:
        """Delete the kind's definition and, with it, its objects, which nobody is told."""
        with self.lock:
            self.served.discard(kind)
            self.log[kind].clear()
            self.floor[kind] = self.revision
            self.generation += 1
            self.lock.notify_all()

    def serve(self, kind: RecordedKind) -> None:
        """Begin to serve a kind."""
        with self.lock:
            self.served.add(kind)

    # -- what was asked -------------------------------------------------------------------------------

    def watches(self, kind: RecordedKind) -> list[str]:
        """The resourceVersions that watches of a kind began at."""
        with self.lock:
            return [
                q["resourceVersion"] for path, q in self.requests if path.endswith(f"/{PLURALS[kind]}") and "watch" in q
            ]

    def full_lists(self, kind: RecordedKind) -> int:
        """How often all whole objects of a kind were asked for."""
        with self.lock:
            return sum(
                path.endswith(f"/{PLURALS[kind]}") and q.keys().isdisjoint({"watch", "as", "fieldSelector"})
                for path, q in self.requests
            )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    cluster: FakeCluster

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        cluster = self.cluster
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query))
        if "as=PartialObjectMetadataList" in self.headers["Accept"]:
            query["as"] = "metadata"
        with cluster.lock:
            if cluster.refusing:
                self.close_connection = True
                return
            cluster.requests.append((url.path, query))
        if url.path == "/readyz":
            self._answer({}, 200 if cluster.ready else 500)
        elif url.path == "/apis":
            groups = {k.api_version for k in cluster.served if "/" in k.api_version}
            self._answer({"groups": [{"versions": [{"groupVersion": group}]} for group in groups]})
        elif url.path.endswith("/namespaces/kube-system"):
            self._answer(cluster.state(NAMESPACE, cluster.revision)["lab", "kube-system"])
        else:
            self._resource(url.path, query)

    def _resource(self, path: str, query: dict[str, str]) -> None:
        cluster = self.cluster
        folder, _slash, last = path.rpartition("/")
        kind = next((k for k in cluster.served if folder.endswith(f"/{k.api_version}") and PLURALS[k] == last), None)
        version = path.split("/", 2)[2]
        if kind and last in cluster.failing:
            self._status(cluster.failing[last], "told to fail")
        elif kind and "watch" in query:
            self._watch(kind, int(query["resourceVersion"]), float(query["timeoutSeconds"]))
        elif kind:
            self._list(kind, query)
        elif names := [k for k in cluster.served if k.api_version == version]:
            entries = [{"name": PLURALS[k], "kind": k.name, "namespaced": k is not NAMESPACE} for k in names]
            self._answer({"resources": entries})
        else:
            self._status(404, "the server could not find the requested resource")

    def _list(self, kind: RecordedKind, query: dict[str, str]) -> None:
        cluster = self.cluster
        with cluster.lock:
            revision, skip = cluster.revision, 0
            if "continue" in query:
                revision, skip = map(int, query["continue"].split(":"))
            elif query.get("resourceVersionMatch") == "Exact":
                revision = int(query["resourceVersion"])
            if revision < cluster.compacted:
                return self._status(410, "compacted")
            objects = sorted(cluster.state(kind, revision).items())
        wanted = dict(pair.split("=") for pair in query.get("fieldSelector", "").split(",") if pair)
        items = [
            obj
            for _key, obj in objects
            if all(obj["metadata"][k.removeprefix("metadata.")] == v for k, v in wanted.items())
        ]
        end = skip + int(query.get("limit", 10**6))
        meta: Obj = {"resourceVersion": str(revision)}
        if len(items) > end:
            meta |= {"continue": f"{revision}:{end}", "remainingItemCount": len(items) - end}
        items = items[skip:end]
        if "as" in query:
            items = [{"metadata": obj["metadata"]} for obj in items]
        else:  # lists of built-in kinds leave these out
            items = [{k: v for k, v in obj.items() if k not in ("apiVersion", "kind")} for obj in items]
        return self._answer({"metadata": meta, "items": items})

    def _watch(self, kind: RecordedKind, revision: int, seconds: float) -> None:
        cluster = self.cluster
        with cluster.lock:
            if revision < cluster.floor[kind]:
                return self._status(410, "too old resource version")
            generation = cluster.generation
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        end = time.monotonic() + seconds
        marked = 0
        while True:
            with cluster.lock:
                ripe = [] if cluster.held else [e for e in cluster.log[kind] if e[0] > revision]
                bookmark = 0 if cluster.held or cluster.bookmarks[kind] <= marked else cluster.bookmarks[kind]
                raw = cluster.raw.pop(kind, b"")
                if generation != cluster.generation or time.monotonic() > end:
                    break
                if not ripe and not bookmark and not raw:
                    cluster.lock.wait(end - time.monotonic())
                    continue
            try:
                for at, verb, obj in ripe:
                    revision = at
                    self._chunk({"type": verb, "object": obj})
                if bookmark > revision:
                    meta = {"resourceVersion": str(bookmark)}
                    self._chunk({"type": "BOOKMARK", "object": {"metadata": meta}})
                if raw:
                    self._raw_chunk(raw)
            except OSError:
                break
            marked = max(marked, bookmark)
        if not cluster.refusing:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True
        return None

    def _chunk(self, event: Obj) -> None:
        self._raw_chunk(json.dumps(event).encode() + b"\n")

    def _raw_chunk(self, line: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

    def _answer(self, body: Obj, status: int = 200) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _status(self, code: int, message: str) -> None:
        self._answer({"kind": "Status", "code": code, "message": message}, code)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, handler: type[_Handler]) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that went away

    def close(self) -> None:
        self.shutdown()
        for request in list(self.open):
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self.server_close()


class Lab:
    """A fake cluster, its address, and recorders on one history."""

    def __init__(self, folder: Path) -> None:
        self.cluster = FakeCluster()
        self.folder = folder
        self.database = folder / "history.db"
        self.socket = folder / "recorder.sock"
        self._server = _Server(type("Handler", (_Handler,), {"cluster": self.cluster}))
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self._apis: list[Api] = []

    def api(self) -> Api:
        """A client of it."""
        self._apis.append(Api(self.address, ssl.create_default_context()))
        return self._apis[-1]

    @contextmanager
    def recording(self, *, ready: bool = True, **settings: Any) -> Iterator[Recorder]:
        """A recorder at work, ready if nothing else is said; its threads have ended afterwards."""
        kinds = (POD, EVENT, NAMESPACE, LWS)
        before = set(threading.enumerate())
        settings = {"discover_seconds": 0.01, "freshen_seconds": 1e9, **settings}
        recorder = Recorder(self.api(), self.database, self.socket, kinds=kinds, **settings)
        recorder.start()
        try:
            if ready:
                eventually(self.socket.exists, "the recorder is ready")
            yield recorder
        finally:
            assert recorder.close(5.0)
            self.cluster.drop_watches()
            for thread in set(threading.enumerate()) - before:
                if thread.name in {kind.name for kind in kinds} | {
                    "scout",
                    "journal",
                    "socket",
                    "heartbeats",
                    "definitions",
                }:
                    thread.join(10)
                    assert not thread.is_alive(), thread.name

    def kill(self, recorder: Recorder) -> None:
        """Have the API server answer nobody; the recorder has noticed."""
        self.cluster.kill()
        followers = recorder._followers.values()
        eventually(lambda: not any(follower.progress.stream for follower in followers))

    def story(self, kind: RecordedKind = POD) -> list[tuple[str, str]]:
        """(verb, name) of all changes stored, once the recorder has caught up."""
        answer = wait_synced(self.socket, 5.0)
        assert answer.synced, answer
        with HistoryReader(self.database) as history:
            return [(change.verb, change.name) for change in history.changes(kind.name)]

    def gaps(self, kind: RecordedKind = POD) -> list[str]:
        """The reasons of the gaps of a kind."""
        with HistoryReader(self.database) as history:
            return [gap.reason for gap in history.gaps(kind.name)]

    def close(self) -> None:
        """Let go of everything."""
        self.cluster.kill()
        self._server.close()
        for api in self._apis:
            api._pool.clear()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A fake cluster to record."""
    lab = Lab(tmp_path)
    yield lab
    lab.close()
