"""Learners' files: every trouble is one line, none is a traceback, a hang or a read of a gigabyte."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from grader.checks.work import LARGEST, FileTrouble, WorkFolder


def trouble(root: Path, name: str = "a.txt") -> tuple[str, str]:
    with pytest.raises(FileTrouble) as raised:
        WorkFolder(root).read(name)
    assert "\n" not in raised.value.message
    return raised.value.message, raised.value.where


def test_text_and_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\r\n  \rtwo\x0bstill two\n")
    file = WorkFolder(tmp_path).read("a.txt")
    assert file.text == "one\n\n  \ntwo\x0bstill two\n"
    assert [(line.number, line.text) for line in file.lines] == [(1, "one"), (4, "two\x0bstill two")]
    assert file.place(4) == "a.txt:4"


def test_modification_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    os.utime(tmp_path / "a.txt", (1000.5, 1000.5))
    assert WorkFolder(tmp_path).read("a.txt").mtime == 1000.5


def test_missing(tmp_path: Path) -> None:
    assert trouble(tmp_path) == ("a.txt does not exist", "a.txt")
    (tmp_path / "names.txt.txt").write_text("x")
    assert trouble(tmp_path, "names.txt")[0] == "names.txt does not exist (there is names.txt.txt)"
    assert trouble(tmp_path, "sub/names.txt")[0] == "sub/names.txt does not exist"


@pytest.mark.parametrize(
    ("wanted", "there", "guess"),
    [
        ("borrow.txt", "borow.txt", True),
        ("borrow.txt", "borrow.text", True),
        ("borrow.txt", "Borrow", True),
        ("lws.yaml", "lws.yml", True),
        # Other files of the same lab, which are right as they are.
        ("never.txt", "never.yaml", False),
        ("position.txt", "waiting.txt", False),
        ("train.log", "train.sh", False),
    ],
)
def test_only_a_file_that_may_be_meant_is_named(wanted: str, there: str, guess: bool, tmp_path: Path) -> None:
    (tmp_path / there).write_text("x")
    said = f" (there is {there})" if guess else ""
    assert trouble(tmp_path, wanted)[0] == f"{wanted} does not exist{said}"


def test_a_file_that_is_asked_for_is_meant_as_itself(tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text("x")
    work = WorkFolder(tmp_path, ["hosts.txt", "podsets.txt"])
    with pytest.raises(FileTrouble) as raised:
        work.read("podsets.txt")
    assert raised.value.message == "podsets.txt does not exist"
    (tmp_path / "podset.txt").write_text("x")
    with pytest.raises(FileTrouble) as raised:
        work.read("podsets.txt")
    assert raised.value.message == "podsets.txt does not exist (there is podset.txt)"


def test_no_work_folder(tmp_path: Path) -> None:
    assert trouble(tmp_path / "nowhere")[0] == "a.txt does not exist"


@pytest.mark.parametrize("data", [b"", b" \r\n\t\n", b"\xef\xbb\xbf"])
def test_empty(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    assert trouble(tmp_path)[0] == "a.txt is empty"


def test_binary(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x7fELF\0\0\1")
    assert trouble(tmp_path)[0] == "a.txt is a binary file, not text"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(encoding: str, tmp_path: Path) -> None:
    text = "a=b" if encoding == "utf-16" else "\ufeffa=b"
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert trouble(tmp_path)[0] == "a.txt is saved as UTF-16; save it as UTF-8"


def test_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("one\nzwölf\n".encode("latin-1"))
    assert trouble(tmp_path) == ("a.txt is not UTF-8 text: line 2 holds the byte 0xf6; save it as UTF-8", "a.txt:2")


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    assert trouble(tmp_path)[0] == "a.txt is a folder, not a file"


def test_file_used_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert trouble(tmp_path, "a.txt/b.txt")[0] == "a.txt/b.txt can't be read: Not a directory"


def test_link_inside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / "a.txt").symlink_to("b.txt")
    assert WorkFolder(tmp_path).read("a.txt").text == "x"


def test_link_out_of_the_folder(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("x")
    for target in ("../secret", "/etc/passwd"):
        (work / "a.txt").unlink(missing_ok=True)
        (work / "a.txt").symlink_to(target)
        assert trouble(work)[0] == "a.txt leads out of the work folder; put the file itself there"


def test_folder_that_leads_out(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "a.txt").write_text("x")
    (work / "sub").symlink_to(tmp_path)
    assert trouble(work, "sub/a.txt")[0] == "sub/a.txt leads out of the work folder; put the file itself there"


def test_work_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.txt").write_text("x")
    (tmp_path / "work").symlink_to("real")
    assert WorkFolder(tmp_path / "work").read("a.txt").text == "x"


def test_link_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("b.txt")
    (tmp_path / "b.txt").symlink_to("a.txt")
    assert trouble(tmp_path)[0] == "a.txt is a link that leads to itself"


def test_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("b.txt")
    assert trouble(tmp_path)[0] == "a.txt is a link to a file that does not exist"


def test_gigabyte_is_never_read(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as big:
        big.truncate(1024**3)
    tracemalloc.start()
    assert trouble(tmp_path)[0] == "a.txt is over 1 MiB: too large for an answer"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LARGEST


def test_largest_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * LARGEST)
    assert len(WorkFolder(tmp_path).read("a.txt").text) == LARGEST
    (tmp_path / "a.txt").write_bytes(b"x" * (LARGEST + 1))
    assert "over 1 MiB" in trouble(tmp_path)[0]


def test_endless_file_of_no_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of /proc say they have no bytes; what is read is bounded all the same."""
    (tmp_path / "a.txt").write_bytes(b"x" * (LARGEST + 1))
    real = os.fstat

    def liar(descriptor: int) -> os.stat_result:
        values = list(real(descriptor))
        values[6] = 0
        return os.stat_result(values)

    monkeypatch.setattr("grader.checks.work.os.fstat", liar)
    assert "over 1 MiB" in trouble(tmp_path)[0]


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal is played."""
    (tmp_path / "a.txt").write_text("x")

    def refuse(*_args: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("grader.checks.work.os.open", refuse)
    assert trouble(tmp_path)[0] == "a.txt can't be read: permission denied"


def test_disk_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("x")

    def refuse(*_args: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("grader.checks.work.os.open", refuse)
    assert trouble(tmp_path)[0] == "a.txt can't be read: Input/output error"


def test_fifo_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    assert trouble(tmp_path)[0] == "a.txt is not a plain file"


def test_fifo_put_there_at_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "a.txt").write_text("x")
    real = os.open
    monkeypatch.setattr("grader.checks.work.os.open", lambda _path, flags: real(tmp_path / "fifo", flags))
    assert trouble(tmp_path)[0] == "a.txt is not a plain file"


def test_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # socket paths are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a.txt")
        assert trouble(tmp_path)[0] == "a.txt is not a plain file"


def test_becomes_a_failed_verdict(tmp_path: Path) -> None:
    with pytest.raises(FileTrouble) as raised:
        WorkFolder(tmp_path).read("a.txt")
    verdict = raised.value.verdict("a file")
    assert (verdict.passed, verdict.finding.wanted, verdict.finding.saw, verdict.finding.where) == (
        False,
        "a file",
        "a.txt does not exist",
        ("a.txt",),
    )
