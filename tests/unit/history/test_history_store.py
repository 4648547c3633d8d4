"""The history file: what goes in comes out, once, in order, whatever happens to the process or the file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.errors import EnvironmentProblem
from grader.history.kinds import RecordedKind
from grader.history.store import EVERY_KIND, Change, Gap, HistoryReader, HistoryWriter, Mark
from grader.history.writer import Row, Update

if TYPE_CHECKING:
    from collections.abc import Iterator

POD = RecordedKind("v1", "Pod")


def change(at: float, verb: Any, name: str, version: int, **more: Any) -> Change:
    """A change of a pod, or of what `more` says."""
    uid = more.pop("uid", f"uid-{name}")
    fields: dict[str, Any] = {"api_version": "v1", "kind": "Pod", "namespace": "lab", **more}
    meta = {"name": name, "namespace": fields["namespace"], "uid": uid, "resourceVersion": str(version)}
    obj = {"apiVersion": fields["api_version"], "kind": fields["kind"], "metadata": meta, "n": version}
    return Change(at=at, verb=verb, name=name, uid=uid, resource_version=str(version), object=obj, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the history of this test is."""
    return tmp_path / "history.db"


@pytest.fixture
def writer(path: Path) -> Iterator[HistoryWriter]:
    """A new history."""
    with HistoryWriter(path) as opened:
        yield opened


@pytest.fixture
def reader(path: Path, writer: HistoryWriter) -> Iterator[HistoryReader]:
    """A reader of the same."""
    with HistoryReader(path) as opened:
        yield opened


def summary(changes: Any) -> list[tuple[str, str, str]]:
    """(verb, name, version) of each."""
    return [(each.verb, each.name, each.resource_version) for each in changes]


