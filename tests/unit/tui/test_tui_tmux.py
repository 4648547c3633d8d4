"""The pane beside the application, with a real tmux and an ordinary bash in the place of the lab's."""

from __future__ import annotations

import os
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
    assert server("display-message", "-p", "#{pane_id}").strip() == shell.pane, "there Enter is to be pressed"
    assert "one 23" not in _text(server, shell)
    server("send-keys", "-t", shell.pane, "Enter")
    until(lambda: "one 23" in _text(server, shell), 10)


@pytest.mark.parametrize(("size", "there"), [((160, 40), False), ((80, 24), True)])
def test_what_is_run_is_seen(server: Callable[..., str], size: tuple[int, int], there: bool) -> None:
    server("resize-window", "-x", str(size[0]), "-y", str(size[1]))
    shell = tmux.TmuxShell(command=["env", "PS1=$ ", "bash", "--norc", "-i"], environment={}, title="lab-demo")
    shell.type("echo seen", enter=True)
    assert (server("display-message", "-p", "#{pane_id}").strip() == shell.pane) is there


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


class TestComingBack:
    """A shell in which a program runs is left as it is, and found again."""

    HOME = "/state/sessions/lab-demo"

    def _shell(self, home: str = HOME) -> tmux.TmuxShell:
        return tmux.TmuxShell(
            command=["env", "PS1=$ ", "bash", "--norc", "-i"], environment={}, title="lab-demo", home=home
        )

    def test_the_same_application_takes_the_same_pane(self, server: Callable[..., str]) -> None:
        """As when one goes to the catalogue and comes back: the screen is another, the pane is not."""
        first = self._shell()
        first.type("cat", enter=True)
        until(lambda: first.busy() == "cat", 10)
        again = self._shell()
        again.open()
        assert again.pane == first.pane
        assert again.busy() == "cat"
        assert len(server("list-panes").split("\n")) == 3

    def test_one_in_another_window_is_brought_here(
        self, server: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = self._shell()
        first.type("cat", enter=True)
        until(lambda: first.busy() == "cat", 10)
        other = server("new-window", "-d", "-P", "-F", "#{pane_id}", "cat").strip()
        server("kill-pane", "-t", server("list-panes", "-F", "#{pane_id}").split()[0])  # the application is gone
        monkeypatch.setenv("TMUX_PANE", other)
        again = self._shell()
        again.open()
        assert again.pane == first.pane
        windows = server("list-panes", "-a", "-F", "#{window_id}").split()
        assert len(windows) == 2
        assert len(set(windows)) == 1

    def test_that_of_another_application_or_another_lab_is_let_be(
        self, server: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = self._shell()
        first.open()
        other = server("new-window", "-d", "-P", "-F", "#{pane_id}", "cat").strip()
        monkeypatch.setenv("TMUX_PANE", other)
        again = self._shell()
        again.open()
        assert again.pane != first.pane
        monkeypatch.setenv("TMUX_PANE", server("list-panes", "-F", "#{pane_id}").split()[0])
        elsewhere = self._shell("/elsewhere/sessions/lab-demo")
        elsewhere.open()
        assert elsewhere.pane not in (first.pane, again.pane)

    def test_leaving_closes_what_is_idle_and_names_what_is_not(self, server: Callable[..., str]) -> None:
        idle, busy = self._shell("/state/sessions/lab-idle"), self._shell()
        idle.open()
        busy.type("cat", enter=True)
        until(lambda: busy.busy() == "cat", 10)
        assert own.leave("batchlab") == ["cat still runs in the shell of lab-demo; batchlab comes back to it"]
        assert not idle.alive()
        assert busy.alive()
        assert server("list-panes").strip()

    def test_the_way_back_is_said(self, server: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the shell fills the terminal nothing else would tell how to leave it."""
        del server
        shell = self._shell()
        shell.way_back = "F2 goes back"
        shell.open()
        asked: list[tuple[str, ...]] = []
        real = tmux.call

        def call(*words: str, **more: str) -> str:
            asked.append(words)
            return real(*words, **more)  # type: ignore[arg-type]  # as they came

        monkeypatch.setattr(tmux, "call", call)
        shell.focus()
        assert ("display-message", "-d", "4000", "-t", shell.pane, "F2 goes back") in asked


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


class TestLeftBehind:
    """A session of our own that goes on without a terminal."""

    @pytest.fixture
    def left(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """Its folder: the application has gone, and `cat` runs in the shell of lab-demo."""
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.delenv("TMUX", raising=False)
        line = own.own_session(["sleep", "1000"], ascii_only=False)
        folder = Path(line[line.index("-S") + 1]).parent
        config = folder / "tmux.conf"
        config.write_text(config.read_text().replace("set -g destroy-unattached on\n", ""))
        line.insert(line.index("new-session") + 1, "-d")
        subprocess.run(line, capture_output=True, check=True, timeout=10)
        pane = tmux.call("list-panes", "-F", "#{pane_id}", socket=folder / "socket").strip()
        with monkeypatch.context() as inside:
            inside.setenv("TMUX", f"{folder / 'socket'},1,0")
            inside.setenv("TMUX_PANE", pane)
            inside.setenv(own.OWN, str(folder))
            command = ["env", "PS1=$ ", "bash", "--norc", "-i"]
            shell = tmux.TmuxShell(command=command, environment={}, title="x", home="/state/sessions/lab-demo")
            shell.type("cat", enter=True)
            until(lambda: shell.busy() == "cat", 10)
            assert own.leave("batchlab") == [], "it is said in the terminal, when that is given back"
        tmux.call("kill-pane", "-t", pane, socket=folder / "socket")
        yield folder
        _end(folder)

    def test_is_found_by_its_state_folder_and_lab(self, left: Path) -> None:
        for lab in (None, "lab-demo"):
            found = own.left_behind(Path("/state/sessions"), lab)
            assert found is not None
            assert (found.folder, found.pane.program, found.pane.lab) == (left, "cat", "lab-demo")
        assert own.left_behind(Path("/state/sessions"), "lab-other") is None
        assert own.left_behind(Path("/elsewhere/sessions"), None) is None

    @pytest.mark.parametrize(("columns", "lines", "zoomed"), [(140, 40, "0"), (80, 24, "1")])
    def test_is_gone_back_to(
        self, left: Path, monkeypatch: pytest.MonkeyPatch, columns: int, lines: int, zoomed: str
    ) -> None:
        """The application stands before the pane, which is as it was; and the session ends with its terminal again."""
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", str(lines))
        found = own.left_behind(Path("/state/sessions"), None)
        assert found is not None
        line = own.back_into(found, ["sleep", "999"])
        assert "destroy-unattached" in line
        form = "#{pane_current_command} #{pane_active} #{window_zoomed_flag} #{window_width}"
        panes = tmux.call("list-panes", "-F", form, socket=left / "socket").splitlines()
        assert panes == [f"sleep 1 {zoomed} {columns}", f"cat 0 {zoomed} {columns}"]

    def test_folders_of_sessions_that_are_gone_are_removed(self, tmp_path: Path, left: Path) -> None:
        old, new = tmp_path / f"{own.PREFIX}old", tmp_path / f"{own.PREFIX}new"
        for folder in (old, new):
            folder.mkdir()
        long_ago = old.stat().st_mtime - 2 * own.NEW_SECONDS
        os.utime(old, (long_ago, long_ago))
        assert own.left_behind(Path("/state/sessions"), None) is not None
        assert own.left_behind(Path("/elsewhere"), None) is None
        assert not old.exists()
        assert new.exists(), "it may be just being made"
        assert left.exists()


def test_a_session_whose_terminal_is_gone_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / f"{own.PREFIX}gone"
    folder.mkdir()
    monkeypatch.setenv("TMUX", f"{folder / 'socket'},1,0")
    monkeypatch.setenv("TMUX_PANE", "%0")
    monkeypatch.setenv(own.OWN, str(folder))
    assert own.leave("batchlab") == []
    assert not folder.exists()


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
