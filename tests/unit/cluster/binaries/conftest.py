"""A small vm-images folder and a `go` that compiles nothing, so that builds take milliseconds."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries.build import build
from cluster.binaries.lock import Lock, read_lock

if TYPE_CHECKING:
    from cluster.binaries.progress import BuildEvent

# FAKE_GO_BLOCK: a FIFO; building `tool` waits until something is written into it.
# FAKE_GO_FAIL:  a program's name; building it fails with this last word of the compiler.
FAKE_GO = r"""#!/bin/bash
echo "$*" >> "$FAKE_GO_LOG"
case "$1" in
env) echo "${FAKE_GO_VERSION-go1.26.8}" ;;
list) echo "$FAKE_GO_MODULES/${*: -1}" ;;
build)
  while [ "$1" != -o ]; do shift; done
  out=$2; name=${out##*/}
  if [ "$name" = "$FAKE_GO_FAIL" ]; then echo "go: downloading noise"; echo "$FAKE_GO_SAYS"; exit 1; fi
  if [ "$name" = tool ] && [ -n "$FAKE_GO_BLOCK" ]; then echo $$ > "$FAKE_GO_BLOCK.pid"; read -r < "$FAKE_GO_BLOCK"; fi
  if [ "$name" = kubectl ]; then
    printf '#!/bin/sh\ncat "$3/$(sed -n "s/^- //p" "$3/kustomization.yaml")/objects.yaml"\n' > "$out"
  else
    printf '#!/bin/sh\necho %s %s\n' "$name" "$CGO_ENABLED" > "$out"
  fi
  chmod +x "$out" ;;
esac
"""

PROGRAMS = """
format: 1
flags: [-trimpath]
ldflags: [-s]
stamps:
  shell:
    of: example.test/shell
    variables: {v.Version: "{version}", v.Minor: "{minor}"}
programs:
  - {name: kubectl, folder: programs/one, package: example.test/shell/cmd/kubectl, stamps: [shell]}
  - name: tool
    folder: programs/one
    package: example.test/tool
    cgo: true
    tags: [a, b]
    ldflags: [-extldflags, -static]
  - {name: pause, folder: images/pause, package: ., into: image}
manifests:
  - {name: addon, folder: programs/one, of: example.test/addon, paths: [config/default]}
images: [pause]
"""
GO_MOD = """module one

go 1.26.8

require (
	example.test/addon v0.3.0 // indirect
	example.test/shell v1.35.4 // indirect
	example.test/tool v0.9.0
)
"""
OBJECTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {when: 2026-01-02, on: "yes"}
---
apiVersion: v1
kind: Namespace
metadata: {name: b}
"""


@dataclass
class Bench:
    """A lock to build, where it goes, and what was said meanwhile."""

    lock: Lock
    root: Path
    go_log: Path
    block: Path
    events: list[BuildEvent] = field(default_factory=list)

    def build(self) -> Path:
        """Build with the fake Go."""
        return build(self.lock, self.root, self.events.append, preflight=lambda: None)

    def said(self, state: str) -> list[str]:
        """Tasks (sentences, for notes and waits) of the events with this state."""
        return [e.detail if state in ("note", "waiting") else e.task for e in self.events if e.state == state]

    def builds(self) -> list[str]:
        """Names of the programs that the fake Go built, in order."""
        lines = self.go_log.read_text().splitlines() if self.go_log.exists() else []
        return [line.split(" -o ")[1].split()[0].rsplit("/", 1)[1] for line in lines if line.startswith("build ")]

    def left_behind(self) -> list[str]:
        """Unfinished folders."""
        return [path.name for path in self.root.glob(".making-*")]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    images = tmp_path / "vm-images"
    (images / "programs" / "one").mkdir(parents=True)
    (images / "images" / "pause").mkdir(parents=True)
    (images / "programs.yaml").write_text(PROGRAMS)
    (images / "programs" / "one" / "go.mod").write_text(GO_MOD)
    (images / "programs" / "one" / "go.sum").write_text("example.test/tool v0.9.0 h1:x\n")
    (images / "images" / "pause" / "go.mod").write_text("module pause\n\ngo 1.26.0\n")
    (images / "images" / "pause" / "main.go").write_text("package main\n")
    (images / "images" / "pause" / "image.yaml").write_text(
        'references: ["example.test/pause:1"]\nconfig: {Entrypoint: [/pause]}\n'
        'files: [{path: pause, mode: "0755", program: pause}]\n'
    )
    objects = tmp_path / "modules" / "example.test" / "addon" / "config" / "default"
    objects.mkdir(parents=True)
    (objects / "objects.yaml").write_text(OBJECTS)
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_GO_LOG", str(tmp_path / "go.log"))
    monkeypatch.setenv("FAKE_GO_MODULES", str(tmp_path / "modules"))
    for name in ("FAKE_GO_BLOCK", "FAKE_GO_FAIL", "FAKE_GO_SAYS", "BATCHLAB_BIN_DIR", "BATCHLAB_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    block = tmp_path / "block"
    os.mkfifo(block)
    return Bench(lock=read_lock(images, "x86_64"), root=tmp_path / "cache", go_log=tmp_path / "go.log", block=block)
