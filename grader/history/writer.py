"""The one writer of a history file.

Owns what is stored in one transaction and the rule that time never goes backwards; knows nothing of the API
server.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from grader.history.model import Mark
from grader.history.schema import encode, open_for_writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from cluster.spec import Manifest
    from grader.history.kinds import RecordedKind
    from grader.history.model import Change, Verb


@dataclass(frozen=True, slots=True)
class Row:
    """One version of one object, ready to be stored (encoded where it arrives: a backlog stays small)."""

    verb: Verb
    namespace: str
    name: str
    uid: str
    resource_version: str
    body: bytes

    @classmethod
    def of(cls, verb: Verb, obj: Manifest) -> Row:
        """The row of an object as the API server gives it."""
        meta = obj["metadata"]
        return cls(verb, meta.get("namespace", ""), meta["name"], meta["uid"], meta["resourceVersion"], encode(obj))


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One step of one kind, stored whole or not at all."""

    kind: RecordedKind
    at: float
    """Unix seconds at which it arrived."""
    gone: tuple[tuple[str, str], ...] = ()
    """(uid, resourceVersion of the deletion, "" if unknown) of objects found to be no more: stored as DELETED with
    their last known state, before `rows`."""
    rows: tuple[Row, ...] = ()
    gap: str = ""
    """The reason of a gap from the last known good time of the kind to `at`; "": no gap."""
    position: str | None = None
    """The resourceVersion a watch goes on from; "" forgets it, None leaves it."""


class HistoryWriter:
    """Appends to the history at `path`, which is made if there is none and set aside if it is damaged.

    Any thread may use it, one at a time. sqlite3.OperationalError from a method: nothing of that call was
    stored, and it may be tried again.
    """

    def __init__(self, path: Path) -> None:
        self._connection = open_for_writing(path, time.time())
        newest = self._connection.execute(
            'SELECT max(at) FROM (SELECT max(at) AS at FROM change UNION ALL SELECT max("end") FROM gap'
            " UNION ALL SELECT max(at) FROM position)"
        ).fetchone()[0]
        self.last_at: float = newest or 0.0
        """The latest time in the file; nothing is stored with an earlier one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def append(self, changes: Iterable[Change]) -> None:
        """Store `changes` in order. `seq` is given anew; a version that is stored already stays as it is."""
        with self._transaction():
            for change in changes:
                body = encode(change.object)
                row = Row(change.verb, change.namespace, change.name, change.uid, change.resource_version, body)
                self._insert(change.api_version, change.kind, self._forwards(change.at), row)

    def store(self, updates: Iterable[Update | Mark]) -> None:
        """Store `updates` in order, in one transaction."""
        with self._transaction():
            for update in updates:
                at = self._forwards(update.at)
                if isinstance(update, Mark):
                    self._insert_mark(update.name, at, update.value)
                    continue
                for uid, version in update.gone:
                    self._bury(uid, version, at)
                for row in update.rows:
                    self._insert(update.kind.api_version, update.kind.name, at, row)
                if update.gap:
                    start = self._good_until(update.kind)
                    self._insert_gap(update.kind.name, at if start is None else start, at, update.gap)
                self._move(update.kind, update.position, at)

    def gap(self, kind: str, start: float, end: float, reason: str) -> None:
        """Note that changes of `kind` (model.EVERY_KIND: of all) between two Unix times may be missing."""
        with self._transaction():
            self._insert_gap(kind, start, end, reason)

    def mark(self, name: str, at: float, value: str = "") -> None:
        """Note a named moment."""
        with self._transaction():
            self._insert_mark(name, at, value)

    def marked(self, name: str) -> str:
        """The value of the latest mark of that name; "" if there is none."""
        query = "SELECT value FROM mark WHERE name = ? ORDER BY rowid DESC LIMIT 1"
        found = self._connection.execute(query, (name,)).fetchone()
        return str(found[0]) if found else ""

    def position(self, kind: RecordedKind) -> str:
        """The resourceVersion that the watch of `kind` goes on from; "" if it was never listed."""
        query = "SELECT resource_version FROM position WHERE api_version = ? AND kind = ?"
        found = self._connection.execute(query, kind).fetchone()
        return str(found[0]) if found else ""

    def living(self, kind: RecordedKind) -> dict[str, str]:
        """uid → resourceVersion of the objects that the file knows and has not seen deleted."""
        query = (
            "SELECT uid, resource_version FROM change WHERE verb != 'DELETED' AND seq IN"
            " (SELECT max(seq) FROM change WHERE api_version = ? AND kind = ? GROUP BY uid)"
        )
        return dict(self._connection.execute(query, kind))

    def close(self) -> None:
        """Fold the log into the file and close it."""
        self._connection.close()

    # -- beneath ------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        before = self.last_at
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self.last_at = before
            if self._connection.in_transaction:  # a full disk has SQLite roll back by itself
                self._connection.execute("ROLLBACK")
            raise

    def _forwards(self, at: float) -> float:
        self.last_at = max(self.last_at, at)
        return self.last_at

    def _insert(self, api_version: str, kind: str, at: float, row: Row) -> None:
        self._connection.execute(
            "INSERT INTO change (at, verb, api_version, kind, namespace, name, uid, resource_version, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (
                at,
                row.verb,
                api_version,
                kind,
                row.namespace,
                row.name,
                row.uid,
                row.resource_version,
                row.body,
            ),
        )

    def _bury(self, uid: str, version: str, at: float) -> None:
        self._connection.execute(
            "INSERT INTO change (at, verb, api_version, kind, namespace, name, uid, resource_version, body)"
            " SELECT ?, 'DELETED', api_version, kind, namespace, name, uid,"
            " coalesce(nullif(?, ''), resource_version), body"
            " FROM change WHERE uid = ? ORDER BY seq DESC LIMIT 1 ON CONFLICT DO NOTHING",
            (at, version, uid),
        )

    def _insert_gap(self, kind: str, start: float, end: float, reason: str) -> None:
        self._connection.execute("INSERT INTO gap VALUES (?, ?, ?, ?)", (kind, start, end, reason))

    def _insert_mark(self, name: str, at: float, value: str) -> None:
        self._connection.execute("INSERT INTO mark VALUES (?, ?, ?)", (name, at, value))

    def _good_until(self, kind: RecordedKind) -> float | None:
        query = "SELECT at FROM position WHERE api_version = ? AND kind = ?"
        found = self._connection.execute(query, kind).fetchone()
        return float(found[0]) if found else None

    def _move(self, kind: RecordedKind, position: str | None, at: float) -> None:
        if position is None:
            return
        if not position:
            self._connection.execute("DELETE FROM position WHERE api_version = ? AND kind = ?", kind)
            return
        self._connection.execute(
            "INSERT INTO position VALUES (?, ?, ?, ?) ON CONFLICT (api_version, kind)"
            " DO UPDATE SET resource_version = excluded.resource_version, at = excluded.at",
            (*kind, position, at),
        )
