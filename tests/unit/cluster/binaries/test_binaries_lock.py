"""The lock: which bytes decide it, and what is read from go.mod files and the table of programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cluster.binaries.lock import module_versions, read_lock, version_numbers
from cluster.errors import EnvironmentProblem
from cluster.paths import data_dir


@pytest.fixture
def vm_images(tmp_path: Path) -> Path:
    return Path(shutil.copytree(data_dir("vm-images"), tmp_path / "vm-images"))


def test_the_same_files_elsewhere_give_the_same_digest(vm_images: Path) -> None:
    assert read_lock(vm_images, "x86_64").digest == read_lock(data_dir("vm-images"), "x86_64").digest


@pytest.mark.parametrize(
    "file",
    [
        "programs.yaml",
        "programs/core/go.mod",
        "programs/core/go.sum",
        "programs/coredns/main.go",
        "images/pause/main.go",
        "images/busybox/image.yaml",
    ],
)
def test_a_change_of_what_decides_the_result_changes_the_digest(vm_images: Path, file: str) -> None:
    before = read_lock(vm_images, "x86_64").digest
    with (vm_images / file).open("a") as source:
        source.write("\n")
    assert read_lock(vm_images, "x86_64").digest != before


def test_what_decides_nothing_does_not_change_the_digest(vm_images: Path) -> None:
    before = read_lock(vm_images, "x86_64").digest
    (vm_images / "packages.toml").write_text("")
    (vm_images / "programs" / "core" / "README.md").write_text("notes")
    assert read_lock(vm_images, "x86_64").digest == before


def test_a_line_that_moves_to_the_next_file_changes_the_digest(vm_images: Path) -> None:
    core = vm_images / "programs" / "core"
    before = read_lock(vm_images, "x86_64").digest
    text = (core / "go.sum").read_text()
    first, rest = text.split("\n", 1)
    (core / "go.mod").write_text((core / "go.mod").read_text() + first + "\n")
    (core / "go.sum").write_text(rest)
    assert read_lock(vm_images, "x86_64").digest != before


def test_each_architecture_has_its_own_digest(vm_images: Path) -> None:
    amd, arm = (read_lock(vm_images, machine) for machine in ("x86_64", "aarch64"))
    assert (amd.goarch, arm.goarch) == ("amd64", "arm64")
    assert amd.key != arm.key


def test_another_architecture_is_refused(vm_images: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="riscv64"):
        read_lock(vm_images, "riscv64")


def test_versions_come_from_require_and_replace() -> None:
    text = (
        "module m\n\ngo 1.26.0\n\nrequire example.test/one v1.2.3\n"
        "require (\n\texample.test/two v0.1.0 // indirect\n\texample.test/two/v2 v2.0.0+incompatible\n)\n"
        "replace (\n\texample.test/one => example.test/one v1.9.9\n\texample.test/unused => example.test/x v9.0.0\n)\n"
    )
    assert module_versions(text) == {
        "example.test/one": "v1.9.9",
        "example.test/two": "v0.1.0",
        "example.test/two/v2": "v2.0.0+incompatible",
    }


def test_every_program_has_a_version_and_belongs_to_its_longest_module() -> None:
    programs = {program.name: program for program in read_lock(machine="x86_64").programs}
    assert {name for name, program in programs.items() if not program.version} == {"pause"}
    assert programs["etcd"].module == "go.etcd.io/etcd/server/v3"
    assert programs["containerd"].module == "github.com/containerd/containerd/v2"
    assert programs["coredns"].module == "github.com/coredns/coredns"


def test_kubernetes_is_told_its_version_twice() -> None:
    apiserver = next(p for p in read_lock(machine="x86_64").programs if p.name == "kube-apiserver")
    major, minor = version_numbers(apiserver.version)[:2]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"{package}.gitVersion={apiserver.version}" in apiserver.ldflags
        assert f"{package}.gitMajor={major}" in apiserver.ldflags
        assert f"{package}.gitMinor={minor}" in apiserver.ldflags
    assert apiserver.ldflags.count("-X") == 12


def test_the_programs_of_go_mod_are_those_of_the_table() -> None:
    lock = read_lock(machine="x86_64")
    tabled = {program.package for program in lock.programs} - {"."}
    named: set[str] = set()
    for go_mod in (lock.root / "programs").glob("*/go.mod"):
        text = go_mod.read_text()
        block = text.split("tool (")[1].split(")")[0].split() if "tool (" in text else []
        single = [line.split()[1] for line in text.splitlines() if line.startswith("tool ")]
        named.update(block, (package for package in single if package != "("))
    assert tabled == named


def test_the_lowest_go_is_the_highest_directive(vm_images: Path) -> None:
    go_mod = vm_images / "programs" / "kwok" / "go.mod"
    go_mod.write_text(go_mod.read_text().replace("go 1.26.0", "go 1.100.2"))
    assert read_lock(vm_images, "x86_64").go == "1.100.2"


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("go1.26.8", (1, 26, 8)), ("v1.35.4", (1, 35, 4)), ("1.27rc1", (1, 27)), ("go1.25-custom", (1, 25)), ("", ())],
)
def test_versions_compare_as_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert version_numbers(version) == numbers
