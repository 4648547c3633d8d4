"""What is in the wheel: the packages, the data they read, and nothing else."""

from __future__ import annotations

import tomllib
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

from tests.blackbox.conftest import CHECKOUT
from tests.blackbox.person import Person


@pytest.fixture(scope="module")
def archive(wheel: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel) as opened:
        yield opened


def files_of(folder: Path) -> dict[str, Path]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path for name, path in found.items() if "__pycache__" not in name}


def data_folders() -> dict[str, str]:
    """Folder of the checkout → its place in the wheel."""
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        found = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    return {str(folder): str(inside) for folder, inside in found.items()}


def test_labs_and_programs_are_among_the_data() -> None:
    assert {"labs": "grader/data/labs", "vm-images": "cluster/data/vm-images"}.items() <= data_folders().items()


@pytest.mark.parametrize(("folder", "inside"), data_folders().items())
def test_every_data_file_travels_unchanged(archive: zipfile.ZipFile, source: Path, folder: str, inside: str) -> None:
    wanted = files_of(source / folder)
    packed = {name.removeprefix(f"{inside}/") for name in archive.namelist() if name.startswith(f"{inside}/")}
    assert packed == set(wanted)
    for name, path in wanted.items():
        assert archive.read(f"{inside}/{name}") == path.read_bytes(), name


@pytest.mark.parametrize(
    "name",
    [
        "grader/data/labs/lab-lws/lab.md",
        "grader/data/labs/lab-lws/lab.ko.md",
        "grader/data/labs/lab-lws/solution/01-groups.sh",
        "cluster/data/vm-images/programs.yaml",
        "cluster/data/vm-images/packages.toml",
        "cluster/data/vm-images/kwok/stages.yaml",
        "cluster/data/vm-images/programs/core/go.mod",
        "cluster/data/vm-images/programs/core/go.sum",
        "cluster/data/vm-images/programs/coredns/main.go",
        "cluster/data/vm-images/images/pause/main.go",
        "grader/session/desk.bashrc",
    ],
)
def test_what_a_start_reads_is_there(archive: zipfile.ZipFile, name: str) -> None:
    assert archive.getinfo(name).file_size > 0


@pytest.mark.parametrize("package", ["cluster", "grader", "tui"])
def test_every_module_and_the_files_beside_them(archive: zipfile.ZipFile, source: Path, package: str) -> None:
    packed = {name.removeprefix(f"{package}/") for name in archive.namelist() if name.startswith(f"{package}/")}
    assert {name for name in packed if not name.startswith("data/")} == set(files_of(source / package))


def test_nothing_else_travels(archive: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"cluster", "grader", "tui"}


def test_what_the_package_says_of_itself(archive: zipfile.ZipFile) -> None:
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Name"] == "batchlab"
    assert metadata["Requires-Python"] == ">=3.11"
    plain = {line.partition(">")[0] for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert {"click", "jinja2", "pydantic", "pyyaml"} <= plain
    assert not {"babel", "pytest", "mypy", "ruff"} & plain
    points = ConfigParser()
    points.read_string(archive.read(name.replace("METADATA", "entry_points.txt")).decode())
    assert dict(points["console_scripts"]) == {"grader": "grader.cli:main", "batchlab": "tui.cli:main"}
    assert dict(points["batchlab.commands"]) == {"tui": "tui.cli:run"}


def test_the_command_says_the_version_of_the_wheel(person: Person, wheel: Path) -> None:
    assert person.run("--version").out == f"batchlab {wheel.name.split('-')[1]}\n"


def test_it_does_not_run_from_the_checkout(person: Person, tmp_path: Path) -> None:
    folder = person.run("lint", "lab-lws", "--json", cwd=tmp_path).json()["labs"][0]["folder"]
    assert Path(folder).is_relative_to(person.program.parents[1])
