"""The recorder: `python -m grader.history.recorder --kubeconfig F --database F --socket F`.

Owns which kinds are followed when, readiness, and the process: it says nothing on stdout, log lines on stderr,
ends with 0 within a second of SIGTERM, and with 1 on trouble that a restart cures (a restart resumes).
Imports little: it lives as long as a session does, and half of its memory would be modules.
"""

from __future__ import annotations

import argparse
import fcntl
import logging
import math
import os
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cluster.api import Api
from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem
from grader.history.follower import Follower
from grader.history.journal import Journal
from grader.history.kinds import RECORDED, RecordedKind
from grader.history.listener import Listener
from grader.history.model import Mark
from grader.history.outage import Outage
from grader.history.progress import Progress
from grader.history.proof import ClusterReplaced
from grader.history.server import SyncServer
from grader.history.synced import Synced
from grader.history.writer import HistoryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DISCOVER_SECONDS = 2.0
_DISCOVER_LONG = 10.0  # how long a definition that was heard of may take to be served
_DISCOVER_RARELY = 60.0
_FRESHEN_SECONDS = 60.0
_ASKERS = 4  # threads that prove one kind after another up to date; more only contend for the interpreter
_STARTING_SECONDS = 0.02  # between looks whether all is followed, until it is
_FIRST_PAUSE = 0.05
_NAMESPACE = RecordedKind("v1", "Namespace")
_LEASE = RecordedKind("coordination.k8s.io/v1", "Lease")
_DEFINITION = RecordedKind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_CLUSTER = "cluster"  # a mark: whose history this is

log = logging.getLogger(__name__)


