"""Functions of a collection's checks.py: what they can do in their cell, and what every attempt to do more comes to."""

from __future__ import annotations

import os
import textwrap
import time
from pathlib import Path

import pytest

from cluster.errors import ApiUnavailable, EnvironmentProblem
from cluster.sandbox import kernel
from grader.checks import confined
from grader.checks.faults import LabFault
from grader.checks.python import Python
from grader.checks.recorded import RecordedCluster, RecordedHistory, Trace
from grader.checks.work import WorkFolder
from grader.checks.world import World
from grader.results import Verdict

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n", "uid": "1"},
    "spec": {"nodeName": "here"},
}

_C = "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); "


def _can_make_cells() -> bool:
    child = os.fork()
    if child == 0:
        try:
            kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


pytestmark = pytest.mark.skipif(not _can_make_cells(), reason="needs the right to make namespaces")


class Lab:
    """A lab of a collection with these functions, and a world for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "lab-evil"
        self.folder.mkdir()
        self.work = folder / "work"
        self.work.mkdir()
        self.cluster = RecordedCluster([POD])
        self.trace = Trace()
        self.history: RecordedHistory = self.trace.history

    def judge(self, body: str, **arguments: object) -> Verdict:
        """What the function `look(world)` with that body says."""
        text = (
            "from grader.checks.base import ObjectRef\nfrom grader.results import Finding, Verdict\n\n\n"
            "def look(world, **arguments):\n"
        )
        (self.folder / "checks.py").write_text(text + textwrap.indent(textwrap.dedent(body), "    "))
        world = World(
            cluster=self.cluster,
            history=self.history,
            work=WorkFolder(self.work),
            namespace="n",
            lab_folder=self.folder,
            checks={},
            confined=True,
        )
        return Python(function="look", arguments=arguments).evaluate(world)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(confined, "RUNTIME", tmp_path / "runtime")
    return Lab(tmp_path)


class TestWhatItMay:
    def test_see_objects_files_and_arguments(self, lab: Lab) -> None:
        (lab.work / "answer.txt").write_text("here\n")
        verdict = lab.judge(
            """
            pod = world.get(ObjectRef(kind="Pod", name="p"))
            said = world.work.read("answer.txt").text.strip()
            finding = Finding(wanted=arguments["wanted"], saw=said, where=("Pod n/p",))
            return Verdict(passed=pod["spec"]["nodeName"] == said, finding=finding, evidence=("pods: 1",))
            """,
            wanted="the node",
        )
        assert verdict.passed
        assert (verdict.finding.wanted, verdict.finding.saw) == ("the node", "here")
        assert (verdict.finding.where, verdict.evidence) == (("Pod n/p",), ("pods: 1",))

    def test_see_what_happened(self, lab: Lab) -> None:
        lab.trace.put(POD)
        verdict = lab.judge(
            """
            ref = ObjectRef(kind="Pod", name="p")
            changes = world.changes(ref)
            then = world.select_at(ref, changes[0].at + 1)
            return Verdict(passed=[c.verb for c in changes] == ["ADDED"] and len(then) == 1 and not world.gaps(ref))
            """
        )
        assert verdict.passed

    def test_turn_a_missing_file_into_a_verdict(self, lab: Lab) -> None:
        verdict = lab.judge(
            """
            from grader.checks.work import FileTrouble
            try:
                world.work.read("answer.txt")
            except FileTrouble as trouble:
                return trouble.verdict("a file")
            """
        )
        assert not verdict.passed
        assert verdict.finding.saw == "answer.txt does not exist"

    def test_use_the_helpers_of_other_labs(self, lab: Lab) -> None:
        assert lab.judge(
            """
            import re, json, datetime, collections
            from grader.checks.matching import quantity
            from grader.checks import instead, workloads
            return Verdict(passed=quantity("1") == 1 and bool(instead) and bool(workloads))
            """
        ).passed

    def test_the_clusters_trouble_stays_the_clusters(self, lab: Lab) -> None:
        lab.cluster.trouble = ApiUnavailable("down")
        with pytest.raises(ApiUnavailable, match="down"):
            lab.judge('world.select(ObjectRef(kind="Pod"))')


class TestWhatItMayNot:
    """Each attempt tells what it came to as an exception of its own, or, had it worked, as a verdict."""

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            ("open('/etc/shadow').read()", "FileNotFoundError"),
            ("open('/etc/passwd').read()", "FileNotFoundError"),
            ("import os; os.listdir('/proc/1')", "FileNotFoundError"),
            ("import os; os.listdir('/var/log')", "FileNotFoundError"),
            ("open(world.lab_folder / 'checks.py', 'a')", "(PermissionError|OSError)"),
            ("open('/here', 'w')", "(PermissionError|OSError)"),
            ("open(world.work.root / 'answer.txt', 'w')", "FileNotFoundError"),
            ("import os; os.kill(os.getppid() or 1, 0); os.kill(2, 9)", "(ProcessLookupError|PermissionError)"),
            ("import os; os.fork()", "(BlockingIOError|PermissionError)"),
            ("import subprocess; subprocess.run(['/bin/true'])", "(BlockingIOError|PermissionError)"),
            ("import threading; threading.Thread(target=print).start()", "RuntimeError"),
            ("import socket; socket.socket()", "PermissionError"),
            ("import socket; socket.create_connection(('127.0.0.1', 22), 1)", "PermissionError"),
            (_C + "assert l.unshare(0x10000000) == 0, os.strerror(ctypes.get_errno())", "Operation not permitted"),
            (_C + "assert l.mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0, os.strerror(ctypes.get_errno())",
             "Operation not permitted"),
            ("import os; os.setuid(0)", "PermissionError"),
            ("import os; os.chroot('/tmp')", "PermissionError"),
            ("import os; os.mknod('/tmp/sda', 0o60666, os.makedev(8, 0))", "PermissionError"),
            ("x = bytearray(2 << 30)", "MemoryError"),
            ("x = open('/tmp/x', 'wb'); [x.write(bytes(1 << 20)) for i in range(64)]; x.flush()", "OSError"),
            ("world.executor.execute(['id'], namespace='', pod='', container='', seconds=1)", "AttributeError"),
        ],
    )  # fmt: skip
    def test_reach_out_of_its_cell(self, lab: Lab, body: str, error: str) -> None:
        with pytest.raises(LabFault, match=error):
            lab.judge(f"{body}\nreturn Verdict(passed=True)")

    def test_be_root_or_have_any_capability(self, lab: Lab) -> None:
        if os.geteuid() != 0:
            pytest.skip("who is no root can't be somebody else")
        assert lab.judge("import os; return Verdict(passed=os.getresuid() == (65534,) * 3 == os.getresgid())").passed

    def test_keep_descriptors_of_ours(self, lab: Lab, tmp_path: Path) -> None:
        with (tmp_path / "secret").open("w+"):
            verdict = lab.judge(
                """
                import os
                found = []
                for number in range(64):
                    try:
                        os.fstat(number)
                        found.append(number)
                    except OSError:
                        pass
                return Verdict(passed=len(found) == 4, finding=Finding(saw=str(found)))
                """
            )
        assert verdict.passed, verdict.finding.saw

    @pytest.mark.parametrize(
        "body",
        [
            "while True: pass",
            "import re; re.match(r'(a+)+$', 'a' * 64 + 'b')",
            "import select; select.select([], [], [], 60)",
            "import signal; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; 9 ** 9 ** 9",
        ],
        ids=["loop", "regular expression", "wait", "power"],
    )
    def test_go_on_without_end(self, lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
        monkeypatch.setattr(confined, "SECONDS", 1.0)
        began = time.monotonic()
        with pytest.raises(LabFault, match=r"look of checks\.py was not done after 1 s"):
            lab.judge(body)
        assert time.monotonic() - began < 10

    def test_ask_without_end(self, lab: Lab) -> None:
        with pytest.raises(LabFault, match="asks without end"):
            lab.judge("while True: world.history.last_change(('Pod',))")


class TestWhatComesOut:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("raise ValueError('no\\x1b[31m')", r"look of checks.py: ValueError: no\\x1b\[31m \(checks.py:6\)"),
            ("return True", "look of checks.py: TypeError: bool is no Verdict"),
            ("import sys; sys.exit(0)", "look of checks.py: SystemExit"),
            ("import os; os._exit(0)", "look of checks.py ended without a verdict"),
            ("import ctypes; ctypes.string_at(0)", "look of checks.py ended without a verdict"),
            ("return Verdict(passed='yes')", "gave no verdict that can be used: Input should be a valid boolean"),
            ("return Verdict(passed=True, finding=Finding(saw='x' * (1 << 20)))", "more than 256 KiB"),
            ("return Verdict(passed=True, evidence=('x',) * 1000)", "at most 500"),
            ("return Verdict(passed=True, finding=Finding(saw=object()))", "TypeError: Object of type object"),
            ("world.history.asked('secret', 'x')", "gave no verdict that can be used: secret"),
            ("world.history.asked('read', 7)", "gave no verdict that can be used: read"),
            ("world.history.asked('list', ['v1'], {})", "gave no verdict that can be used"),
        ],
    )
    def test_is_the_labs_fault_where_it_is_no_verdict(self, lab: Lab, body: str, message: str) -> None:
        with pytest.raises(LabFault, match=message):
            lab.judge(body)

    def test_is_shown_safely(self, lab: Lab) -> None:
        finding = lab.judge(
            "return Verdict(passed=False, finding=Finding(saw='a\\x1b]52;c;aGk=\\x07', where=('x\\n' * 900,)))"
        ).finding
        assert finding.saw == r"a\x1b]52;c;aGk=\x07"
        assert len(finding.where[0]) <= 500
        assert "\n" not in finding.where[0]

    def test_may_not_read_outside_the_work_folder(self, lab: Lab) -> None:
        with pytest.raises(LabFault, match=r"FileTrouble: \.\./\.\./secret"):
            lab.judge("world.work.read('../../secret')")

    def test_a_function_that_is_not_there(self, lab: Lab) -> None:
        (lab.folder / "checks.py").write_text("")
        with pytest.raises(LabFault, match="AttributeError"):
            confined.judge("", lab.folder / "checks.py", "look", {}, _world(lab))

    def test_bytecode_beside_the_source_is_not_run(self, lab: Lab) -> None:
        assert lab.judge("return Verdict(passed=True)").passed
        assert not list(lab.folder.rglob("*.pyc"))

    def test_nothing_runs_where_no_cell_can_be_made(
        self, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a file").touch()
        monkeypatch.setattr(confined, "RUNTIME", tmp_path / "a file")
        with pytest.raises(EnvironmentProblem, match="can't be confined on this machine, so look was not run"):
            lab.judge("return Verdict(passed=True)")


def _world(lab: Lab) -> World:
    return World(
        cluster=lab.cluster,
        history=lab.history,
        work=WorkFolder(lab.work),
        namespace="n",
        lab_folder=lab.folder,
        checks={},
        confined=True,
    )
