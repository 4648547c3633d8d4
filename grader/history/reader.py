"""Reading a history while it is being written.

Owns the questions that checks and timelines ask of it; changes nothing in the file.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.history.model import EVERY_KIND, Change, Gap, Mark
from grader.history.schema import connect_read_only, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from cluster.spec import Manifest

_COLUMNS = "seq, at, verb, api_version, kind, namespace, name, uid, resource_version, body"


class Filters(TypedDict, total=False):
    """Which changes are meant; what is left out, or None, does not matter."""

    namespace: str | None
    name: str | None
    uid: str | None
    since: float | None
    until: float | None
    api_version: str | None


class HistoryReader:
    """A read-only view of the history at `path`; each call sees all that was stored before it.

    Times are Unix seconds of the recorder's clock, and bounds belong to the range. `selector` looks at an
    object (of a deletion: its last state). `api_version` tells kinds of one name apart (Job, Workload).
    Any thread may use it, one at a time. EnvironmentProblem: there is no history, or it can't be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists():
            raise EnvironmentProblem(_("there is no history at {path}").format(path=path))
        try:
            self._connection = connect_read_only(path)
            self._connection.execute("SELECT 1 FROM change LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def changes(
        self, kind: str, *, selector: Callable[[Manifest], bool] | None = None, **filters: Unpack[Filters]
    ) -> Iterator[Change]:
        """The changes that fit, in the order they came."""
        where, values = _where(kind=kind, **filters)
        query = f"SELECT {_COLUMNS} FROM change WHERE {where} ORDER BY seq"  # noqa: S608  # columns, all ours
        for row in self._rows(query, values):
            change = self._change(row)
            if selector is None or selector(change.object):
                yield change

    def newer(self, seq: int, kinds: Iterable[str]) -> list[Change]:
        """The changes of these kinds after `seq`, in the order they came."""
        names = [*kinds]
        places = ", ".join("?" * len(names))
        query = f"SELECT {_COLUMNS} FROM change WHERE seq > ? AND kind IN ({places}) ORDER BY seq"  # noqa: S608  # see above
        return [self._change(row) for row in self._rows(query, (seq, *names))]

    def standing(self, kinds: Iterable[str]) -> list[Change]:
        """The last change of each object of these kinds that is still there, in the order they came."""
        names = [*kinds]
        places = ", ".join("?" * len(names))
        last = f"SELECT max(seq) FROM change WHERE kind IN ({places}) GROUP BY uid"  # noqa: S608  # see above
        query = f"SELECT {_COLUMNS} FROM change WHERE seq IN ({last}) AND verb != 'DELETED' ORDER BY seq"  # noqa: S608
        return [self._change(row) for row in self._rows(query, names)]

    def last_seq(self) -> int:
        """The number of the latest change; 0 where there is none."""
        return next((int(row[0]) for row in self._rows("SELECT max(seq) FROM change", ()) if row[0] is not None), 0)

    def versions(self, uid: str) -> list[Change]:
        """All versions of one object, oldest first."""
        query = f"SELECT {_COLUMNS} FROM change WHERE uid = ? ORDER BY seq"  # noqa: S608  # columns, all ours
        return [self._change(row) for row in self._rows(query, (uid,))]

    def at(
        self,
        kind: str,
        when: float,
        *,
        namespace: str | None = None,
        name: str | None = None,
        selector: Callable[[Manifest], bool] | None = None,
        api_version: str | None = None,
    ) -> list[Manifest]:
        """The objects as they were at `when`, a change at that very moment included; by namespace and name."""
        where, values = _where(kind=kind, namespace=namespace, name=name, until=when, api_version=api_version)
        latest = f"SELECT max(seq) FROM change WHERE {where} GROUP BY uid"  # noqa: S608  # columns, all ours
        query = (
            f"SELECT body FROM change WHERE seq IN ({latest}) AND verb != 'DELETED'"  # noqa: S608  # see above
            " ORDER BY namespace, name, seq"
        )
        objects = [self._decode(row[0]) for row in self._rows(query, values)]
        return objects if selector is None else [obj for obj in objects if selector(obj)]

    def ever(
        self, kind: str, *, selector: Callable[[Manifest], bool] | None = None, **filters: Unpack[Filters]
    ) -> bool:
        """Whether such an object was seen at all, be it only as it was deleted. See `gaps` before a "no"."""
        return next(self.changes(kind, selector=selector, **filters), None) is not None

    def gaps(self, kind: str, since: float | None = None, until: float | None = None) -> list[Gap]:
        """The gaps of `kind`, with those of all kinds, that touch the range; oldest first."""
        query = 'SELECT kind, "start", "end", reason FROM gap WHERE kind IN (?, ?)'
        values: list[str | float] = [kind, EVERY_KIND]
        if since is not None:
            query += ' AND "end" >= ?'
            values.append(since)
        if until is not None:
            query += ' AND "start" <= ?'
            values.append(until)
        return [Gap(*row) for row in self._rows(query + ' ORDER BY "start", rowid', values)]

    def last_change(self, kinds: Iterable[str]) -> float | None:
        """When an object of one of `kinds` last changed; None if never."""
        times = [
            row[0]
            for kind in kinds
            for row in self._rows("SELECT max(at) FROM change WHERE kind = ?", (kind,))
            if row[0] is not None
        ]
        return max(times, default=None)

    def recorded_until(self) -> float:
        """The latest time of which the file knows that it was recorded; 0.0 where nothing was."""
        query = "SELECT max(at) FROM (SELECT max(at) AS at FROM change UNION ALL SELECT max(at) FROM position)"
        return next((float(row[0]) for row in self._rows(query, ()) if row[0] is not None), 0.0)

    def mark(self, name: str) -> Mark | None:
        """The latest mark of that name."""
        query = "SELECT name, at, value FROM mark WHERE name = ? ORDER BY rowid DESC LIMIT 1"
        return next((Mark(*row) for row in self._rows(query, (name,))), None)

    # -- beneath ------------------------------------------------------------------------------------

    def _rows(self, query: str, values: Iterable[str | float]) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(query, tuple(values))
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _change(self, row: tuple[Any, ...]) -> Change:
        seq, at, verb, api_version, kind, namespace, name, uid, version, body = row
        return Change(
            seq=seq,
            at=at,
            verb=verb,
            api_version=api_version,
            kind=kind,
            namespace=namespace,
            name=name,
            uid=uid,
            resource_version=version,
            object=self._decode(body),
        )

    def _decode(self, body: bytes) -> Manifest:
        try:
            return decode(body)
        except ValueError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> EnvironmentProblem:
        message = _("the history at {path} can't be read: {error}").format(path=self._path, error=error)
        return EnvironmentProblem(message)


def _where(
    *, since: float | None = None, until: float | None = None, **equal: str | None
) -> tuple[str, list[str | float]]:
    wanted: dict[str, str | float] = {f"{column} = ?": value for column, value in equal.items() if value is not None}
    if since is not None:
        wanted["at >= ?"] = since
    if until is not None:
        wanted["at <= ?"] = until
    return " AND ".join(wanted), list(wanted.values())
