"""The wheel of this checkout, installed as a user would install it, and people who use it.

These tests know Batchlab from outside only: a command, its files, its exit codes. Nothing here imports it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.blackbox.person import Person

CHECKOUT = Path(__file__).resolve().parents[2]
NOT_PACKED = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build", "dist", "tests")
"""What no wheel is made from."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this test run have in common."""
    own = tmp_path_factory.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / "blackbox"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def source(shared: Path) -> Path:
    """A copy of the checkout, as it was when the wheel was built: building leaves traces, and people go on working."""
    return _once(shared / "source", lambda target: shutil.copytree(CHECKOUT, target, ignore=NOT_PACKED))


@pytest.fixture(scope="session")
def wheel(shared: Path, source: Path) -> Path:
    """The wheel of that copy."""

    def build(target: Path) -> None:
        # The build backend is a development dependency, pinned like the others.
        _pip(Path(sys.executable), "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={target}", str(source))

    folder = _once(shared / "dist", build)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def program(shared: Path, wheel: Path) -> Path:
    """`grader` of a fresh environment into which the wheel was installed."""

    def install(target: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True, timeout=300)
        _pip(target / "bin" / "python", "install", f"--constraint={CHECKOUT / 'constraints.txt'}", str(wheel))

    return _once(shared / "venv", install) / "bin" / "grader"


@pytest.fixture
def person(program: Path, tmp_path: Path) -> Person:
    """Somebody who has never used it."""
    home = tmp_path / "home"
    home.mkdir()
    return Person(program, home)


@pytest.fixture(scope="session")
def binaries(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pinned programs in the developer's own cache; built there if they have to be."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    builder = Person(program, tmp_path_factory.mktemp("builder"), {"XDG_CACHE_HOME": cache, "HOME": str(Path.home())})
    given = {name: os.environ[name] for name in ("BATCHLAB_BIN_DIR", "BATCHLAB_BUNDLE") if name in os.environ}
    return Path(builder.run("binaries", "build", timeout=3600, env=given).out.strip())


@pytest.fixture(scope="module")
def learner_with(program: Path, binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learners]:
    """Make learners; whatever they left running is stopped at the end of the module."""
    made: list[Person] = []

    def make(name: str = "learner") -> Person:
        person = Person(program, tmp_path_factory.mktemp(name), {"BATCHLAB_BIN_DIR": str(binaries)})
        made.append(person)
        return person

    yield make
    for person in made:
        person.run("stop", "--all", code=None)
        assert person.processes() == []


Learners = Callable[..., Person]


def _once(folder: Path, make: Callable[[Path], object]) -> Path:
    """`folder`, made by the first worker that needs it; the others wait."""
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.with_suffix(".done")
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            done.write_text(json.dumps({"by": os.getpid()}))
    return folder


def _pip(python: Path, *argv: str) -> None:
    options = ["--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [str(python), "-m", "pip", argv[0], *options, *argv[1:]],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
