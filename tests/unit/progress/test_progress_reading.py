"""What is remembered of articles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from grader.progress.reading import FILE, read_articles, record_article


def test_an_article_is_read_when_it_was_first(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    assert read_articles(folder) == {}
    assert not folder.exists()
    assert record_article("pods", 10.0, folder) == ""
    assert record_article("more", 20.0, folder) == ""
    assert record_article("pods", 30.0, folder) == ""
    assert read_articles(folder) == {"pods": 10.0, "more": 20.0}
    assert json.loads((folder / FILE).read_text()) == {"schema": 1, "articles": {"pods": 10.0, "more": 20.0}}
    assert (folder / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 1, "articles": {"a": "x"}}', '{"schema": "1"}'])
def test_a_damaged_file_is_kept_and_a_new_one_begun(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    warning = record_article("pods", 10.0, tmp_path)
    assert warning.startswith(f"{FILE} was damaged (")
    assert read_articles(tmp_path) == {"pods": 10.0}
    [kept] = tmp_path.glob(f"{FILE}.damaged-*")
    assert kept.read_text() == text


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"schema": 2}')
    with pytest.raises(EnvironmentProblem, match="was written by a newer Batchlab"):
        record_article("pods", 10.0, tmp_path)
    assert (tmp_path / FILE).read_text() == '{"schema": 2}'
