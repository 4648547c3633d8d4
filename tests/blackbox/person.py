"""Somebody at a terminal who has the installed `grader`, a home of their own, and nothing else of ours."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.blackbox.schema import violations

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"
HOST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NO_RESULT = frozenset({2, 3, 4, 130})
"""Exit codes of a command that has nothing to say on stdout; `lint` and `doctor`, whose result they are, apart."""


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float

    def json(self) -> Any:
        """stdout as exactly one document that is what the schema it names says."""
        document = json.loads(self.out)
        product, name, version = document["schema"].split("/")
        assert product == "batchlab"
        schema = json.loads((SCHEMAS / f"{name}-{version}.json").read_text(encoding="utf-8"))
        assert violations(document, schema) == [], self
        return document

    def __str__(self) -> str:
        return (
            f"grader {' '.join(self.argv)} -> {self.code} after {self.seconds:.1f} s\n{self.out}\n-- stderr\n{self.err}"
        )


@dataclass
class Person:
    """Runs `program` with `home` as everything that is theirs. `more`: further environment variables."""

    program: Path
    home: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """Where Batchlab keeps this person's sessions."""
        return self.home / "state" / "batchlab"

    def environment(self, **more: str) -> dict[str, str]:
        """Everything the command is told by its environment: nothing of the developer's."""
        return {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "PATH": f"{self.program.parent}:{HOST_PATH}",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            **self.more,
            **more,
        }

    def run(
        self,
        *argv: str,
        code: int | None = 0,
        stdin: str = "",
        cwd: Path | None = None,
        timeout: float = 120.0,
        within: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> Said:
        """Run one command and hold what is true of every answer; `code`: the exit code it must have (None: any).

        `within`: a command line in front, for example one that becomes another user; `env`: more environment.
        """
        began = time.monotonic()
        done = subprocess.run(
            [*within, str(self.program), *argv],
            input=stdin.encode(),
            capture_output=True,
            env=self.environment(**(env or {})),
            cwd=cwd or self.home,
            timeout=timeout,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        said = Said(argv, done.returncode, out, err, time.monotonic() - began)
        self.expect(said, code)
        return said

    def expect(self, said: Said, code: int | None) -> None:
        """No bug of ours, the right exit code, and nothing on stdout that is no result."""
        crashes = [path.read_text() for path in self.state.rglob("crash-*.txt")]
        assert not crashes, f"{said}\n{crashes[0]}"
        for text in (said.out, said.err):
            assert "Traceback" not in text, said
            assert "our bug" not in text, said
        assert code is None or said.code == code, said
        if said.code in NO_RESULT and not {"lint", "doctor", "shell", "verify"} & {*said.argv}:
            assert said.out == "", said
            assert said.code == 130 or "grader" in said.err, said

    def begin(self, *argv: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a command as the foreground job of a terminal would run: a process group of its own."""
        return subprocess.Popen(
            [str(self.program), *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**more),
            cwd=self.home,
            process_group=0,
        )

    @contextmanager
    def terminal(self, *argv: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
        """A command on a terminal of its own, and the end of it that a person would type at and read."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", str(self.program), *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self.environment(TERM="dumb", COLUMNS="80"),
            cwd=self.home,
        )
        os.close(theirs)
        try:
            yield process, ours
        finally:
            os.close(ours)  # hangs up on whoever is still there
            process.kill()
            process.wait()

    def finish(self, process: subprocess.Popen[bytes], *argv: str, code: int | None = 0, timeout: float = 120) -> Said:
        """Wait for a command that was begun; as `run` from there on."""
        began = time.monotonic()
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        said = Said(argv, process.returncode, out.decode(), err.decode(), time.monotonic() - began)
        self.expect(said, code)
        return said

    def process_ids(self) -> list[int]:
        """Processes whose command line names this person's folder, the tests' own apart."""
        return [*self._lines()]

    def processes(self) -> list[str]:
        """Their command lines."""
        return [*self._lines().values()]

    def _lines(self) -> dict[int, str]:
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue  # it ended between the two looks
            if str(self.home) in line:
                found[int(folder.name)] = line
        return found