class Recorder:
    """Records the cluster behind `api` into the history at `database`; answers at `address` once it is ready."""

    def __init__(
        self,
        api: Api,
        database: Path,
        address: Path,
        *,
        kinds: Sequence[RecordedKind] = RECORDED,
        discover_seconds: float = _DISCOVER_SECONDS,
        freshen_seconds: float = _FRESHEN_SECONDS,
    ) -> None:
        self.stop = threading.Event()
        self._api, self._address, self._kinds = api, address, kinds
        self._discover_seconds, self._freshen_seconds = discover_seconds, freshen_seconds
        self._writer = HistoryWriter(database)
        self._cluster = self._writer.marked(_CLUSTER)
        self._past = {kind: (self._writer.position(kind), self._writer.living(kind)) for kind in kinds}
        self._journal = Journal(self._writer)  # from here on the writer is its thread's alone
        self._outage = Outage()
        self._followers: dict[RecordedKind, Follower] = {}
        self._discovering = threading.Lock()
        self._opening = threading.Lock()
        self._server: SyncServer | None = None
        self._heartbeats = Listener(_LEASE, api, self.stop, lambda revision: self._journal.heard.add([revision]))
        self._definitions = Listener(_DEFINITION, api, self.stop)
        self._scout = threading.Thread(target=self._run, name="scout", daemon=True)

    def start(self) -> None:
        """Begin, in threads of its own."""
        self._scout.start()

    def close(self, timeout: float = 0.8) -> bool:
        """Store what has arrived and let go of the files; whether all of it could be stored."""
        self.stop.set()
        with self._opening:
            if self._server:
                self._server.close()
        stored = self._journal.close(timeout)
        if stored:
            self._writer.close()
        return stored

    def sync(self, seconds: float, kinds: frozenset[str] = frozenset()) -> Synced:
        """Whether all changes of `kinds` (none named: of all) the API server has now are stored in `seconds`."""
        asked = self._journal.now()
        deadline = time.monotonic() + seconds
        try:
            self._discover(seconds)
        except (ApiUnavailable, ApiRefused):
            return Synced(False, asked, tuple(sorted({kind.name for kind in self._kinds})))
        waiting = [each for each in list(self._followers.values()) if not kinds or each.kind.name in kinds]
        behind = {follower.kind for follower in waiting}
        asked_of: list[tuple[RecordedKind, Callable[[], bool]]] = []

        def ask() -> None:
            while waiting:
                try:
                    follower = waiting.pop()
                except IndexError:  # another asker was quicker
                    return
                asked_of.append((follower.kind, follower.proof.ask(deadline)))

        _side_by_side(ask, _ASKERS)
        for kind, is_seen in asked_of:  # only now: one that has to wait holds up no other
            if is_seen():
                behind.discard(kind)
        stored = self._journal.flush(deadline - time.monotonic())
        return Synced(stored and not behind, asked, tuple(sorted({kind.name for kind in behind})))

    # -- the scout's thread -------------------------------------------------------------------------

    def _run(self) -> None:
        began = time.monotonic()
        found = self._meet_cluster()
        if found is None:
            return
        cluster, replaced = found
        for kind, (position, living) in self._past.items():
            if position or living:  # served or not: if it is not, its objects are gone
                self._follow(kind, "" if replaced else position, living, replaced=replaced)
        self._past.clear()
        discovered, freshened = -math.inf, began
        while not self.stop.is_set():
            now = time.monotonic()
            if now - discovered >= self._between_discoveries(now) and self._try_to_discover():
                discovered = now
            if self._server is None and discovered > 0 and self._all_followed():
                if cluster:
                    self._journal.submit(Mark(_CLUSTER, self._journal.now(), cluster))
                self._journal.flush(None)
                self._open()
                for listener, name in ((self._heartbeats, "heartbeats"), (self._definitions, "definitions")):
                    threading.Thread(target=listener.run, name=name, daemon=True).start()
                log.info("ready after %.1f s: %d kinds", now - began, sum(map(self._is_followed, self._kinds)))
            if now - freshened >= self._freshen_seconds:
                for follower in list(self._followers.values()):
                    follower.freshen()
                freshened = time.monotonic()
            self.stop.wait(_STARTING_SECONDS if self._server is None else self._discover_seconds)

    def _open(self) -> None:
        with self._opening:
            if not self.stop.is_set():
                self._server = SyncServer(self._address, self.sync)

    def _between_discoveries(self, now: float) -> float:
        """Seconds. Kinds come with definitions, so there is something to find only after one was heard of."""
        quiet = self._definitions.listening and now - self._definitions.heard_at > _DISCOVER_LONG
        return max(self._discover_seconds, _DISCOVER_RARELY) if quiet else self._discover_seconds

    def _meet_cluster(self) -> tuple[str, bool] | None:
        """The identity of the cluster and whether it is another one than before; None: told to stop."""
        newest = max((int(position or 0) for position, _living in self._past.values()), default=0)
        while not self.stop.is_set():
            try:
                system = self._api.get(*_NAMESPACE, "kube-system")
                head = int(next(self._api.pages(*_NAMESPACE, metadata_only=True, limit=1)).version)
            except (ApiUnavailable, ApiRefused) as problem:
                self._outage.begin(_NAMESPACE, problem.message)
                self.stop.wait(_FIRST_PAUSE)
                continue
            uid = str(system["metadata"]["uid"]) if system else ""
            # A watch from a revision that is yet to come is not refused: it would say nothing until then.
            replaced = head < newest or (uid != "" and self._cluster not in ("", uid))
            return uid, replaced
        return None

    def _try_to_discover(self) -> bool:
        try:
            self._discover(_DISCOVER_SECONDS)
        except (ApiUnavailable, ApiRefused) as problem:
            log.debug("discovery: %s", problem.message)
            return False
        return True

    def _all_followed(self) -> bool:
        states = [follower.progress for follower in list(self._followers.values())]
        return all(progress.followed.is_set() or progress.gone.is_set() for progress in states)

    # -- any thread ---------------------------------------------------------------------------------

    def _discover(self, seconds: float) -> None:
        """Follow the kinds that are served by now and not followed yet."""
        if not self._discovering.acquire(timeout=seconds):
            raise ApiUnavailable("discovery takes long")
        try:
            missing = [kind for kind in self._kinds if not self._is_followed(kind)]
            if not missing:
                return
            groups = self._api.call("GET", "/apis", timeout=seconds).get("groups") or []
            served = {version["groupVersion"] for group in groups for version in group["versions"]} | {"v1"}
            for api_version in {kind.api_version for kind in missing} & served:
                path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
                resources = self._api.call("GET", path, timeout=seconds).get("resources") or []
                names = {resource["kind"] for resource in resources}
                for kind in missing:
                    if kind.api_version == api_version and kind.name in names:
                        self._follow(kind)
        finally:
            self._discovering.release()

    def _is_followed(self, kind: RecordedKind) -> bool:
        follower = self._followers.get(kind)
        return follower is not None and not follower.progress.gone.is_set()

    def _follow(
        self,
        kind: RecordedKind,
        position: str = "",
        living: dict[str, str] | None = None,
        *,
        replaced: bool = False,
    ) -> None:
        progress = Progress(position, living)
        follower = Follower(kind, self._api, self._journal, self._outage, self.stop, progress)
        self._followers[kind] = follower
        threading.Thread(target=follower.run, kwargs={"replaced": replaced}, name=kind.name, daemon=True).start()


def _side_by_side(work: Callable[[], None], number: int) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _n in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until SIGTERM, SIGINT or SIGHUP; the exit code."""
    parser = argparse.ArgumentParser(prog="recorder", description="Record every change of a cluster.")
    for option in ("--kubeconfig", "--database", "--socket"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("urllib3").setLevel(logging.ERROR)  # what it warns of is said by us, once
    # Blocked before there are threads, which inherit it: then the main thread alone takes them, in sigwait.
    ends = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    failures: list[str] = []

    def fail(args: threading.ExceptHookArgs) -> None:
        # What went wrong in one thread may have left its part of the truth half told: start over from the file.
        name = args.thread.name if args.thread else "?"
        failures.append(name)
        trouble = None if isinstance(args.exc_value, ClusterReplaced) else args.exc_value
        log.error("%s: %s", name, args.exc_value, exc_info=trouble)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.excepthook = fail
    try:
        held = _hold(options.database)
        recorder = Recorder(Api.from_kubeconfig(options.kubeconfig), options.database, options.socket)
    except (EnvironmentProblem, OSError, sqlite3.Error) as error:
        log.error("%s", error)
        return 1
    with held:
        recorder.start()
        signal.sigwait(ends)
        return 0 if recorder.close() and not failures else 1


def _hold(database: Path) -> IO[str]:
    """The right to write `database`, until what is returned is closed."""
    lock = database.with_name(database.name + ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise EnvironmentProblem(f"{database}: another recorder is writing it") from error
    return lock


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Threads wait on connections that only the API server could end, so nobody waits for them.
    os._exit(code)
