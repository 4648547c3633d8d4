"""The record on disk: what is written stays, what a crash cuts short is cut off, what is taken away is missed."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import pytest

from grader.record import journal
from grader.record.chain import examine
from grader.record.journal import END, FILE, append, read_record
from grader.record.keys import SESSION_KEY
from tests.classes import check, key


def write(home: Path, number: int = 0) -> str:
    return append(home, "lab-toy", lambda _entries: check(at=number), lambda: key(1))


def lines(home: Path) -> list[bytes]:
    return (home / FILE).read_bytes().splitlines(keepends=True)


def faults(home: Path) -> list[tuple[int | None, str]]:
    record = read_record(home)
    assert record is not None
    found: list[tuple[int | None, str]] = [
        (fault.entry, fault.message) for fault in examine(record.head, record.entries)
    ]
    last = record.entries[-1]["seq"] if record.entries else -1
    return found if record.end["next"] == last + 1 else [*found, (last + 1, f"{record.end['next']} were written")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number in range(3):
        assert write(tmp_path, number) == ""
    return tmp_path


def test_entries_follow_one_another(home: Path) -> None:
    record = read_record(home)
    assert record is not None
    assert [entry["seq"] for entry in record.entries] == [0, 1, 2]
    assert record.head["learner"] == key(1).public
    assert record.end["kept"] is True
    assert faults(home) == []


def test_the_files_are_their_owners_alone(home: Path) -> None:
    for name in (FILE, END, SESSION_KEY):
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600, name


def test_nothing_is_written_where_nothing_is_to_be_told(home: Path) -> None:
    before = lines(home)
    assert append(home, "lab-toy", lambda _entries: None) == ""
    assert lines(home) == before


def test_what_is_told_may_depend_on_what_was_told(home: Path) -> None:
    seen: list[Any] = []
    append(home, "lab-toy", seen.extend)
    assert [entry["seq"] for entry in seen] == [0, 1, 2]


def test_half_a_line_is_cut_off_wherever_the_crash_came(home: Path) -> None:
    end = (home / END).read_bytes()
    whole = lines(home)
    write(home, 3)
    line = lines(home)[4]
    for size in range(1, len(line)):
        (home / FILE).write_bytes(b"".join(whole) + line[:size])
        (home / END).write_bytes(end)
        record = read_record(home)
        assert record is not None
        assert len(record.entries) == 3
        write(home, 4)
        assert faults(home) == []
        assert len(lines(home)) == 5


def test_a_crash_between_the_line_and_the_end(home: Path) -> None:
    end = (home / END).read_bytes()
    write(home, 3)
    (home / END).write_bytes(end)
    record = read_record(home)
    assert record is not None
    assert record.end["next"] == 4
    write(home, 4)
    assert faults(home) == []
    assert len(lines(home)) == 6


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_lines_that_were_taken_away_stay_missing(home: Path, gone: int) -> None:
    (home / FILE).write_bytes(b"".join(lines(home)[: 4 - gone]))
    assert faults(home) == [(3 - gone, "3 were written")]
    write(home, 5)
    [(at, message)] = faults(home)
    assert at == 3 - gone
    assert message.startswith("is missing")


def test_without_the_end_it_goes_on_and_says_so(home: Path) -> None:
    (home / FILE).write_bytes(b"".join(lines(home)[:3]))
    (home / END).unlink()
    record = read_record(home)
    assert record is not None
    assert record.end["kept"] is False
    write(home, 5)
    record = read_record(home)
    assert record is not None
    assert record.entries[-1]["unsure"] is True
    assert record.end["kept"] is True
    assert faults(home) == []


@pytest.mark.parametrize("end", [b"", b"null", b"[]", b'{"next": 2}', b'{"next": 9, "last": "x", "sig": "AAAA"}'])
def test_an_end_that_nobody_signed_is_none(home: Path, end: bytes) -> None:
    (home / END).write_bytes(end)
    record = read_record(home)
    assert record is not None
    assert (record.end["next"], record.end["kept"]) == (3, False)


def test_a_line_that_was_changed_is_kept_to_be_seen(home: Path) -> None:
    changed = lines(home)
    changed[2] = b"nonsense\n"
    (home / FILE).write_bytes(b"".join(changed))
    write(home, 5)
    assert [at for at, _message in faults(home)] == [1]


def test_a_record_of_another_key_is_set_aside(home: Path) -> None:
    (home / SESSION_KEY).unlink()
    note = write(home, 5)
    assert "record.jsonl was damaged (it is of another key)" in note
    assert len(list(home.glob("record.jsonl.damaged-*"))) == 1
    record = read_record(home)
    assert record is not None
    assert [entry["seq"] for entry in record.entries] == [0]
    assert record.end == {**record.end, "next": 1, "kept": True}


def test_nonsense_in_the_place_of_the_key(home: Path) -> None:
    (home / SESSION_KEY).write_text("no key")
    write(home, 5)
    assert len(list(home.glob("record.key.damaged-*"))) == 1
    assert faults(home) == []


def test_a_folder_in_the_place_of_the_record(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert "it is a directory" in write(tmp_path)
    assert faults(tmp_path) == []


def test_no_record(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    (tmp_path / FILE).write_bytes(b"")
    assert read_record(tmp_path) is None
    (tmp_path / FILE).write_bytes(b"[1]\n")
    assert read_record(tmp_path) is None


def test_it_grows_no_further_than_its_bound(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "FULL_AT", 1000)
    size = (home / FILE).stat().st_size
    assert size > 1000
    assert "full" in write(home, 5)
    assert (home / FILE).stat().st_size == size


def _many(home: Path, begin: int) -> None:
    for number in range(20):
        write(home, begin + number)


def test_two_writers_make_one_chain(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_many, args=(tmp_path, begin)) for begin in (0, 100, 200)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert faults(tmp_path) == []
    assert len(lines(tmp_path)) == 61
    assert json.loads(lines(tmp_path)[-1])["seq"] == 59
