"""Snapshots: what is refused, what is made new, what makes another recipe."""

from __future__ import annotations

import datetime
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster import pki
from cluster.components.control_plane import DATASTORE
from cluster.machine import Layout, MachineConfig
from cluster.pki import write_pki
from cluster.plan import plan, waves
from cluster.snapshots import recipe as recipes
from cluster.snapshots.archive import FORMAT, Snapshot, Unusable
from cluster.snapshots.recipe import recipe
from cluster.snapshots.renewal import renewed
from cluster.snapshots.shelf import Shelf
from cluster.spec import ClusterSpec, NodeSpec

MADE = 1_796_000_000.0  # 2026-11-30T00:53:20Z
UID = "3f2b1c4d-0a1b-4c2d-8e3f-0123456789ab"
OTHER = "9f2b1c4d-0a1b-4c2d-8e3f-0123456789ab"
# Time{seconds: 1 796 000 000} in protobuf: field 1, then seven bits a byte, the lowest first.
SECONDS = bytes([0x08, 0x80, 0x92, 0xB3, 0xD8, 0x06])


def config(tmp_path: Path, **spec: Any) -> MachineConfig:
    binaries = tmp_path / "binaries"
    (binaries / "bin").mkdir(parents=True, exist_ok=True)
    (binaries / "manifests").mkdir(exist_ok=True)
    (binaries / "bin/etcd").touch()
    nodes = (NodeSpec(name="gpu-a", gpus=4),)
    return MachineConfig(
        name="lab-x", home=tmp_path / "home", binaries=binaries, spec=ClusterSpec(**{"nodes": nodes, **spec})
    )


def snapshot(**more: Any) -> Snapshot:
    given: dict[str, Any] = {
        "recipe": "r",
        "began": MADE - 8,
        "made": MADE,
        "entries": {b"/registry/a": b"\x00\xff", b"/registry/b": b"", b"/registry/c": b"k8s"},
        "keys": {},
    }
    return Snapshot(**{**given, **more})


# -- the file ---------------------------------------------------------------------------------------


def test_a_snapshot_comes_back_as_it_was() -> None:
    kept = snapshot(keys={"webhook-ca.crt": "PEM"})
    assert Snapshot.from_bytes(kept.to_bytes()) == kept


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda _data: b"",
        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
        lambda data: b"0" + data[1:],
        lambda data: data.replace(b'"recipe": "r"', b'"recipe": "s"'),
        lambda data: data + b"more",
    ],
    ids=["one byte short", "half written", "empty", "a flipped bit", "digest", "header", "longer"],
)
def test_what_is_not_wholly_what_was_written_is_damaged(damage: Any) -> None:
    with pytest.raises(Unusable, match="digest") as raised:
        Snapshot.from_bytes(damage(snapshot().to_bytes()))
    assert raised.value.damaged


def test_another_format_is_another_version_and_no_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.snapshots.archive.FORMAT", FORMAT + 1)
    later = snapshot().to_bytes()
    monkeypatch.undo()
    with pytest.raises(Unusable, match=f"format {FORMAT + 1}, not {FORMAT}") as raised:
        Snapshot.from_bytes(later)
    assert not raised.value.damaged


# -- the shelf --------------------------------------------------------------------------------------


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def shelf(tmp_path: Path, said: list[str]) -> Shelf:
    return Shelf(tmp_path / "snapshots", said.append)


def kept(shelf: Shelf, tmp_path: Path, what: Snapshot) -> Path:
    taken = tmp_path / "taken"
    taken.write_bytes(what.to_bytes())
    shelf.keep(taken)
    assert not taken.exists()
    return shelf.folder / f"{what.recipe}.snapshot"


def test_what_is_kept_is_found_and_copied(shelf: Shelf, tmp_path: Path, said: list[str]) -> None:
    path = kept(shelf, tmp_path, snapshot())
    assert path.stat().st_mode & 0o777 == 0o600
    assert (shelf.has("r"), shelf.has("unknown")) == (True, False)
    assert shelf.take("r", tmp_path / "copy") == snapshot()
    assert (tmp_path / "copy").read_bytes() == path.read_bytes()
    assert said == []


def test_an_unknown_recipe_has_none(shelf: Shelf, tmp_path: Path, said: list[str]) -> None:
    assert shelf.take("unknown", tmp_path / "copy") is None
    assert said == []


def test_a_damaged_one_is_kept_aside_and_said(shelf: Shelf, tmp_path: Path, said: list[str]) -> None:
    path = kept(shelf, tmp_path, snapshot())
    path.write_bytes(path.read_bytes()[:-10])
    assert shelf.take("r", tmp_path / "copy") is None
    assert not path.exists()
    assert path.with_suffix(".damaged").exists()
    assert not (tmp_path / "copy").exists()
    assert len(said) == 1
    assert str(path.with_suffix(".damaged")) in said[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"recipe": "other"}, "another recipe"), ({"made": time.time() + 3600}, "in the future")],
)
def test_one_that_does_not_fit_is_said_and_removed(
    shelf: Shelf, tmp_path: Path, said: list[str], change: dict[str, Any], reason: str
) -> None:
    path = kept(shelf, tmp_path, snapshot(**change))
    path.replace(shelf.folder / "r.snapshot")
    assert shelf.take("r", tmp_path / "copy") is None
    assert list(shelf.folder.iterdir()) == []
    assert reason in said[0]


@pytest.mark.parametrize(("hours", "fits"), [(365 * 24, True), (6 * 24, False), (-0.5, False)])
def test_certificates_that_end_soon(
    shelf: Shelf, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, hours: float, fits: bool
) -> None:
    monkeypatch.setattr(pki, "LIFETIME", datetime.timedelta(hours=hours))
    machine = config(tmp_path)
    write_pki(machine, {"lws": ("127.0.0.1",)})
    certificate = Layout(machine.home).pki / "lws/tls.crt"
    kept(shelf, tmp_path, snapshot(keys={"lws/tls.crt": certificate.read_text()}))
    assert (shelf.take("r", tmp_path / "copy") is not None) == fits
    assert fits or "certificates are valid until" in said[0]


