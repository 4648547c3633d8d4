"""Builds: the folder that comes out, failures, and what is left when a build is stopped halfway."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries import store
from cluster.binaries.build import build_command
from cluster.errors import EnvironmentProblem

if TYPE_CHECKING:
    from cluster.binaries.progress import BuildEvent
    from tests.unit.cluster.binaries.conftest import Bench

REPOSITORY = Path(__file__).parents[4]
OTHER_BUILDER = """
import sys
from pathlib import Path
from cluster.binaries import golang
from cluster.binaries.build import build
from cluster.binaries.lock import read_lock
golang.TICK = 0.02
def say(event):
    print(event.state, event.task, flush=True)
build(read_lock(Path(sys.argv[1]), "x86_64"), Path(sys.argv[2]), say, preflight=lambda: None)
"""


def test_a_build_makes_the_whole_folder(bench: Bench) -> None:
    folder = bench.build()

    assert folder == bench.root / bench.lock.key
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert files == ["bin/kubectl", "bin/tool", "images/pause.tar", "index.json", "manifests/addon.json"]
    assert (folder / "bin" / "tool").read_text() == "#!/bin/sh\necho tool 1\n"  # cgo as the table says
    assert json.loads((folder / "manifests" / "addon.json").read_text())[1]["metadata"] == {"name": "b"}
    assert folder.stat().st_mode & 0o777 == 0o755


def test_the_index_describes_every_file(bench: Bench) -> None:
    folder = bench.build()

    index = store.read_index(folder)
    assert index.lock == bench.lock.digest
    assert (index.goarch, index.go) == ("amd64", "go1.26.8")
    assert index.versions == {"kubectl": "v1.35.4", "tool": "v0.9.0"}
    assert index.files == store.index_files(folder)
    assert store.damage(folder, index) == ""


def test_each_task_is_said_with_its_place(bench: Bench) -> None:
    bench.build()

    done = [(event.index, event.total, event.task) for event in bench.events if event.state == "done"]
    names = ["kubectl", "tool", "pause", "manifests", "images"]
    assert done == [(number, 5, name) for number, name in enumerate(names, start=1)]
    assert bench.said("started") == names


def test_flags_are_those_of_the_table(bench: Bench) -> None:
    tool = next(program for program in bench.lock.programs if program.name == "tool")

    command = build_command(bench.lock, tool, "go", Path("/out/tool"))

    assert command == [
        *("go", "build", "-trimpath", "-tags", "a,b", "-ldflags", "-s -extldflags -static"),
        *("-o", "/out/tool", "example.test/tool"),
    ]


def test_a_failed_build_says_why_and_leaves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO_FAIL", "tool")
    monkeypatch.setenv("FAKE_GO_SAYS", "fatal error: seccomp.h: No such file or directory")

    with pytest.raises(EnvironmentProblem) as caught:
        bench.build()

    assert caught.value.message.startswith("could not build tool (example.test/tool in programs/one):\n")
    assert "seccomp.h: No such file" in caught.value.message
    assert "noise" not in caught.value.message
    assert "apt-get install libseccomp-dev" in caught.value.advice
    assert bench.said("failed") == ["tool"]
    assert bench.left_behind() == []
    assert not (bench.root / bench.lock.key).exists()


def test_an_old_go_is_refused_before_anything_is_made(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO_VERSION", "go1.26.7")

    with pytest.raises(EnvironmentProblem, match=r"go1\.26\.7.* needs Go 1\.26\.8") as caught:
        bench.build()

    assert "1.26.8" in caught.value.advice
    assert bench.builds() == []


def test_what_the_preflight_misses_stops_the_build(bench: Bench) -> None:
    from cluster.binaries.build import build

    def lacking() -> None:
        raise EnvironmentProblem("gcc")

    with pytest.raises(EnvironmentProblem, match="gcc"):
        build(bench.lock, bench.root, bench.events.append, preflight=lacking)
    assert bench.builds() == []


def _other_builder(bench: Bench) -> subprocess.Popen[str]:
    """Another process that builds, and now runs Go on `tool`."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_BUILDER, str(bench.lock.root), str(bench.root)],
        env=os.environ | {"FAKE_GO_BLOCK": str(bench.block), "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line == "running tool\n":
            return process
    pytest.fail(f"the other build ended: {process.communicate()[1]}")


def _wait_until_dead(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 10)[0], f"process {pid} lives on"
    finally:
        os.close(handle)


def test_a_second_builder_waits_and_uses_the_result(bench: Bench) -> None:
    other = _other_builder(bench)

    def say(event: BuildEvent) -> None:
        bench.events.append(event)
        if event.state == "waiting":  # only now may the other one go on
            threading.Thread(target=bench.block.write_text, args=("go\n",)).start()

    from cluster.binaries.build import build

    folder = build(bench.lock, bench.root, say, preflight=lambda: None)
    _out, errors = other.communicate(timeout=10)

    assert other.returncode == 0, errors
    assert f"process {other.pid}" in bench.said("waiting")[0]
    assert store.damage(folder, store.read_index(folder)) == ""
    assert bench.builds() == ["kubectl", "tool", "pause"]  # once, not twice


def test_an_interrupted_build_takes_its_folder_and_go_with_it(bench: Bench) -> None:
    other = _other_builder(bench)
    go = int(bench.block.with_suffix(".pid").read_text())
    assert len(bench.left_behind()) == 1

    other.send_signal(signal.SIGINT)
    other.communicate(timeout=10)

    assert other.returncode != 0
    _wait_until_dead(go)
    assert bench.left_behind() == []
    assert not (bench.root / bench.lock.key).exists()


def test_what_a_killed_build_left_is_swept_by_the_next(bench: Bench) -> None:
    other = _other_builder(bench)
    go = int(bench.block.with_suffix(".pid").read_text())

    other.kill()
    other.communicate(timeout=10)
    _wait_until_dead(go)  # a Go that outlived us would still write there
    assert len(bench.left_behind()) == 1
    folder = bench.build()

    assert bench.said("note") == ["removed what an interrupted build left behind"]
    assert bench.left_behind() == []
    assert store.damage(folder, store.read_index(folder)) == ""
