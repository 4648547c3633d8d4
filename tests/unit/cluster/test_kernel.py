"""What the kernel and the C library are told about memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]
_HEAPS = """
import ctypes, threading
from cluster.sandbox import kernel
if {shared}:
    kernel.share_one_heap()
malloc = ctypes.CDLL(None).malloc
together = threading.Barrier(3)
def allocate():
    together.wait()
    malloc(5000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
# A further heap of glibc's is an area of 64 MB, begun at a multiple of that: nobody's file, to be read and written.
areas = [line.split() for line in open("/proc/self/maps")]
own = [area for area in areas if area[1] == "rw-p" and len(area) == 5]
print(sum(int(area[0].split("-")[0], 16) % (64 << 20) == 0 for area in own))
"""


def _run(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="this C library has one heap")
def test_threads_share_one_heap() -> None:
    assert int(_run(_HEAPS.format(shared=False))) >= 1, "where each thread has its own"
    assert int(_run(_HEAPS.format(shared=True))) == 0


def test_huge_pages_are_refused_to_what_is_started_as_well() -> None:
    script = (
        "import subprocess; from cluster.sandbox import kernel; kernel.refuse_huge_pages();"
        "print(subprocess.run(['grep', 'THP_enabled', '/proc/self/status'], capture_output=True, text=True).stdout)"
    )
    assert _run(script).split() == ["THP_enabled:", "0"]
