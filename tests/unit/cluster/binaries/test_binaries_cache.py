"""Where programs are taken from, in which order, and what is said of a damaged folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries import store
from cluster.binaries.bundle import bundle
from cluster.binaries.cache import ensure, listing, locate
from cluster.errors import UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable

    from cluster.binaries.lock import Lock
    from cluster.binaries.progress import Progress
    from tests.unit.cluster.binaries.conftest import Bench


@pytest.fixture
def make(bench: Bench) -> Callable[[Lock, Path, Progress], Path]:
    def built(lock: Lock, root: Path, progress: Progress) -> Path:
        return bench.build()

    return built


def _never(lock: Lock, root: Path, progress: Progress) -> Path:
    pytest.fail("built, although it was not needed")


def test_the_first_time_builds_and_the_second_does_not(
    bench: Bench, make: Callable[[Lock, Path, Progress], Path]
) -> None:
    first = ensure(lock=bench.lock, root=bench.root, build=make)
    second = ensure(lock=bench.lock, root=bench.root, build=_never)
    assert first == second == bench.root / bench.lock.key


@pytest.mark.parametrize("how", ["missing", "cut", "not executable", "no index", "broken index", "other lock"])
def test_a_damaged_folder_is_kept_aside_and_made_again(
    bench: Bench, make: Callable[[Lock, Path, Progress], Path], how: str
) -> None:
    folder = bench.build()
    tool, index = folder / "bin" / "tool", folder / "index.json"
    if how == "missing":
        tool.unlink()
    elif how == "cut":
        tool.write_bytes(tool.read_bytes()[:-1])
    elif how == "not executable":
        tool.chmod(0o644)
    elif how == "no index":
        index.unlink()
    elif how == "broken index":
        index.write_text("{")
    else:
        index.write_text(json.dumps(json.loads(index.read_text()) | {"lock": "f" * 64}))
    bench.events.clear()

    again = ensure(on_progress=bench.events.append, lock=bench.lock, root=bench.root, build=make)

    kept = bench.root / f".damaged-{bench.lock.key}"
    assert again == folder
    assert store.damage(again, store.read_index(again)) == ""
    assert (kept / "bin" / "kubectl").is_file()
    assert str(kept) in bench.said("note")[0]


def test_only_one_damaged_folder_is_kept(bench: Bench, make: Callable[[Lock, Path, Progress], Path]) -> None:
    for _time in range(2):
        (bench.build() / "bin" / "tool").unlink()
        ensure(lock=bench.lock, root=bench.root, build=make)
        (bench.root / bench.lock.key / "bin" / "tool").unlink()
        ensure(lock=bench.lock, root=bench.root, build=make)
    assert len(list(bench.root.glob(".damaged-*"))) == 1


def test_a_given_folder_comes_before_the_cache(bench: Bench, tmp_path: Path) -> None:
    own = tmp_path / "own"
    bench.build().rename(own)
    assert ensure(own, lock=bench.lock, root=bench.root, build=_never) == own


def test_the_environment_gives_a_folder_too(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    bench.build().rename(own)
    monkeypatch.setenv("BATCHLAB_BIN_DIR", str(own))
    assert ensure(lock=bench.lock, root=bench.root, build=_never) == own
    assert locate(lock=bench.lock, root=bench.root) == own


def test_a_given_folder_without_index_has_to_be_complete(bench: Bench, tmp_path: Path) -> None:
    own = tmp_path / "own"
    bench.build().rename(own)
    (own / "index.json").unlink()
    assert ensure(own, lock=bench.lock, root=bench.root, build=_never) == own

    (own / "bin" / "tool").unlink()
    with pytest.raises(UsageProblem, match="bin/tool is missing"):
        ensure(own, lock=bench.lock, root=bench.root, build=_never)


def test_a_given_folder_of_another_version_is_refused(bench: Bench, tmp_path: Path) -> None:
    own = tmp_path / "own"
    bench.build().rename(own)
    index = own / "index.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | {"lock": "f" * 64}))
    with pytest.raises(UsageProblem, match="another version") as caught:
        ensure(own, lock=bench.lock, root=bench.root, build=_never)
    assert "BATCHLAB_BIN_DIR" in caught.value.advice


def test_a_given_file_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("")
    with pytest.raises(UsageProblem, match="not a folder"):
        ensure(tmp_path / "own", lock=bench.lock, root=bench.root, build=_never)


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_bundle_comes_before_a_build_but_after_the_cache(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    archive = tmp_path / "b.tar.gz"
    bundle(archive, bench.build())
    if by == "environment":
        monkeypatch.setenv("BATCHLAB_BUNDLE", str(archive))
    given = archive if by == "argument" else None
    other = tmp_path / "other"

    unpacked = ensure(bundle=given, lock=bench.lock, root=other, build=_never)
    assert unpacked == other / bench.lock.key

    archive.write_bytes(b"no longer looked at")
    assert ensure(bundle=given, lock=bench.lock, root=other, build=_never) == unpacked


def test_locate_makes_nothing(bench: Bench) -> None:
    assert locate(lock=bench.lock, root=bench.root) is None
    assert not bench.root.exists()


def test_the_listing_before_and_after_a_build(bench: Bench) -> None:
    before = listing(lock=bench.lock, root=bench.root)
    folder = bench.build()
    after = listing(lock=bench.lock, root=bench.root)

    assert (before.folder, before.built, before.go, before.size) == (None, None, "", 0)
    assert [(row.name, row.version, row.size) for row in before.programs] == [
        ("kubectl", "v1.35.4", None),
        ("tool", "v0.9.0", None),
    ]
    assert after.folder == folder
    assert after.built is not None
    assert after.go == "go1.26.8"
    assert [row.size for row in after.programs] == [
        (folder / "bin" / name).stat().st_size for name in ("kubectl", "tool")
    ]
    assert after.size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
