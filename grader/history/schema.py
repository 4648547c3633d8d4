"""The history file: its tables, how it is opened, what is done with a damaged one.

Owns the schema and the form objects are stored in; knows nothing of who reads or writes.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import urllib.parse
import zlib
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from grader.history.model import DAMAGED, EVERY_KIND

if TYPE_CHECKING:
    from pathlib import Path

_APPLICATION = 0x42617463  # "Batc": a file of ours, for sqlite and file(1)
_VERSION = 1
_COMPRESS_FROM = 512  # bytes; below it zlib gains little

_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE change (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    verb TEXT NOT NULL,
    api_version TEXT NOT NULL,
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    resource_version TEXT NOT NULL,
    body BLOB NOT NULL
);
-- A version is stored once; only a deletion that was inferred has the version of the last sighting again.
CREATE UNIQUE INDEX change_once ON change (uid, resource_version, verb = 'DELETED');
CREATE INDEX change_time ON change (kind, at);
CREATE INDEX change_name ON change (kind, namespace, name);
-- Where each kind's watch goes on. Written in the transaction of the changes it stands for.
CREATE TABLE position (
    api_version TEXT NOT NULL,
    kind TEXT NOT NULL,
    resource_version TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (api_version, kind)
);
CREATE TABLE gap (kind TEXT NOT NULL, "start" REAL NOT NULL, "end" REAL NOT NULL, reason TEXT NOT NULL);
CREATE TABLE mark (name TEXT NOT NULL, at REAL NOT NULL, value TEXT NOT NULL);
"""

log = logging.getLogger(__name__)


def open_for_writing(path: Path, now: float) -> sqlite3.Connection:
    """The history at `path`, made if there is none, in autocommit mode; for one thread at a time.

    A file that can't be trusted is moved aside and named in a log line; the new one begins with a gap that
    ends at `now` (Unix seconds). sqlite3.OperationalError: the disk is full, or the folder is not ours.
    """
    if path.exists() and (trouble := _trouble(path)):
        aside = _set_aside(path)
        log.error("%s is damaged (%s): kept as %s, a new history begins", path, trouble, aside.name)
        _create(path, now, damaged=True)
    elif not path.exists():
        _create(path, now, damaged=False)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")  # readers never wait for the writer, nor it for them
    connection.execute("PRAGMA synchronous = NORMAL")  # a crash of ours loses nothing; a power cut, seconds
    connection.execute("PRAGMA journal_size_limit = 4194304")
    connection.execute("PRAGMA busy_timeout = 2000")
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """The file at `path`, which must exist, for one thread at a time."""
    address = f"file:{urllib.parse.quote(str(path.absolute()))}?mode=ro"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=2.0)


def encode(obj: dict[str, Any]) -> bytes:
    """`obj` as it is stored: JSON without managedFields, compressed where that pays."""
    metadata = obj.get("metadata")
    if metadata and "managedFields" in metadata:
        metadata = {key: value for key, value in metadata.items() if key != "managedFields"}
        obj = {**obj, "metadata": metadata}
    raw = json.dumps(obj, ensure_ascii=False, separators=(",", ":")).encode()
    return raw if len(raw) < _COMPRESS_FROM else zlib.compress(raw)


def decode(body: bytes) -> dict[str, Any]:
    """The object that `encode` stored; ValueError if it did not."""
    try:
        raw = body if body.startswith(b"{") else zlib.decompress(body)  # a zlib stream begins with 0x78
    except zlib.error as error:
        raise ValueError(str(error)) from error
    return cast("dict[str, Any]", json.loads(raw))


def _create(path: Path, now: float, *, damaged: bool) -> None:
    # Made complete under another name: a file cut to nothing is then never taken for a new one.
    _remove_companions(path)
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        if damaged:
            connection.execute("INSERT INTO gap VALUES (?, ?, ?, ?)", (EVERY_KIND, 0.0, now, DAMAGED))
    fresh.chmod(0o600)
    fresh.replace(path)


def _trouble(path: Path) -> str:
    size, log = path.stat().st_size, path.with_name(path.name + "-wal")
    if size == 0:
        return "empty"
    try:
        with closing(connect_read_only(path)) as connection:  # a writer would tidy the log away
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            page = connection.execute("PRAGMA page_size").fetchone()[0]
            if (application, version) != (_APPLICATION, _VERSION):
                return f"application id {application:#x}, version {version}"
            if size % page and not (log.exists() and log.stat().st_size):
                return "cut short"  # SQLite reads zeros for what is missing; a log would have it
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            return "" if found == "ok" else found
    except sqlite3.OperationalError:
        raise  # no memory, no permission: nothing is wrong with the file
    except sqlite3.DatabaseError as error:
        return str(error)


def _set_aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    path.rename(aside)
    log_file = path.with_name(path.name + "-wal")
    if log_file.exists() and log_file.stat().st_size:  # its latest changes: whoever repairs it needs them
        log_file.rename(aside.with_name(aside.name + "-wal"))
    return aside


def _remove_companions(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
