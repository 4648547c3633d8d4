"""What of the host a sandbox shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cluster.sandbox import rootfs


def test_an_environment_behind_a_link_is_shown_by_both_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "real" / "venv").mkdir(parents=True)
    (tmp_path / "checkout" / "venv").symlink_to(tmp_path / "real" / "venv")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "checkout" / "venv"))
    folders = rootfs.program_folders()
    for name in (tmp_path / "checkout" / "venv", tmp_path / "real" / "venv"):
        assert any(name.is_relative_to(folder) for folder in folders), name


def test_a_folder_within_another_is_not_shown_twice() -> None:
    folders = rootfs.program_folders()
    assert [(a, b) for a in folders for b in folders if a != b and a.is_relative_to(b)] == []
