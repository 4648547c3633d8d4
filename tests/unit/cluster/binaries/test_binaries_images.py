"""Images: valid OCI archives, always the same bytes, with what the recipe says inside."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from cluster.binaries import images
from cluster.errors import EnvironmentProblem
from cluster.paths import data_dir

RECIPE = """
references: ["example.test/shell:stable", "example.test/shell:{version}", "example.test/shell:{minor}"]
config: {Env: ["PATH=/bin"], Cmd: [sh]}
directories: [{path: bin, mode: "0755"}, {path: tmp, mode: "1777"}]
files:
  - {path: etc-passwd, mode: "0644", text: "root:x:0:0::/:/bin/sh\\n"}
  - {path: bin/busybox, mode: "0755", debian: {package: busybox-static, paths: [bin/busybox]}, applets: bin}
"""


@pytest.fixture
def busybox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Debian's program, so that the test needs no package."""
    program = tmp_path / "busybox"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --list ] && printf "sh\\nbusybox\\nls\\n" || echo "BusyBox v1.99.3 (Debian) multi-call"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(images, "debian_program", lambda *_: program)
    return program


def _make(tmp_path: Path, recipe: str, name: str = "image.tar") -> tuple[Path, str]:
    folder = tmp_path / "recipe"
    folder.mkdir(exist_ok=True)
    (folder / "image.yaml").write_text(recipe)
    (tmp_path / "pause").write_bytes(b"pause!")
    out = tmp_path / name
    version = images.make_image(folder, programs=tmp_path, scratch=tmp_path, goarch="arm64", out=out)
    return out, version


