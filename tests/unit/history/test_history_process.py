"""The recorder as a process: its streams, its end, its size, and what it does not import."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.pki import Authority
from grader.history.store import HistoryReader
from grader.history.synced import wait_synced
from tests.unit.history.conftest import POD, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.history.conftest import Lab

REPOSITORY = Path(__file__).parents[3]


@contextmanager
def recorder(lab: Lab) -> Iterator[subprocess.Popen[bytes]]:
    """The program, as a session starts it; ready."""
    authority = b64encode(Authority.new("test").pem).decode()
    kubeconfig = {
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": lab.address, "certificate-authority-data": authority}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "current-context": "c",
    }
    (lab.folder / "kubeconfig").write_text(json.dumps(kubeconfig))
    process = subprocess.Popen(
        command(lab), cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        eventually(lambda: lab.socket.exists() or process.poll() is not None, "ready", 20)
        assert process.poll() is None, process.communicate()[1].decode()
        yield process
    finally:
        process.kill()
        process.communicate()


def command(lab: Lab) -> list[str]:
    """What a session runs."""
    options = {"--kubeconfig": lab.folder / "kubeconfig", "--database": lab.database, "--socket": lab.socket}
    return [sys.executable, "-m", "grader.history.recorder", *(str(word) for pair in options.items() for word in pair)]


def pods(lab: Lab) -> list[str]:
    """The names of the pods that were stored."""
    with HistoryReader(lab.database) as history:
        return [change.name for change in history.changes("Pod")]


def test_it_ends_well(lab: Lab) -> None:
    with recorder(lab) as process:
        for number in range(200):
            lab.cluster.put(POD, f"pod-{number}")
        assert wait_synced(lab.socket, 10).synced
        lab.cluster.put(POD, "last")
        assert wait_synced(lab.socket, 10, ["Pod"]).synced
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=10)
        assert time.monotonic() - began < 1.5
    assert process.returncode == 0
    assert out == b""
    assert "INFO ready after" in err.decode()
    assert len(pods(lab)) == 201
    left = {path.name for path in lab.folder.iterdir()}
    assert left & {"recorder.sock", "history.db-journal"} == set()


def test_it_ends_within_a_second_while_the_api_server_hangs(lab: Lab) -> None:
    with recorder(lab) as process, lab.cluster.lock:  # every request to come waits
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert time.monotonic() - began < 1.5


def test_it_ends_within_a_second_after_its_folder_was_deleted(lab: Lab) -> None:
    with recorder(lab) as process:
        lab.database.unlink()
        lab.socket.unlink()
        for number in range(20):
            lab.cluster.put(POD, f"pod-{number}")
        lab.cluster.kill()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        assert time.monotonic() - began < 1.5


def test_killed_and_started_again(lab: Lab) -> None:
    with recorder(lab) as process:
        lab.cluster.put(POD, "a")
        assert wait_synced(lab.socket, 10).synced
        process.kill()
        process.wait(10)
    lab.socket.unlink()
    lab.cluster.put(POD, "b")
    with recorder(lab):
        assert wait_synced(lab.socket, 10).synced
        assert pods(lab) == ["a", "b"]
    assert lab.gaps() == []


def test_only_one_writes(lab: Lab) -> None:
    with recorder(lab):
        second = subprocess.run(command(lab), cwd=REPOSITORY, capture_output=True, check=False, timeout=20)
        assert second.returncode == 1
        assert b"another recorder is writing it" in second.stderr
        assert second.stdout == b""
        assert wait_synced(lab.socket, 10).synced


def test_trouble_it_does_not_understand_ends_it(lab: Lab) -> None:
    """Half-told changes are worse than a restart, which resumes from what is stored."""
    with recorder(lab) as process:
        lab.cluster.say(POD, b'{"type": "ADDED", "object": {"metadata": {}}}\n')
        assert process.wait(10) == 1
        assert process.stderr is not None
        assert b"KeyError" in process.stderr.read()
    with recorder(lab):
        lab.cluster.put(POD, "a")
        assert wait_synced(lab.socket, 10).synced
    assert pods(lab) == ["a"]


def test_no_kubeconfig(lab: Lab) -> None:
    ended = subprocess.run(command(lab), cwd=REPOSITORY, capture_output=True, check=False, timeout=20)
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"kubeconfig" in ended.stderr


def test_it_is_small(lab: Lab) -> None:
    for number in range(300):
        lab.cluster.put(POD, f"pod-{number}", text="x" * 3000)
    with recorder(lab) as process:
        assert wait_synced(lab.socket, 10).synced
        status = Path(f"/proc/{process.pid}/status").read_text()
        [peak] = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
        assert peak <= 45 * 1024, f"{peak} KiB"


def test_it_imports_little() -> None:
    script = "import sys, grader.history.recorder; print(*{name.split('.')[0] for name in sys.modules})"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True)
    unwanted = {"pydantic", "click", "rich", "jinja2", "cryptography", "babel", "psutil", "markdown_it", "kubernetes"}
    assert unwanted.isdisjoint(ran.stdout.split())
