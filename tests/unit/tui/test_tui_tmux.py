"""The pane beside the application, with a real tmux and an ordinary bash in the place of the lab's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from cluster.errors import EnvironmentProblem
from tests.blackbox.waiting import until
from tui.terminal import own, tmux

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """A tmux of the test's own, in whose first pane this process pretends to be."""
    socket = tmp_path / "socket"

    def call(*words: str) -> str:
        line = ["tmux", "-S", str(socket), *words]
        return subprocess.run(line, capture_output=True, text=True, check=True, timeout=10).stdout

    call("-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "40", "cat")
    pane = call("list-panes", "-F", "#{pane_id}").strip()
    monkeypatch.setenv("TMUX", f"{socket},1,0")
    monkeypatch.setenv("TMUX_PANE", pane)
    monkeypatch.setenv("PS1", "$ ")
    yield call
    subprocess.run(["tmux", "-S", str(socket), "kill-server"], capture_output=True, check=False)


@pytest.fixture
def shell(server: Callable[..., str]) -> tmux.TmuxShell:
    del server
    made = tmux.TmuxShell(command=["env", "PS1=$ ", "bash", "--norc", "-i"], environment={}, title="lab-demo")
    made.open()
    return made


def _text(server: Callable[..., str], shell: tmux.TmuxShell) -> str:
    return server("capture-pane", "-p", "-t", shell.pane)


def test_opens_one_pane_and_leaves_the_focus(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    shell.open()
    panes = server("list-panes", "-F", "#{pane_id} #{pane_active} #{pane_left}").split("\n")
    assert len([pane for pane in panes if pane]) == 2
    assert panes[0].split()[1] == "1"
    assert int(panes[1].split()[2]) > 60, "beside, where there is room"


def test_types_and_waits_for_the_learners_enter(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    shell.type("echo one $((20 + 3))\n", enter=False)
    until(lambda: "echo one $((20 + 3))" in _text(server, shell), 10)
    assert "one 23" not in _text(server, shell)
    server("send-keys", "-t", shell.pane, "Enter")
    until(lambda: "one 23" in _text(server, shell), 10)


def test_runs_several_lines_as_one(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    shell.type('for n in 1 2; do\n  echo "line $((n * 10)) – 가"\ndone', enter=True)
    until(lambda: "line 10 – 가" in _text(server, shell) and "line 20 – 가" in _text(server, shell), 10)


def test_types_nothing_into_another_program(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    shell.type("cat", enter=True)
    until(lambda: shell.busy() == "cat", 10)
    with pytest.raises(EnvironmentProblem, match="cat runs in the shell"):
        shell.type("echo never", enter=True)
    assert "never" not in _text(server, shell)
    assert not shell.close(), "what runs there stays"
    server("send-keys", "-t", shell.pane, "C-c")
    until(lambda: shell.busy() == "", 10)
    assert shell.close()
    assert len(server("list-panes").strip().splitlines()) == 1


def test_a_shell_that_was_left_is_opened_anew(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    server("send-keys", "-t", shell.pane, "exit", "Enter")
    until(lambda: not shell.alive(), 10)
    shell.type("echo again", enter=True)
    until(lambda: "again" in _text(server, shell), 10)


def test_focus_goes_there(server: Callable[..., str], shell: tmux.TmuxShell) -> None:
    shell.focus()
    assert server("display-message", "-p", "#{pane_id}").strip() == shell.pane


@pytest.mark.parametrize(("size", "zoomed"), [((80, 24), "1"), ((80, 45), "0")])
def test_where_there_is_room_for_one_only_it_fills_the_terminal(
    server: Callable[..., str], size: tuple[int, int], zoomed: str
) -> None:
    server("resize-window", "-x", str(size[0]), "-y", str(size[1]))
    shell = tmux.TmuxShell(command=["env", "PS1=$ ", "bash", "--norc", "-i"], environment={}, title="lab-demo")
    shell.open()
    assert server("display-message", "-p", "#{window_zoomed_flag}").strip() == zoomed
    shell.focus()
    assert server("display-message", "-p", "#{window_zoomed_flag} #{pane_id}").split() == [zoomed, shell.pane]


def test_a_tmux_that_does_not_answer_is_said(shell: tmux.TmuxShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/nowhere/socket,1,0")
    with pytest.raises(EnvironmentProblem, match="tmux does not answer"):
        shell.open()


class TestOwnSession:
    def test_has_a_socket_and_a_configuration_of_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        line = own.own_session(["prog", "--lang", "ko"], ascii_only=True)
        folder = Path(line[line.index("-S") + 1]).parent
        assert folder.parent == tmp_path
        text = (folder / "tmux.conf").read_text()
        assert "pane-border-lines simple" in text
        assert line[-4:] == ["--", "prog", "--lang", "ko"]

    def test_runs_its_program_and_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Our configuration is taken by the tmux there is, without a word of complaint."""
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.delenv("TMUX", raising=False)
        line = own.own_session(["cat"], ascii_only=False)
        folder = Path(line[line.index("-S") + 1]).parent
        line.insert(line.index("new-session") + 1, "-d")
        # Nobody is attached, and that would end it.
        text = (folder / "tmux.conf").read_text().replace("set -g destroy-unattached on\n", "")
        (folder / "tmux.conf").write_text(text)
        started = subprocess.run(line, capture_output=True, text=True, check=True, timeout=10)
        assert (started.stdout, started.stderr) == ("", "")
        socket = ["tmux", "-S", str(folder / "socket")]
        try:
            keys = subprocess.run(
                [*socket, "list-keys", "-T", "root"], capture_output=True, text=True, check=True
            ).stdout
            assert any(own.SWAP_KEY in key and "select-pane" in key for key in keys.splitlines())
            pane = subprocess.run(
                [*socket, "list-panes", "-F", "#{pane_id}"], capture_output=True, text=True, check=True
            )
            monkeypatch.setenv("TMUX", f"{folder / 'socket'},1,0")
            monkeypatch.setenv("TMUX_PANE", pane.stdout.strip())
            monkeypatch.setenv(own.OWN, str(folder))
            assert own.leave("batchlab") == []
            assert not folder.exists()
        finally:
            _end(folder)


def _end(folder: Path) -> None:
    """The server whose socket is gone, by what it was started with."""
    for process in psutil.process_iter(["cmdline"]):
        if str(folder / "socket") in (process.info["cmdline"] or []):
            process.kill()


def test_nothing_is_wanted_inside_another_tmux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/somewhere,1,0")
    assert not own.wanted()
    monkeypatch.delenv("TMUX")
    assert own.wanted()
    assert not tmux.inside()
