"""Bundles: there and back, and everything that is refused on the way in."""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries import store
from cluster.binaries.bundle import bundle, default_name, unpack
from cluster.errors import EnvironmentProblem, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cluster.binaries.conftest import Bench

Member = tuple[tarfile.TarInfo, bytes]


@pytest.fixture
def archive(bench: Bench, tmp_path: Path) -> Path:
    bundle(tmp_path / "b.tar.gz", bench.build())
    return tmp_path / "b.tar.gz"


def _rewrite(archive: Path, change: Callable[[list[Member]], list[Member]]) -> None:
    with tarfile.open(archive) as tar:
        members = [(each, file.read() if (file := tar.extractfile(each)) else b"") for each in tar]
    with tarfile.open(archive, "w:gz") as tar:
        for member, content in change(members):
            tar.addfile(member, io.BytesIO(content))


def _member(name: str, content: bytes = b"", **facts: object) -> Member:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in facts.items():
        setattr(member, key, value)
    return member, content


def _refused(bench: Bench, archive: Path, tmp_path: Path) -> str:
    """The message of the refusal; nothing may be left where it would have been unpacked."""
    other = tmp_path / "other"
    with pytest.raises(UsageProblem) as caught:
        unpack(archive, bench.lock, other)
    assert [path.name for path in other.iterdir()] == [".lock"]
    return caught.value.message


def test_a_bundle_gives_the_same_folder_elsewhere(bench: Bench, archive: Path, tmp_path: Path) -> None:
    original, copy = bench.root / bench.lock.key, unpack(archive, bench.lock, tmp_path / "other", bench.events.append)

    assert copy == tmp_path / "other" / bench.lock.key
    assert store.index_files(copy) == store.index_files(original)
    assert (copy / "index.json").read_text() == (original / "index.json").read_text()
    assert (copy / "bin" / "tool").stat().st_mode & 0o777 == 0o755
    assert (copy / "manifests" / "addon.json").stat().st_mode & 0o777 == 0o644
    assert not list((tmp_path / "other").glob(".making-*"))