def test_a_folder_that_can_not_be_written_is_said_and_no_failure(tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "file").touch()
    taken = tmp_path / "taken"
    taken.write_bytes(snapshot().to_bytes())
    Shelf(tmp_path / "file", said.append).keep(taken)
    assert "the next start will be a cold one, too" in said[0]


def test_what_nobody_used_for_a_month_goes(shelf: Shelf, tmp_path: Path) -> None:
    import os

    old = kept(shelf, tmp_path, snapshot(recipe="old"))
    os.utime(old, (time.time(), time.time() - 31 * 24 * 3600))
    new = kept(shelf, tmp_path, snapshot(recipe="new"))
    assert list(shelf.folder.iterdir()) == [new]


# -- made new ---------------------------------------------------------------------------------------


def test_uids_are_new_and_the_same_wherever_they_are_named() -> None:
    entries = {
        b"/registry/owner": b"\x0a\x05owner\x2a\x24" + UID.encode() + b"\x32\x00",
        b"/registry/owned": b'{"metadata":{"uid":"' + OTHER.encode() + b'","owner":"' + UID.encode() + b'"}}',
        b"/registry/text": b"for example " + b"1f2b1c4d-0a1b-4c2d-8e3f-0123456789ab",
    }
    result = renewed(snapshot(entries=entries), MADE)
    (owner,) = re.findall(rb"\x2a\x24(.{36})\x32\x00", result[b"/registry/owner"])
    assert owner not in (UID.encode(), OTHER.encode())
    assert result[b"/registry/owned"].endswith(b'","owner":"' + owner + b'"}}')
    assert OTHER.encode() not in result[b"/registry/owned"]
    assert result[b"/registry/text"] == entries[b"/registry/text"]
    again = renewed(snapshot(entries=entries), MADE)
    assert again[b"/registry/owner"] != result[b"/registry/owner"]


def test_times_of_the_first_start_are_moved_to_this_one() -> None:
    entries = {
        b"/registry/protobuf": b"\x42\x08" + SECONDS + b"\x10\x00",
        b"/registry/json": b'{"creationTimestamp":"2026-11-30T00:53:20Z","t":"2026-11-30T00:53:15.123456Z"}',
        b"/registry/older": b'"2026-11-30T00:53:01Z"',
    }
    result = renewed(snapshot(entries=entries), MADE + 86_400.7)
    assert result[b"/registry/json"] == (
        b'{"creationTimestamp":"2026-12-01T00:53:20Z","t":"2026-12-01T00:53:15.123456Z"}'
    )
    # 1 796 086 400
    assert result[b"/registry/protobuf"] == b"\x42\x08" + bytes([0x08, 0x80, 0xB5, 0xB8, 0xD8, 0x06]) + b"\x10\x00"
    assert result[b"/registry/older"] == entries[b"/registry/older"]


# -- the recipe -------------------------------------------------------------------------------------


def test_what_a_snapshot_does_not_hold_makes_no_other_recipe(tmp_path: Path) -> None:
    one = config(tmp_path)
    two = config(tmp_path, nodes=(NodeSpec(name="x", gpus=8),), manifests=({"kind": "Namespace"},))
    assert recipe(one) == recipe(replace(two, name="lab-y", home=tmp_path / "elsewhere"))


def test_what_it_holds_makes_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = NodeSpec(name="lab", real=True)
    names = [recipe(config(tmp_path))]
    names += [recipe(config(tmp_path, addons=addons)) for addons in (("lws",), ("lws", "kueue"))]
    names += [recipe(config(tmp_path, nodes=nodes)) for nodes in ((), (real,), (real, NodeSpec(name="f")))]
    (tmp_path / "binaries/bin/etcd").write_text("another build")
    names.append(recipe(config(tmp_path)))
    (tmp_path / "binaries/index.json").write_text("{}")
    names.append(recipe(config(tmp_path)))
    monkeypatch.setattr(recipes, "_code", lambda: "another version of ours")
    names.append(recipe(config(tmp_path)))
    assert len(set(names)) == len(names) == 9


# -- the plan ---------------------------------------------------------------------------------------


def test_a_warm_start_applies_nothing_but_what_is_the_machines_own(tmp_path: Path) -> None:
    machine = config(tmp_path)
    cold = {task.name for task in plan(replace(machine, recipe="r"))}
    warm = {task.name for task in plan(replace(machine, recipe="r", warm=True))}
    assert cold - warm == {"default-roles", "roles", "kwok-account", "snapshot"}
    assert warm - cold == {DATASTORE}


def test_in_a_warm_start_nothing_reads_the_datastore_before_it_is_restored(tmp_path: Path) -> None:
    tasks = plan(replace(config(tmp_path), warm=True))
    order = {task.name: number for number, wave in enumerate(waves(tasks)) for task in wave}
    assert order["kube-apiserver"] > order[DATASTORE]
    first = {task.name for task in tasks if not task.needs}
    assert first == {"etcd", DATASTORE}
    assert order["kwok"] > order["kube-apiserver"]


def test_a_snapshot_is_taken_before_the_labs_own_objects_are_there(tmp_path: Path) -> None:
    tasks = {task.name: task for task in plan(replace(config(tmp_path), recipe="r"))}
    assert "snapshot" in tasks["start-manifests"].needs
    assert "fake-nodes" in tasks["snapshot"].needs
    assert "snapshot" not in {task.name for task in plan(config(tmp_path))}