# -- round trip -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "이름", "x" * 5000])
def test_an_object_comes_back_as_it_was(writer: HistoryWriter, reader: HistoryReader, text: str) -> None:
    stored = change(5.0, "ADDED", "a", 1)
    stored.object["text"] = text
    stored.object["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    writer.append([stored])
    [found] = reader.changes("Pod")
    assert "managedFields" in stored.object["metadata"], "the caller's object was changed"
    del stored.object["metadata"]["managedFields"]
    assert found == Change(
        seq=1,
        at=5.0,
        verb="ADDED",
        api_version="v1",
        kind="Pod",
        namespace="lab",
        name="a",
        uid="uid-a",
        resource_version="1",
        object=stored.object,
    )


def test_large_objects_are_compressed(writer: HistoryWriter, path: Path) -> None:
    large = change(5.0, "ADDED", "a", 1)
    large.object["text"] = "x" * 100_000
    writer.append([large])
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT length(body) FROM change").fetchone()[0] < 1000
    raw.close()


def test_a_version_is_stored_once(writer: HistoryWriter, reader: HistoryReader) -> None:
    writer.append([change(1, "ADDED", "a", 1), change(2, "MODIFIED", "a", 1)])
    writer.append([change(3, "DELETED", "a", 1), change(4, "DELETED", "a", 1)])
    assert summary(reader.changes("Pod")) == [("ADDED", "a", "1"), ("DELETED", "a", "1")]


def test_time_never_goes_backwards(path: Path) -> None:
    with HistoryWriter(path) as writer:
        writer.append([change(100, "ADDED", "a", 1), change(90, "MODIFIED", "a", 2)])
    with HistoryWriter(path) as writer, HistoryReader(path) as reader:
        assert writer.last_at == 100
        writer.append([change(50, "MODIFIED", "a", 3), change(101, "MODIFIED", "a", 4)])
        assert [each.at for each in reader.changes("Pod")] == [100, 100, 100, 101]


def test_what_fails_leaves_nothing_behind(writer: HistoryWriter, reader: HistoryReader) -> None:
    bad: Any = None
    good = Row("ADDED", "lab", "a", "uid-a", "1", b"{}")
    with pytest.raises(sqlite3.IntegrityError):
        writer.store([
            Update(kind=POD, at=9.0, rows=(good,), position="1"),
            Update(kind=POD, at=9.5, rows=(Row("ADDED", "lab", bad, "uid-b", "2", b"{}"),)),
        ])  # fmt: skip
    assert not reader.ever("Pod")
    assert writer.position(POD) == ""
    assert writer.last_at == 0.0
    writer.store([Update(kind=POD, at=9.0, rows=(good,), position="1")])
    assert (reader.ever("Pod"), writer.position(POD)) == (True, "1")


# -- questions --------------------------------------------------------------------------------------


@pytest.fixture
def told(writer: HistoryWriter, reader: HistoryReader) -> HistoryReader:
    """A pod that is replaced by another of its name, one in another namespace, and a set."""
    writer.append([
        change(10, "ADDED", "a", 1, uid="first"),
        change(20, "MODIFIED", "a", 2, uid="first"),
        change(20, "ADDED", "b", 3, namespace="other"),
        change(30, "DELETED", "a", 4, uid="first"),
        change(40, "ADDED", "a", 5, uid="second"),
        change(50, "ADDED", "set", 6, kind="LeaderWorkerSet", api_version="leaderworkerset.x-k8s.io/v1"),
    ])  # fmt: skip
    return reader


@pytest.mark.parametrize(
    ("when", "versions"),
    [(9.9, []), (10, [1]), (19.9, [1]), (20, [2, 3]), (29, [2, 3]), (30, [3]), (40, [5, 3]), (99, [5, 3])],
)
def test_the_objects_as_they_were(told: HistoryReader, when: float, versions: list[int]) -> None:
    assert [obj["n"] for obj in told.at("Pod", when)] == versions


def test_at_narrows(told: HistoryReader) -> None:
    assert [obj["n"] for obj in told.at("Pod", 25, namespace="other")] == [3]
    assert [obj["n"] for obj in told.at("Pod", 25, name="a")] == [2]
    assert [obj["n"] for obj in told.at("Pod", 25, selector=lambda obj: obj["n"] == 3)] == [3]
    assert told.at("Pod", 25, api_version="v2") == []


def test_a_kind_may_share_its_name(writer: HistoryWriter, reader: HistoryReader) -> None:
    volcano = "batch.volcano.sh/v1alpha1"
    writer.append([change(1, "ADDED", "a", 1, kind="Job", api_version="batch/v1")])
    writer.append([change(1, "ADDED", "b", 2, kind="Job", api_version=volcano)])
    assert [each.name for each in reader.changes("Job")] == ["a", "b"]
    assert [each.name for each in reader.changes("Job", api_version=volcano)] == ["b"]
    assert [obj["n"] for obj in reader.at("Job", 2, api_version="batch/v1")] == [1]


@pytest.mark.parametrize(
    ("asked", "versions"),
    [
        ({}, ["1", "2", "3", "4", "5"]),
        ({"since": 20}, ["2", "3", "4", "5"]),
        ({"until": 20}, ["1", "2", "3"]),
        ({"since": 20.1, "until": 30}, ["4"]),
        ({"name": "a"}, ["1", "2", "4", "5"]),
        ({"uid": "second"}, ["5"]),
        ({"namespace": "other"}, ["3"]),
        ({"selector": lambda obj: obj["n"] % 2 == 0}, ["2", "4"]),
    ],
)
def test_changes_are_filtered(told: HistoryReader, asked: dict[str, Any], versions: list[str]) -> None:
    assert [each.resource_version for each in told.changes("Pod", **asked)] == versions
    assert told.ever("Pod", **asked)


def test_versions_of_one_object(told: HistoryReader) -> None:
    assert summary(told.versions("first")) == [("ADDED", "a", "1"), ("MODIFIED", "a", "2"), ("DELETED", "a", "4")]
    assert told.versions("nobody") == []


def test_never(told: HistoryReader) -> None:
    assert not told.ever("Pod", name="c")
    assert not told.ever("Pod", since=41)
    assert not told.ever("JobSet")


def test_last_change(told: HistoryReader) -> None:
    assert told.last_change(["Pod"]) == 40
    assert told.last_change(["Pod", "LeaderWorkerSet"]) == 50
    assert told.last_change(["JobSet"]) is None


def test_gaps_touch_a_range(writer: HistoryWriter, reader: HistoryReader) -> None:
    writer.gap("Pod", 10, 20, "first")
    writer.gap("Node", 10, 20, "another kind's")
    writer.gap(EVERY_KIND, 5, 30, "everyone's")
    assert reader.gaps("Pod") == [Gap(EVERY_KIND, 5, 30, "everyone's"), Gap("Pod", 10, 20, "first")]
    assert [gap.reason for gap in reader.gaps("Pod", since=20)] == ["everyone's", "first"]
    assert [gap.reason for gap in reader.gaps("Pod", since=20.1)] == ["everyone's"]
    assert [gap.reason for gap in reader.gaps("Pod", until=9.9)] == ["everyone's"]
    assert reader.gaps("Pod", since=31) == []


def test_a_gap_says_why() -> None:
    assert "no longer had" in Gap("Pod", 1, 2, "expired").sentence
    assert "another one" in Gap("Pod", 1, 2, "replaced").sentence
    assert "damaged" in Gap("Pod", 1, 2, "damaged").sentence
    assert Gap("Pod", 1, 2, "as told").sentence == "as told"


def test_the_latest_mark_counts(writer: HistoryWriter, reader: HistoryReader) -> None:
    assert reader.mark("step") is None
    writer.mark("step", 1.0, "one")
    writer.mark("step", 2.0, "two")
    assert reader.mark("step") == Mark("step", 2.0, "two")
    assert writer.marked("step") == "two"
    assert writer.marked("other") == ""


def test_objects_found_gone_are_buried_with_their_last_state(writer: HistoryWriter, reader: HistoryReader) -> None:
    writer.append([change(1, "ADDED", "a", 1), change(2, "MODIFIED", "a", 2), change(3, "ADDED", "b", 3)])
    assert writer.living(POD) == {"uid-a": "2", "uid-b": "3"}
    writer.store([Update(kind=POD, at=4, gone=(("uid-a", ""), ("uid-b", "9"), ("never-seen", "")))])
    assert summary(reader.changes("Pod", since=4)) == [("DELETED", "a", "2"), ("DELETED", "b", "9")]
    assert [each.object["n"] for each in reader.changes("Pod", since=4)] == [2, 3]
    assert writer.living(POD) == {}


def test_a_gap_of_an_update_begins_where_the_kind_was_last_good(writer: HistoryWriter, reader: HistoryReader) -> None:
    writer.store([Update(kind=POD, at=5, position="7")])
    writer.store([Update(kind=POD, at=8)])
    writer.store([Update(kind=POD, at=9, gap="expired", position="20")])
    assert reader.gaps("Pod") == [Gap("Pod", 5, 9, "expired")]
    assert writer.position(POD) == "20"
    writer.store([Update(kind=POD, at=10, position="")])
    assert writer.position(POD) == ""


# -- two processes ----------------------------------------------------------------------------------


def test_reading_while_it_is_written(path: Path, writer: HistoryWriter, reader: HistoryReader) -> None:
    def write() -> None:
        for number in range(1, 201):
            writer.append(
                [change(number, "ADDED", f"a{number}", number), change(number, "ADDED", f"b{number}", -number)]
            )

    writing = threading.Thread(target=write)
    writing.start()
    seen = [0]
    while seen[-1] < 400:
        alive = writing.is_alive()
        seen.append(len(list(reader.changes("Pod"))))
        assert alive or seen[-1] == 400
    writing.join()
    assert seen == sorted(seen)
    assert all(count % 2 == 0 for count in seen), "half a transaction was seen"


def test_what_a_killed_writer_committed_is_there(path: Path) -> None:
    script = (
        "import os, pathlib, sys\n"
        "from grader.history.store import HistoryWriter\n"
        "writer = HistoryWriter(pathlib.Path(sys.argv[1]))\n"
        "writer.gap('Pod', 1, 2, 'kept')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=False, cwd=Path(__file__).parents[3])
    assert path.with_name("history.db-wal").stat().st_size > 0
    with HistoryReader(path) as reader:
        assert [gap.reason for gap in reader.gaps("Pod")] == ["kept"]
    with HistoryWriter(path):
        pass
    assert list(path.parent.glob("*.damaged-*")) == []
    with HistoryReader(path) as reader:
        assert [gap.reason for gap in reader.gaps("Pod")] == ["kept"]


def test_only_the_owner_may_read(writer: HistoryWriter, path: Path) -> None:
    writer.mark("a", 1)
    assert {each.name: oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()} == {
        "history.db": "0o600",
        "history.db-wal": "0o600",
        "history.db-shm": "0o600",
    }


# -- damage -----------------------------------------------------------------------------------------


def foreign(path: Path) -> None:
    """A database, but not a history."""
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE change (a)")
    connection.close()


def scribbled(path: Path) -> None:
    """A page in the middle overwritten."""
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 4096)


DAMAGE = {
    "cut to nothing": lambda path: os.truncate(path, 0),
    "cut in the header": lambda path: os.truncate(path, 50),
    "cut in the middle": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut by a few bytes": lambda path: os.truncate(path, path.stat().st_size - 7),
    "text": lambda path: path.write_text("not a database\n" * 1000),
    "foreign": foreign,
    "scribbled": scribbled,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_history_is_kept_aside(path: Path, damage: Any, caplog: pytest.LogCaptureFixture) -> None:
    with HistoryWriter(path) as writer:
        writer.append(change(number, "ADDED", f"pod-{number}", number) for number in range(500))
    damage(path)
    broken = path.read_bytes()
    with HistoryWriter(path) as writer, HistoryReader(path) as reader:
        [aside] = path.parent.glob("history.db.damaged-*")
        assert aside.read_bytes() == broken
        assert aside.name in caplog.text
        assert not reader.ever("Pod")
        [gap] = reader.gaps("Pod")
        assert (gap.kind, gap.start, gap.reason) == (EVERY_KIND, 0.0, "damaged")
        assert gap.end > 1_700_000_000
        assert writer.last_at == gap.end


def test_the_log_goes_with_the_damaged_file(path: Path) -> None:
    path.write_text("not a database")
    path.with_name("history.db-wal").write_text("its log")
    with HistoryWriter(path) as writer:
        writer.mark("begun", 1.0)
    [log] = path.parent.glob("history.db.damaged-*-wal")
    assert log.read_text() == "its log"


def test_a_log_without_its_file_is_not_taken_for_ours(path: Path) -> None:
    with HistoryWriter(path) as writer:
        writer.append([change(1, "ADDED", "a", 1)])
        log = path.with_name("history.db-wal").read_bytes()
    path.unlink()
    path.with_name("history.db-wal").write_bytes(log)
    with HistoryWriter(path), HistoryReader(path) as reader:
        assert not reader.ever("Pod")
        assert reader.gaps("Pod") == []


def test_no_history(path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="no history at"):
        HistoryReader(path)


def test_what_is_no_history_is_said_so(path: Path) -> None:
    path.write_text("not a database" * 100)
    with pytest.raises(EnvironmentProblem, match="can't be read"):
        HistoryReader(path)


def test_an_object_that_is_garbage_is_said_so(path: Path, writer: HistoryWriter, reader: HistoryReader) -> None:
    row = Row("ADDED", "lab", "a", "uid-a", "1", b"garbage")
    writer.store([Update(kind=POD, at=9.0, rows=(row,))])
    with pytest.raises(EnvironmentProblem, match="can't be read"):
        reader.at("Pod", 10)