def test_the_index_is_first_and_the_bytes_are_always_the_same(bench: Bench, archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as tar:
        assert tar.getnames()[0] == "index.json"
    again = bundle(tmp_path / "again.tar.gz", bench.root / bench.lock.key)
    assert again.path.read_bytes() == archive.read_bytes()
    assert store.FileEntry(size=again.size, sha256=again.sha256) == store.digest_file(archive)
    assert again.lock == bench.lock.digest


def test_unpacking_twice_changes_nothing(bench: Bench, archive: Path, tmp_path: Path) -> None:
    first = unpack(archive, bench.lock, tmp_path / "other")
    inode = first.stat().st_ino
    assert unpack(archive, bench.lock, tmp_path / "other").stat().st_ino == inode


def test_a_damaged_folder_is_not_bundled(bench: Bench, tmp_path: Path) -> None:
    tool = bench.build() / "bin" / "tool"
    tool.write_bytes(tool.read_bytes().swapcase())  # same size: only the digest tells

    with pytest.raises(EnvironmentProblem, match="tool is damaged"):
        bundle(tmp_path / "b.tar.gz", bench.root / bench.lock.key)
    assert not list(tmp_path.glob("*b.tar.gz*"))


def test_a_folder_without_index_is_not_bundled(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="no index"):
        bundle(tmp_path / "b.tar.gz", tmp_path)


def test_a_changed_byte_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    _rewrite(archive, lambda members: [(m, c.swapcase() if m.name == "bin/tool" else c) for m, c in members])
    assert "bin/tool is not what the index says" in _refused(bench, archive, tmp_path)


def test_a_larger_file_is_refused_before_it_is_written(bench: Bench, archive: Path, tmp_path: Path) -> None:
    def grow(members: list[Member]) -> list[Member]:
        return [_member(m.name, c * 1000) if m.name == "bin/tool" else (m, c) for m, c in members]

    _rewrite(archive, grow)
    assert "bin/tool is not what the index says" in _refused(bench, archive, tmp_path)


@pytest.mark.parametrize(
    "extra",
    [
        _member("../evil", b"x"),
        _member("bin/../../evil", b"x"),
        _member("/evil", b"x"),
        _member("bin/evil", b"x"),
        _member("bin/evil", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        _member("bin", type=tarfile.SYMTYPE, linkname="/tmp"),
    ],
    ids=["above", "above from bin", "absolute", "not in the index", "link", "link as a folder"],
)
def test_members_that_do_not_belong_are_refused(bench: Bench, archive: Path, tmp_path: Path, extra: Member) -> None:
    _rewrite(archive, lambda members: [*members, extra])
    assert "does not belong into it" in _refused(bench, archive, tmp_path)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("name", ["../evil", "bin/../../evil", "/evil", "evil", "bin/sub/evil", "index.json"])
def test_an_index_that_names_files_elsewhere_is_not_believed(
    bench: Bench, archive: Path, tmp_path: Path, name: str
) -> None:
    def name_it(members: list[Member]) -> list[Member]:
        index = json.loads(members[0][1])
        index["files"][name] = {"size": 1, "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
        return [_member("index.json", json.dumps(index).encode()), *members[1:], _member(name, b"x")]

    _rewrite(archive, name_it)
    assert "does not belong into it" in _refused(bench, archive, tmp_path)
    assert not (tmp_path / "evil").exists()


def test_a_link_in_place_of_a_program_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    def link(members: list[Member]) -> list[Member]:
        other = _member("bin/tool", type=tarfile.LNKTYPE, linkname="/etc/passwd")
        return [other if m.name == "bin/tool" else (m, c) for m, c in members]

    _rewrite(archive, link)
    assert "does not belong into it" in _refused(bench, archive, tmp_path)


def test_a_name_that_comes_twice_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    _rewrite(archive, lambda members: [*members, members[-1]])
    assert "does not belong into it" in _refused(bench, archive, tmp_path)


def test_a_missing_member_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    _rewrite(archive, lambda members: [(m, c) for m, c in members if m.name != "bin/tool"])
    assert "bin/tool is missing" in _refused(bench, archive, tmp_path)


def test_a_program_missing_from_member_and_index_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    def forget(members: list[Member]) -> list[Member]:
        index = json.loads(members[0][1])
        del index["files"]["bin/tool"]
        rest = [(m, c) for m, c in members[1:] if m.name != "bin/tool"]
        return [_member("index.json", json.dumps(index).encode()), *rest]

    _rewrite(archive, forget)
    assert "bin/tool is missing" in _refused(bench, archive, tmp_path)


def test_an_archive_that_does_not_begin_with_the_index_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    _rewrite(archive, lambda members: members[::-1])
    assert "does not begin with index.json" in _refused(bench, archive, tmp_path)


def test_another_machine_s_bundle_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    bench.lock = dataclasses.replace(bench.lock, goarch="arm64", digest="0" * 64)
    assert "it is for amd64 machines, this one is arm64" in _refused(bench, archive, tmp_path)


def test_another_version_s_bundle_is_refused(bench: Bench, archive: Path, tmp_path: Path) -> None:
    ours = bench.lock.digest[:12]
    bench.lock = dataclasses.replace(bench.lock, digest="0" * 64)
    message = _refused(bench, archive, tmp_path)
    assert f"its lock is {ours}, this version's 000000000000" in message


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9])
def test_a_cut_archive_is_refused(bench: Bench, archive: Path, tmp_path: Path, share: float) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    assert _refused(bench, archive, tmp_path)


def test_what_is_not_an_archive_is_refused(bench: Bench, tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_text("hello")
    packed.write_bytes(gzip.compress(b"hello" * 1000))
    for file in (plain, packed):
        assert "damaged or not a bundle" in _refused(bench, file, tmp_path)


def test_a_bundle_that_is_not_there_is_said(bench: Bench, tmp_path: Path) -> None:
    assert "No such file" in _refused(bench, tmp_path / "nothing.tar.gz", tmp_path)


def test_the_default_name_tells_lock_and_machine(bench: Bench) -> None:
    assert default_name(bench.lock) == f"batchlab-{bench.lock.key}-linux-amd64.tar.gz"
