"""What is to be built, exactly: programs, their versions, and one digest over everything that decides them.

Owns the reading of `vm-images/programs.yaml` and of the go.mod files beside it; runs nothing and knows
nothing of where the result is kept.
"""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import yaml

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.paths import data_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FORMAT = 1
"""Version of the folder that is made (names in it, index.json): part of the digest."""

KEY_LENGTH = 16
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_SOURCES = ("go.mod", "go.sum", "*.go")
_REQUIRE = re.compile(r"^(?:require\s+)?(?P<module>[^\s()]+)\s+(?P<version>v[^\s]+)(?:\s*//.*)?$")
_REPLACE = re.compile(r"^(?:replace\s+)?(?P<module>\S+)(?:\s+v\S+)?\s+=>\s+(?P<other>\S+)\s+(?P<version>v\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program: how it is built (folder, package, tags, ldflags, cgo) and what it then is."""

    name: str
    folder: str
    """The Go module that pins it, relative to `vm-images/`."""
    package: str
    module: str
    """The upstream module that `version` is of; empty for our own."""
    version: str
    tags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    cgo: bool = False
    into: str = "bin"
    """`bin`, or `image` for what only goes into a container image."""
    shows: tuple[str, ...] = ()
    """Arguments that make it print its version and end; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """Kubernetes objects that `kubectl kustomize` makes from `paths` of the Go module `module`.

    With a `namespace`, what upstream puts into none goes there, as an overlay that says so would have it.
    """

    name: str
    folder: str
    module: str
    paths: tuple[str, ...]
    namespace: str = ""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Everything to be made, read from `root` (a `vm-images/` folder) for linux/`goarch`."""

    root: Path
    goarch: str
    digest: str
    """sha256, hexadecimal, of every file that decides the result, of the platform and of FORMAT."""

    @property
    def key(self) -> str:
        """The name of the folder that holds the result."""
        return self.digest[:KEY_LENGTH]

    @cached_property
    def data(self) -> dict[str, Any]:
        """programs.yaml as it is."""
        read: dict[str, Any] = yaml.load((self.root / "programs.yaml").read_text(), Loader=yaml.CSafeLoader)
        return read

    @cached_property
    def programs(self) -> tuple[Program, ...]:
        """In the order of building."""
        return tuple(self._program(**entry) for entry in self.data["programs"])

    @cached_property
    def manifests(self) -> tuple[Rendering, ...]:
        """The object lists beside the programs."""
        return tuple(
            Rendering(
                name=each["name"],
                folder=each["folder"],
                module=each["of"],
                paths=tuple(each["paths"]),
                namespace=each.get("namespace", ""),
            )
            for each in self.data["manifests"]
        )

    @property
    def images(self) -> tuple[str, ...]:
        """Container images, each a folder of `images/` with an image.yaml."""
        return tuple(self.data["images"])

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of every `go build`."""
        return tuple(self.data["flags"])

    @cached_property
    def go(self) -> str:
        """The lowest Go that all modules accept, for example `1.26.8`."""
        folders = {program.folder for program in self.programs}
        wanted = [_go_directive((self.root / folder / "go.mod").read_text()) for folder in sorted(folders)]
        return max(wanted, key=version_numbers)

    def version_of(self, module: str) -> str:
        """The version that the go.mod files pin `module` to, for example `v1.35.4`; empty if none does."""
        return next((m[module] for m in self._modules.values() if module in m), "")

    @cached_property
    def _modules(self) -> dict[str, dict[str, str]]:
        folders = {entry["folder"] for entry in self.data["programs"]}
        return {f: module_versions((self.root / f / "go.mod").read_text()) for f in sorted(folders)}

    def _program(
        self,
        *,
        name: str,
        folder: str,
        package: str,
        of: str = "",
        tags: tuple[str, ...] = (),
        ldflags: tuple[str, ...] = (),
        stamps: tuple[str, ...] = (),
        cgo: bool = False,
        into: str = "bin",
        shows: tuple[str, ...] = (),
    ) -> Program:
        module = of or _owner(package, self._modules[folder])
        linked = [*self.data["ldflags"], *(flag for stamp in stamps for flag in self._stamp(folder, stamp))]
        return Program(
            name=name,
            folder=folder,
            package=package,
            module=module,
            version=self._modules[folder].get(module, ""),
            tags=tuple(tags),
            ldflags=(*linked, *ldflags),
            cgo=cgo,
            into=into,
            shows=tuple(shows),
        )

    def _stamp(self, folder: str, name: str) -> Iterator[str]:
        stamp = self.data["stamps"][name]
        version = self._modules[folder][stamp["of"]]
        major, minor = version.removeprefix("v").split(".")[:2]
        facts = {"version": version, "major": major, "minor": minor}
        facts |= {"commit": stamp.get("commit", ""), "date": stamp.get("date", "")}
        for variable, value in stamp["variables"].items():
            yield from ("-X", f"{variable}={value.format(**facts)}")


def read_lock(root: Path | None = None, machine: str | None = None) -> Lock:
    """The lock of our `vm-images/` (or `root`) for this machine (or `machine`, as `uname -m` says it).

    Cheap (a few milliseconds: digests of small files); the rest is read when asked for. EnvironmentProblem
    on a machine that the programs don't run on.
    """
    root = root or data_dir("vm-images")
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        raise EnvironmentProblem(
            _("no lab can run on a {machine} machine").format(machine=machine),
            _("x86_64 and aarch64 Linux are supported"),
        )
    goarch = _ARCHITECTURES[machine]
    return Lock(root=root, goarch=goarch, digest=_digest(root, goarch))


def _digest(root: Path, goarch: str) -> str:
    whole = hashlib.sha256(f"batchlab {FORMAT} linux/{goarch}\n".encode())
    for path in _deciding_files(root):
        content = path.read_bytes()
        # Length and name first: moving a line from one file to the next must change the digest.
        whole.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()


def _deciding_files(root: Path) -> list[Path]:
    sources = [file for pattern in _SOURCES for file in root.rglob(pattern)]
    return sorted([root / "programs.yaml", *root.glob("images/*/image.yaml"), *sources])


def module_versions(go_mod: str) -> dict[str, str]:
    """Module path → version that is built: `require`, with `replace` to another version applied."""
    required: dict[str, str] = {}
    replaced: dict[str, str] = {}
    for line in map(str.strip, go_mod.splitlines()):
        if found := _REPLACE.match(line):
            replaced[found["module"]] = found["version"]
        elif found := _REQUIRE.match(line):
            required[found["module"]] = found["version"]
    return required | {module: version for module, version in replaced.items() if module in required}


def version_numbers(version: str) -> tuple[int, ...]:
    """`go1.26.8`, `v1.35.4`, `1.27rc1` as numbers that compare: the leading dotted ones."""
    found = re.match(r"[a-z]*(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


def _go_directive(go_mod: str) -> str:
    found = re.search(r"^go (\S+)$", go_mod, re.MULTILINE)
    return found[1] if found else "1.21"


def _owner(package: str, modules: Mapping[str, str]) -> str:
    owners = [module for module in modules if package == module or package.startswith(f"{module}/")]
    return max(owners, key=len, default="")