def _blobs(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {m.name: file.read() for m in tar if (file := tar.extractfile(m))}


def _members(layer: bytes) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        return {m.name: (m, file.read() if (file := tar.extractfile(m)) and m.isreg() else b"") for m in tar}


def _follow(files: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    """The blob of a descriptor, which must be what the descriptor says."""
    algorithm, digest = descriptor["digest"].split(":")
    blob = files[f"blobs/{algorithm}/{digest}"]
    assert hashlib.sha256(blob).hexdigest() == digest
    assert len(blob) == descriptor["size"]
    return blob


def test_every_digest_of_the_archive_is_right(tmp_path: Path, busybox: Path) -> None:
    files = _blobs(_make(tmp_path, RECIPE)[0])

    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    entries = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(_follow(files, entries[0]))
    config = json.loads(_follow(files, manifest["config"]))
    layer = _follow(files, manifest["layers"][0])
    assert config["rootfs"] == {"type": "layers", "diff_ids": [manifest["layers"][0]["digest"]]}
    assert manifest["layers"][0]["mediaType"] == "application/vnd.oci.image.layer.v1.tar"
    assert (config["os"], config["architecture"]) == ("linux", "arm64")
    assert config["config"] == {"Env": ["PATH=/bin"], "Cmd": ["sh"]}
    assert len(files) == 2 + 3, "nothing but what the index leads to"
    assert list(_members(layer)) == ["bin", "bin/busybox", "bin/ls", "bin/sh", "etc-passwd", "tmp"]


def test_each_reference_is_an_entry_of_the_same_image(tmp_path: Path, busybox: Path) -> None:
    archive, version = _make(tmp_path, RECIPE)

    entries = json.loads(_blobs(archive)["index.json"])["manifests"]

    assert version == "1.99.3"
    names = [f"example.test/shell:{tag}" for tag in ("stable", "1.99.3", "1.99")]
    assert [entry["annotations"]["io.containerd.image.name"] for entry in entries] == names
    assert [entry["annotations"]["org.opencontainers.image.ref.name"] for entry in entries] == names
    assert len({entry["digest"] for entry in entries}) == 1


def test_members_belong_to_root_and_have_no_time(tmp_path: Path, busybox: Path) -> None:
    files = _blobs(_make(tmp_path, RECIPE)[0])
    manifest = json.loads(_follow(files, json.loads(files["index.json"])["manifests"][0]))
    layer = _members(_follow(files, manifest["layers"][0]))

    assert {(m.uid, m.gid, m.mtime, m.uname) for m, _content in layer.values()} == {(0, 0, 0, "")}
    assert layer["tmp"][0].mode == 0o1777
    assert layer["etc-passwd"][0].mode == 0o644
    assert layer["bin/busybox"][0].mode == 0o755
    assert layer["bin/sh"][0].linkname == "busybox"
    assert layer["bin/busybox"][1] == busybox.read_bytes()


def test_the_same_recipe_gives_the_same_bytes(tmp_path: Path, busybox: Path) -> None:
    first, second = (_make(tmp_path, RECIPE, name)[0] for name in ("one.tar", "two.tar"))
    assert first.read_bytes() == second.read_bytes()
    assert _make(tmp_path, RECIPE.replace("stable", "other"), "three.tar")[0].read_bytes() != first.read_bytes()


def test_a_go_program_comes_from_the_build(tmp_path: Path) -> None:
    recipe = (data_dir("vm-images") / "images" / "pause" / "image.yaml").read_text()
    archive, version = _make(tmp_path, recipe)

    files = _blobs(archive)
    entry = json.loads(files["index.json"])["manifests"][0]
    manifest = json.loads(_follow(files, entry))
    layer = _members(_follow(files, manifest["layers"][0]))

    assert version == ""
    assert layer["pause"][1] == b"pause!"
    config = json.loads(_follow(files, manifest["config"]))["config"]
    assert config == {"Entrypoint": ["/pause"], "User": "65535:65535"}


def test_a_program_that_is_no_busybox_is_refused(tmp_path: Path, busybox: Path) -> None:
    busybox.write_text("#!/bin/sh\n")
    with pytest.raises(EnvironmentProblem, match="does not say that it is busybox"):
        _make(tmp_path, RECIPE)


def _elf(*types: int) -> bytes:
    """A 64-bit ELF header and program headers of these types."""
    head = bytearray(64)
    head[:5] = b"\x7fELF\x02"
    head[32:40] = (64).to_bytes(8, "little")
    head[54:56] = (56).to_bytes(2, "little")
    head[56:58] = len(types).to_bytes(2, "little")
    return bytes(head) + b"".join(each.to_bytes(4, "little") + bytes(52) for each in types)


@pytest.mark.parametrize(
    ("content", "static"),
    [(_elf(1, 1, 6), True), (_elf(6, 3, 1), False), (b"#!/bin/sh\n", False), (b"", False), (b"\x7fELF\x01", False)],
    ids=["static", "dynamic", "script", "empty", "32 bit"],
)
def test_static_programs_are_told_by_their_headers(tmp_path: Path, content: bytes, static: bool) -> None:
    (tmp_path / "p").write_bytes(content)
    assert images.is_static(tmp_path / "p") is static
    assert images.is_static(tmp_path / "nothing") is False


def _fetching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apt_get: str) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tmp_path / "static").write_bytes(_elf(1))
    scripts = {"apt-get": apt_get, "dpkg-deb": f"mkdir -p usr/bin && /bin/cp {tmp_path}/static usr/bin/shell-x"}
    for name, text in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")


def test_a_package_that_is_not_installed_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetching(tmp_path, monkeypatch, 'touch "$3_1.0_amd64.deb"')
    found = images.debian_program("shell-x-static", ("bin/shell-x", "usr/bin/shell-x"), tmp_path)
    assert found == tmp_path / "shell-x-static" / "usr/bin/shell-x"


def test_a_package_that_can_not_be_fetched_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetching(tmp_path, monkeypatch, 'echo "E: No packages found" >&2; exit 100')
    with pytest.raises(EnvironmentProblem, match="could not fetch shell-x-static: E: No packages found") as caught:
        images.debian_program("shell-x-static", ("bin/shell-x",), tmp_path)
    assert "apt-get install shell-x-static" in caught.value.advice


def test_where_there_is_no_apt_get_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="no static shell-x on this machine"):
        images.debian_program("shell-x-static", ("bin/shell-x",), tmp_path)


def test_our_recipes_name_only_programs_that_are_built() -> None:
    from cluster.binaries.lock import read_lock

    lock = read_lock(machine="x86_64")
    folders = {path.parent.name for path in (lock.root / "images").glob("*/image.yaml")}
    assert folders == set(lock.images)
    built = {program.name for program in lock.programs if program.into == "image"}
    assert built == {"pause"}
