"""The examiner for real: a fork server with a tiny command, asked over its socket."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem, UsageProblem
from cluster.unix_address import short_path
from grader.session import examiner, here
from grader.session.examiner_client import INTERRUPT, READY, answers, ask, chosen_environment, converse


def _command(argv: list[str]) -> int:
    """What the examiner runs in these tests, in the place of `grader`."""

    def say(*words: object) -> None:
        sys.stdout.write(" ".join(map(str, words)) + "\n")

    match argv:
        case ["say", *words]:
            say(*words)
            sys.stderr.write("and to stderr\n")
            return 0
        case ["exit", code]:
            return int(code)
        case ["environment"]:
            say("\n".join(f"{name}={value}" for name, value in sorted(os.environ.items())))
            return 0
        case ["read"]:
            say(sys.stdin.read().upper())
            return 0
        case ["place"]:
            place = here.examination()
            assert place is not None
            say(place.lab, place.home, *place.files)
            return 0
        case ["write", text]:
            place = here.examination()
            assert place is not None
            os.write(next(iter(place.files.values())), text.encode())
            return 1
        case ["die"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["raise"]:
            raise RuntimeError("a bug in the command")
        case ["wait", marker]:
            Path(marker).write_text(str(os.getpid()))
            signal.pause()
        case ["refuse to end", marker]:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            Path(marker).write_text(str(os.getpid()))
            while True:
                signal.pause()
    return 99


@pytest.fixture
def home(tmp_path: Path) -> Path:
    # Deeper than a socket address can say: sessions may lie anywhere.
    home = tmp_path / ("deep" * 30) / "lab-toy"
    (home / "run").mkdir(parents=True)
    return home


@pytest.fixture
def path(home: Path) -> Path:
    return home / "run" / "grader.sock"


@pytest.fixture
def served(home: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A running examiner; its process id."""
    monkeypatch.setattr(examiner, "GRACE_SECONDS", 0.2)
    listener = examiner.listen(path)
    server = os.fork()
    if server == 0:
        with suppress(BaseException):
            examiner.serve(listener, home, _command)
        os._exit(1)
    listener.close()
    yield server
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)


def _asked(path: Path, *argv: str, given: bytes = b"") -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(given)
        source.seek(0)
        code = ask(path, argv, streams=(source.fileno(), out.fileno(), err.fileno()))
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(), err.read().decode()


def test_a_command_runs_on_the_streams_of_who_asks(served: int, path: Path) -> None:
    assert _asked(path, "say", "안녕", "you") == (0, "안녕 you\n", "and to stderr\n")
    assert _asked(path, "read", given=b"what I typed") == (0, "WHAT I TYPED\n", "")


@pytest.mark.parametrize("code", [0, 1, 3, 130])
def test_the_exit_code_comes_back(served: int, path: Path, code: int) -> None:
    assert _asked(path, "exit", str(code))[0] == code


def test_the_command_knows_which_session_it_examines(served: int, path: Path, home: Path) -> None:
    assert _asked(path, "place")[1] == f"lab-toy {home}\n"
    assert here.examination() is None, "only the command's own process became the examiner's"


