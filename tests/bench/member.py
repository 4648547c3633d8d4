"""One of several sessions that start at once: `python -m tests.bench.member MACHINE.json`, driven through its pipes.

Says `ready` once everything is imported, starts the machine at the first line it reads, answers with one line of
JSON, and stops the machine at the next line or when the other end is gone.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from cluster import local
from cluster.errors import Problem
from cluster.machine import MachineConfig
from tests.bench.ground import held_back, interruptible


def main() -> None:
    """Entry point."""
    interruptible()
    config = MachineConfig.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    _say("ready")
    try:
        if not sys.stdin.readline():
            return
        began = time.perf_counter()
        try:
            local.start(config, lambda _event: None)
        except Problem as problem:
            _say(json.dumps({"problem": problem.message}))
        else:
            _say(json.dumps({"seconds": time.perf_counter() - began}))
        sys.stdin.readline()
    finally:
        with held_back():
            local.stop(config.home)


def _say(line: str) -> None:
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
