"""The cell in an ordinary user's sandbox, where root is that user by another name and nobody else can be become."""

from __future__ import annotations

import os

import pytest

from tests.cluster.ordinary import as_ordinary_user

SCRIPT = r"""
import os, sys
from pathlib import Path
from cluster.sandbox import kernel
from grader.checks import confined
from grader.checks.faults import LabFault
from grader.checks.recorded import RecordedCluster, RecordedHistory
from grader.checks.work import WorkFolder
from grader.checks.world import World

home = Path(sys.argv[1])
(home / "lab-x").mkdir()
(home / "work").mkdir()
(home / "work" / "answer.txt").write_text("42")
(home / "secret").write_text("secret")
user, group = os.geteuid(), os.getegid()
kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text(f"0 {user} 1")
Path("/proc/self/gid_map").write_text(f"0 {group} 1")
confined.RUNTIME = home / "run"
world = World(
    cluster=RecordedCluster(), history=RecordedHistory(), work=WorkFolder(home / "work"), namespace="n",
    lab_folder=home / "lab-x", checks={}, confined=True,
)
BEGIN = "from grader.results import Finding, Verdict\nimport ctypes, os, signal\ndef look(world, home):\n    "
for body in (
    "return Verdict(passed=world.work.read('answer.txt').text == '42')",
    "return Verdict(passed=True, finding=Finding(saw=open(home + '/secret').read()))",
    "open(os.path.join(home, 'work', 'answer.txt'), 'w')",
    "open(os.path.join(home, 'lab-x', 'evil'), 'w')",
    "os.kill(int(os.environ['OUTSIDE']), signal.SIGKILL)",
    "assert ctypes.CDLL(None).umount2(b'/tmp', 2) == 0, 'no umount'",
    "os.setuid(65534)",
    "os.fork()",
):
    os.environ["OUTSIDE"] = str(os.getpid())
    try:
        verdict = confined.judge(BEGIN + body, home / "lab-x" / "checks.py", "look", {"home": str(home)}, world)
        print(f"passed={verdict.passed} {verdict.finding.saw}")
    except LabFault as fault:
        print(fault.message.split(": ")[1])
print(sorted(os.listdir(home / "lab-x")), (home / "work" / "answer.txt").read_text())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become an ordinary user")
def test_nothing_of_that_user_is_within_reach() -> None:
    assert as_ordinary_user(SCRIPT) == [
        "passed=True ",
        "FileNotFoundError",
        "FileNotFoundError",
        "OSError",
        "ProcessLookupError",
        "AssertionError",
        "OSError",
        "BlockingIOError",
        "[] 42",
    ]