def test_only_what_changes_the_look_of_a_result_is_taken_from_the_environment(
    served: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    monkeypatch.setenv("COLUMNS", "99")
    monkeypatch.setenv("KUBECONFIG", "/tmp/mine")
    monkeypatch.setenv("PYTHONPATH", "/tmp/mine")
    environment = _asked(path, "environment")[1].splitlines()
    assert {"LC_ALL=ko_KR.UTF-8", "COLUMNS=99"} <= set(environment)
    assert not [line for line in environment if line.endswith("/tmp/mine")]
    assert "KUBECONFIG" not in chosen_environment()


def test_a_variable_that_is_not_set_is_not_set_there_either(
    served: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LC_ALL")  # the examiner was started with it
    assert "LC_ALL=" not in _asked(path, "environment")[1]


@pytest.mark.parametrize("word", ["die", "raise"])
def test_a_crash_is_ours_and_the_next_command_runs(served: int, path: Path, word: str) -> None:
    code, _out, err = _asked(path, word)
    assert code == 4
    assert ("RuntimeError: a bug in the command" in err) is (word == "raise")
    assert _asked(path, "say", "still here")[:2] == (0, "still here\n")


def test_whoever_says_nothing_holds_up_nobody(served: int, path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent, short_path(path) as name:
        silent.connect(name)
        assert silent.recv(100) == READY
        assert _asked(path, "exit", "7")[0] == 7


@pytest.mark.parametrize(
    "request_", [b"\n", b"not JSON\n", b"[]\n", b'{"argv": ["say"], "env": {}, "files": []}\n', b"x" * 70_000]
)
def test_a_request_that_is_none_is_hung_up_on(served: int, path: Path, request_: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as nonsense, short_path(path) as name:
        nonsense.connect(name)
        nonsense.settimeout(5)
        assert nonsense.recv(100) == READY
        with suppress(BrokenPipeError, ConnectionResetError):
            nonsense.sendall(request_)
            assert nonsense.recv(100) == b""
    assert _asked(path, "exit", "7")[0] == 7


class _Asking:
    """A client of which we hold the connection, with a command under way."""

    def __init__(self, path: Path, *argv: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        with short_path(path) as name:
            self.socket.connect(name)
        self.socket.settimeout(10)
        assert self.socket.recv(100) == READY
        words = ", ".join(f'"{word}"' for word in argv)
        request = f'{{"argv": [{words}], "env": {{}}, "files": []}}\n'.encode()
        nothing = os.open(os.devnull, os.O_RDWR)
        socket.send_fds(self.socket, [request], [nothing] * 3)
        os.close(nothing)


def _pid_in(marker: Path) -> int:
    """The number a command writes into a pipe as soon as it waits."""
    return int(marker.read_text())


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "marker")
    return tmp_path / "marker"


def test_an_interrupt_reaches_the_command(served: int, path: Path, marker: Path) -> None:
    asking = _Asking(path, "wait", str(marker))
    _pid_in(marker)
    with asking.socket:
        asking.socket.sendall(INTERRUPT)
        assert asking.socket.recv(100) == b'{"exit": 130}\n'


def test_a_command_that_does_not_end_is_ended(served: int, path: Path, marker: Path) -> None:
    asking = _Asking(path, "refuse to end", str(marker))
    _pid_in(marker)
    with asking.socket:
        asking.socket.sendall(INTERRUPT)
        assert asking.socket.recv(100) == b'{"exit": 4}\n'


def test_hanging_up_ends_the_command(served: int, path: Path, marker: Path) -> None:
    asking = _Asking(path, "wait", str(marker))
    watched = os.pidfd_open(_pid_in(marker))
    asking.socket.close()
    assert select.select([watched], [], [], 10)[0] == [watched]
    os.close(watched)


def test_ctrl_c_of_who_asks_is_130(served: int, path: Path, marker: Path) -> None:
    client = os.fork()
    if client == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os._exit(ask(path, ["wait", str(marker)]))
    _pid_in(marker)
    os.kill(client, signal.SIGINT)
    assert os.waitstatus_to_exitcode(os.waitpid(client, 0)[1]) == 130


# -- where nobody answers -----------------------------------------------------------------------------


def test_no_socket_is_said(path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"the lab's examiner does not answer \(No such file or directory\)"):
        ask(path, ["check"])
    assert not answers(path)


def test_a_socket_that_nobody_listens_at_is_said(path: Path) -> None:
    examiner.listen(path).close()
    with pytest.raises(EnvironmentProblem, match=r"does not answer \(Connection refused\)"):
        ask(path, ["check"])
    assert not answers(path)


def test_an_examiner_that_dies_meanwhile_is_said(served: int, path: Path, marker: Path) -> None:
    client = os.fork()
    if client == 0:
        with suppress(BaseException):
            try:
                ask(path, ["wait", str(marker)])
            except EnvironmentProblem as problem:
                os._exit(3 if "was stopped while the command ran" in problem.message else 5)
        os._exit(6)
    worker = _pid_in(marker)
    keeper = int(Path(f"/proc/{worker}/stat").read_text().rpartition(") ")[2].split()[1])
    os.kill(keeper, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(client, 0)[1]) == 3
    os.kill(worker, signal.SIGKILL)


def test_an_examiner_answers_when_it_is_there(served: int, path: Path) -> None:
    assert answers(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_second_examiner_takes_the_place_of_the_first(path: Path) -> None:
    first = examiner.listen(path)
    second = examiner.listen(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["grader.sock"]
    first.close()
    second.close()


# -- files of who asks --------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--junit", "FILE"], ["--junit=FILE"], ["--svg", "FILE"]])
def test_a_file_is_opened_on_the_asking_side_and_put_there_whole(
    served: int, path: Path, tmp_path: Path, words: list[str]
) -> None:
    target = tmp_path / "out.xml"
    target.write_text("of the last run")
    argv = ["write", "<xml/>"]
    # The tiny command looks at its first words only; what is searched for the file is the whole line.
    assert _converse(path, argv, [word.replace("FILE", str(target)) for word in words]) == 1
    assert target.read_text() == "<xml/>"
    assert [entry.name for entry in tmp_path.glob("*out.xml*")] == ["out.xml"]


def _converse(path: Path, argv: list[str], more: list[str]) -> int:
    import grader.session.examiner_client as client

    whole = [*argv, *more]
    asked = client.ask

    def ask_first_words(path: Path, _argv: list[str], **kwargs: object) -> int:
        return asked(path, argv, **kwargs)  # type: ignore[arg-type]  # handed on as it came

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "ask", ask_first_words)
        return converse(path, whole)


def test_a_command_that_writes_nothing_leaves_the_old_file(served: int, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    target.write_text("of the last run")
    assert _converse(path, ["exit", "2"], ["--junit", str(target)]) == 2
    assert target.read_text() == "of the last run"
    assert [entry.name for entry in tmp_path.glob("*out.xml*")] == ["out.xml"]


def test_a_file_that_cannot_be_written_is_said_before_anything_runs(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"can't write .*/none/out\.xml: No such file or directory"):
        converse(path, ["check", "--junit", str(tmp_path / "none" / "out.xml")])


def test_after_two_dashes_nothing_is_a_file(served: int, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.xml"
    assert _converse(path, ["exit", "0"], ["--", "--junit", str(target)]) == 0
    assert not target.exists()


def test_a_command_imports_nothing_of_ours_that_was_not_preloaded(tmp_path: Path) -> None:
    """Or an upgrade while a lab runs would mix two versions in one process."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from grader.session import examiner, here\n"
        "examiner._preload()\n"
        "before = set(sys.modules)\n"
        f"here.become_examiner(Path({str(tmp_path / 'lab-lws')!r}))\n"
        "from grader.cli import run\n"
        "for line in ('list --json', 'show 1', 'show --json', 'hint 1 --json', 'check --watch', 'check --json',\n"
        "             'check --junit x', 'report', 'status --json', 'status', 'completion bash', 'check --help',\n"
        "             'timeline', 'board', 'nonsense'):\n"
        "    run(line.split())\n"
        "new = {name for name in set(sys.modules) - before if name.split('.')[0] in ('grader', 'cluster')}\n"
        "print('new:', sorted(new))\n"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "new: []", done.stderr[-2000:]
    assert "this is our bug" not in done.stderr, "a session of which nothing is there is no bug"


def test_it_carries_nothing_that_only_a_start_needs() -> None:
    # What is imported stays for as long as the session does; this alone was a sixth of it.
    script = "import sys; from grader.session import examiner; examiner._preload(); print(*sorted(sys.modules))"
    told = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert "grader.check_session" in told
    assert not {"cluster.pki", "cluster.plan", "cryptography"} & set(told)
