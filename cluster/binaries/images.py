"""Container images of the real node, put together without a daemon from the recipes in vm-images/images.

Owns the recipe format and the OCI archive, whose bytes depend on nothing but recipe and files (no clock, no
compression library); knows nothing of how Go programs are built or who imports the archive.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cluster.errors import EnvironmentProblem
from cluster.i18n import _

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_ELF_INTERPRETER = 3  # program header type PT_INTERP: the file wants a dynamic loader


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One member of an image's file system: a file, a link if `link`, a folder if `content` is None."""

    mode: int = 0o755
    content: bytes | None = None
    link: str = ""


@dataclass(slots=True, kw_only=True)
class Image:
    """What an archive is made from."""

    references: tuple[str, ...]
    config: dict[str, Any]
    entries: dict[str, Entry] = field(default_factory=dict)
    version: str = ""


def make_image(recipe_folder: Path, *, programs: Path, scratch: Path, goarch: str, out: Path) -> str:
    """Write the image of `recipe_folder`/image.yaml to `out`; returns its version, empty if it has none.

    `programs` holds the Go programs that recipes name, `scratch` is for unpacking a Debian package.
    """
    image = read_recipe(recipe_folder, programs=programs, scratch=scratch)
    out.write_bytes(archive(image, goarch))
    return image.version


def read_recipe(recipe_folder: Path, *, programs: Path, scratch: Path) -> Image:
    """The image that a recipe describes, with the bytes of all its files."""
    recipe: dict[str, Any] = yaml.safe_load((recipe_folder / "image.yaml").read_text())
    image = Image(references=(), config=recipe["config"])
    for folder in recipe.get("directories", ()):
        image.entries[folder["path"]] = Entry(mode=int(folder["mode"], 8))
    for file in recipe["files"]:
        mode = int(file["mode"], 8)
        if "text" in file:
            content = file["text"].encode()
        elif "program" in file:
            content = (programs / file["program"]).read_bytes()
        else:
            program = debian_program(file["debian"]["package"], tuple(file["debian"]["paths"]), scratch)
            content = program.read_bytes()
            if "applets" in file:
                image.version = _busybox_version(program)
                _link_applets(image, program, file["path"], file["applets"])
        image.entries[file["path"]] = Entry(mode=mode, content=content)
    facts = {"version": image.version, "minor": ".".join(image.version.split(".")[:2])}
    image.references = tuple(dict.fromkeys(each.format(**facts) for each in recipe["references"]))
    return image


def archive(image: Image, goarch: str) -> bytes:
    """The OCI archive of `image`: one layer, one index entry for each reference."""
    layer = _layer(image.entries)
    config = _json(
        {
            "architecture": goarch,
            "os": "linux",
            "config": image.config,
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, config),
            "layers": [_descriptor(_LAYER, layer)],
        }
    )
    index = _json(
        {
            "schemaVersion": 2,
            "manifests": [
                _descriptor(_MANIFEST, manifest)
                # containerd takes the first, other importers the second, as the name of the image
                | {
                    "annotations": {
                        "io.containerd.image.name": name,
                        "org.opencontainers.image.ref.name": name,
                    }
                }
                for name in image.references
            ],
        }
    )
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": index}
    files |= {f"blobs/sha256/{_digest(blob).removeprefix('sha256:')}": blob for blob in (config, manifest, layer)}
    return _layer({name: Entry(mode=0o644, content=content) for name, content in files.items()})


def debian_program(package: str, paths: tuple[str, ...], scratch: Path) -> Path:
    """A static program of a Debian package: the installed one, or one fetched and unpacked in `scratch`."""
    for path in paths:
        if is_static(Path("/") / path):
            return Path("/") / path
    remedy = _("install {package} (apt-get install {package})").format(package=package)
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise EnvironmentProblem(_("no static {name} on this machine").format(name=Path(paths[0]).name), remedy)
    folder = scratch / package
    folder.mkdir(exist_ok=True)
    for argv in (["apt-get", "-q", "download", package], ["dpkg-deb", "-x", "*.deb", "."]):
        expanded = [str(next(folder.glob(arg), arg)) if "*" in arg else arg for arg in argv]
        done = subprocess.run(
            expanded, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = (done.stderr.splitlines() or [""])[-1]
            raise EnvironmentProblem(
                _("could not fetch {package}: {reason}").format(package=package, reason=said), remedy
            )
    found = next((folder / path for path in paths if is_static(folder / path)), None)
    if found is None:
        raise EnvironmentProblem(_("{package} has no static program").format(package=package))
    return found


def is_static(path: Path) -> bool:
    """Whether `path` is a 64-bit ELF program that needs no dynamic loader."""
    try:
        with path.open("rb") as source:
            head = source.read(64)
            if head[:5] != b"\x7fELF\x02":
                return False
            offset, size, count = (int.from_bytes(head[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
            source.seek(offset)
            headers = source.read(size * count)
    except OSError:
        return False
    types = (int.from_bytes(headers[at : at + 4], "little") for at in range(0, size * count, size))
    return _ELF_INTERPRETER not in types


def _busybox_version(program: Path) -> str:
    said = subprocess.run([str(program)], capture_output=True, text=True, check=False).stdout
    found = re.search(r"BusyBox v(\d+\.\d+\.\d+)", said)
    if not found:
        raise EnvironmentProblem(_("{path} does not say that it is busybox").format(path=program))
    return found[1]


def _link_applets(image: Image, program: Path, target: str, folder: str) -> None:
    told = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True).stdout
    name = Path(target).name
    for applet in told.split():
        if applet != name:
            image.entries[f"{folder}/{applet}"] = Entry(mode=0o777, link=name)


def _layer(entries: dict[str, Entry]) -> bytes:
    raw = io.BytesIO()
    # Owner 0, time 0, sorted: the same bytes everywhere.
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, entry in sorted(entries.items()):
            member = tarfile.TarInfo(name)
            member.mode = entry.mode
            if entry.link:
                member.type, member.linkname = tarfile.SYMTYPE, entry.link
            elif entry.content is None:
                member.type = tarfile.DIRTYPE
            else:
                member.size = len(entry.content)
            tar.addfile(member, io.BytesIO(entry.content or b""))
    return raw.getvalue()


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _descriptor(media_type: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "size": len(blob), "digest": _digest(blob)}
