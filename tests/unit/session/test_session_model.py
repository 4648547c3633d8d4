"""session.json: kept, read, and set aside when it is damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.session.model import Session, load_session, save_session

SESSION = Session(lab="lab-lws", workdir="gsb-lws", binaries="/cache/bin/x", created=100.0, started=250.5)


def test_a_session_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    save_session(tmp_path, SESSION)
    assert load_session(tmp_path) == (SESSION, "")
    assert (tmp_path / "session.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((tmp_path / "session.json").read_text())["schema"] == "batchlab/session/v1"
    assert [path.name for path in tmp_path.iterdir()] == ["session.json"]


def test_no_session_is_no_problem(tmp_path: Path) -> None:
    assert load_session(tmp_path) == (None, "")
    assert load_session(tmp_path / "none") == (None, "")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"schema": "batchlab/session/v1"}',
        '{"schema": "batchlab/session/v2", "lab": "x"}',
        '{"schema": "batchlab/session/v1", "lab": "x", "workdir": "w", "binaries": "b", "created": [], "started": 1}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_kept_aside_and_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "session.json").write_text(content)
    session, told = load_session(tmp_path)
    assert session is None
    [kept] = tmp_path.iterdir()
    assert kept.name.startswith("session.json.damaged-")
    assert kept.read_text() == content
    assert told == f"{tmp_path}/session.json was damaged; it is kept as {kept.name}"


def test_a_folder_in_its_place_is_moved_aside_too(tmp_path: Path) -> None:
    (tmp_path / "session.json").mkdir()
    session, told = load_session(tmp_path)
    assert session is None
    assert "was damaged" in told


def test_a_pipe_in_its_place_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "session.json")
    session, told = load_session(tmp_path)
    assert session is None
    assert "was damaged" in told
