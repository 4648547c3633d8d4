"""Problems with their places, near names, and files that are no text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.lab.problems import MAX_BYTES, LabProblem, did_you_mean, read_source, unknown


def problem_of(path: Path) -> LabProblem:
    found: list[LabProblem] = []
    assert read_source(path, found) is None
    (problem,) = found
    assert problem.file == str(path)
    return problem


def test_a_problem_reads_like_a_compilers() -> None:
    assert str(LabProblem("labs/x/lab.md", 14, 5, "unknown key")) == "labs/x/lab.md:14:5: unknown key"


def test_problems_sort_by_place() -> None:
    problems = [LabProblem("b", 1, 1, "x"), LabProblem("a", 10, 1, "x"), LabProblem("a", 9, 2, "x")]
    assert [problem.line for problem in sorted(problems)] == [9, 10, 1]


def test_missing_file(tmp_path: Path) -> None:
    assert problem_of(tmp_path / "lab.md").message == "is missing"


def test_folder_and_pipe_are_no_files(tmp_path: Path) -> None:
    assert problem_of(tmp_path).message == "is not a file"
    os.mkfifo(tmp_path / "pipe")
    assert problem_of(tmp_path / "pipe").message == "is not a file"


def test_file_behind_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert problem_of(tmp_path / "a" / "lab.md").message == "can't be read: Not a directory"


def test_size(tmp_path: Path) -> None:
    path = tmp_path / "lab.md"
    path.write_bytes(b"x" * MAX_BYTES)
    assert read_source(path, []) is not None
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    assert problem_of(path).message == "is larger than 1 MiB"


def test_not_utf_8_with_the_place_in_characters(tmp_path: Path) -> None:
    path = tmp_path / "lab.md"
    path.write_bytes("first\n둘 x".encode() + b"\xff\n")
    assert problem_of(path) == LabProblem(str(path), 2, 4, "is not UTF-8: byte 0xff here")


def test_nul(tmp_path: Path) -> None:
    path = tmp_path / "lab.md"
    path.write_bytes(b"a\nb\0c")
    assert problem_of(path) == LabProblem(str(path), 2, 2, "holds a NUL byte: is it text?")


@pytest.mark.parametrize(
    ("word", "near"), [("titel", " (did you mean 'title'?)"), ("TITLE", " (did you mean 'title'?)"), ("zzz", "")]
)
def test_near_names(word: str, near: str) -> None:
    assert did_you_mean(word, ["title", "minutes"]) == near


def test_unknown_word_never_reaches_the_terminal_raw() -> None:
    assert unknown("unknown key '{word}'", "a\x1b[31m", ["b"]) == "unknown key 'a\\x1b[31m'; allowed: b"
