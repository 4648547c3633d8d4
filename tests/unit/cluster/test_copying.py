"""Copies of folders that somebody else filled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cluster.sandbox.copying import Copying, TooMuchError


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    return source, target


def copying(*, size: int = 1000, entries: int = 10) -> Copying:
    return Copying(bytes=size, entries=entries)


def test_files_folders_and_links_with_their_modes(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "d" / "e").mkdir(parents=True)
    (source / "d" / "e" / "tool").write_text("x")
    (source / "d" / "e" / "tool").chmod(0o4755)
    (source / "d").chmod(0o750)
    (source / "away").symlink_to("/etc/shadow")
    copying().run(source, target)
    assert (target / "d" / "e" / "tool").read_text() == "x"
    assert (target / "d" / "e" / "tool").stat().st_mode & 0o7777 == 0o755, "no set-user-id"
    assert (target / "d").stat().st_mode & 0o777 == 0o750
    assert (target / "away").readlink() == Path("/etc/shadow"), "as a link, not what it leads to"


def test_what_is_no_file_is_passed_over(folders: tuple[Path, Path]) -> None:
    source, target = folders
    os.mkfifo(source / "pipe")
    (source / "a").write_text("a")
    copying().run(source, target)
    assert [path.name for path in target.iterdir()] == ["a"]


def test_nothing_is_written_through_a_link(folders: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = folders
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (source / "file").write_text("new")
    (source / "folder").mkdir()
    (source / "folder" / "kept").write_text("new")
    (target / "file").symlink_to(outside / "kept")
    (target / "folder").symlink_to(outside)
    copying().run(source, target)
    assert (outside / "kept").read_text() == "kept"
    assert (target / "file").read_text() == "new", "the link itself was replaced"
    assert (target / "folder").is_symlink(), "and one in a folder's place is left"


def test_what_is_there_stays_where_it_may_not_be_replaced(folders: tuple[Path, Path]) -> None:
    source, target = folders
    for name in ("mine", "new"):
        (source / name).write_text("lab's")
    (target / "mine").write_text("mine")
    Copying(bytes=100, entries=10, over=False).run(source, target)
    assert ((target / "mine").read_text(), (target / "new").read_text()) == ("mine", "lab's")


@pytest.mark.parametrize("bounds", [{"size": 9}, {"entries": 1}])
def test_more_than_may_be(folders: tuple[Path, Path], bounds: dict[str, int]) -> None:
    source, target = folders
    for name in ("a", "b"):
        (source / name).write_text("12345")
    with pytest.raises(TooMuchError):
        copying(**bounds).run(source, target)


def test_no_deeper_than_makes_sense(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "/".join(["d"] * 70)).mkdir(parents=True)
    with pytest.raises(TooMuchError):
        copying(entries=1000).run(source, target)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_whose_the_copies_are(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "d").mkdir()
    (source / "d" / "secret").write_text("x")
    (source / "d" / "secret").chmod(0o600)
    (source / "link").symlink_to("d")
    Copying(bytes=10, entries=10, owner=(65534, 65534)).run(source, target)
    owners = {path.name: path.lstat().st_uid for path in (target / "d", target / "d" / "secret", target / "link")}
    assert owners == {"d": 65534, "secret": 65534, "link": 65534}
