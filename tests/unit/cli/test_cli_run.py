"""From a command line to an exit code: what is said where, whatever goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from cluster import i18n
from cluster.errors import EnvironmentProblem, UsageProblem
from grader.cli import main, root, take_language
from grader.cli.commands import Command
from grader.session import examiner_client
from tests.unit.cli.conftest import Grader

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def raises(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """`grader list` raises what the test puts here."""
    wanted: list[BaseException] = []

    @click.command(cls=Command)
    def command() -> None:
        raise wanted[0]

    monkeypatch.setattr(root.Root, "get_command", lambda *_args: command)
    return wanted


def test_a_problem_is_said_with_its_advice_and_ends_with_its_code(grader: Grader, raises: list[BaseException]) -> None:
    raises.append(EnvironmentProblem("the disk is full", "make room"))
    ran = grader("list")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "grader: the disk is full\n        make room\n"


def test_a_problem_without_advice_is_one_line(grader: Grader, raises: list[BaseException]) -> None:
    raises.append(UsageProblem("no such thing"))
    ran = grader("list")
    assert (ran.code, ran.err) == (2, "grader: no such thing\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_ctrl_c_is_130_and_says_nothing(grader: Grader, raises: list[BaseException], error: BaseException) -> None:
    raises.append(error)
    ran = grader("list")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_anything_else_is_our_bug_and_kept_in_a_file(
    grader: Grader, raises: list[BaseException], state_home: Path
) -> None:
    raises.append(ZeroDivisionError("division by zero"))
    ran = grader("list")
    assert (ran.code, ran.out) == (4, "")
    [kept] = (state_home / "crashes").iterdir()
    assert ran.err == (
        "grader: this is our bug, not your mistake: ZeroDivisionError: division by zero\n"
        f"        the details are in {kept}; please report them\n"
    )
    assert kept.stat().st_mode & 0o777 == 0o600
    text = kept.read_text()
    assert "grader list\n" in text
    assert "raise wanted[0]\n" in text


def test_a_bug_inside_the_sandbox_is_kept_in_the_session_folder(
    grader: Grader, raises: list[BaseException], inside: Path
) -> None:
    raises.append(ZeroDivisionError())
    assert grader("list").code == 4
    assert len(list((inside / "crashes").iterdir())) == 1


def test_a_bug_that_cannot_be_kept_is_shown(grader: Grader, raises: list[BaseException], state_home: Path) -> None:
    state_home.parent.mkdir()
    state_home.write_text("a file in its place")
    raises.append(ZeroDivisionError("division by zero"))
    ran = grader("list")
    assert ran.code == 4
    assert "Traceback (most recent call last)" in ran.err
    assert ran.err.endswith("grader: this is our bug, not your mistake: ZeroDivisionError: division by zero\n")


def test_a_broken_catalog_of_messages_is_a_bug_that_is_said_in_english(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_lang: str) -> None:
        raise OSError("no catalog")

    monkeypatch.setattr(i18n, "_catalog", broken)
    ran = grader("--lang", "ko", "list")
    assert ran.code == 4
    assert "this is our bug, not your mistake: OSError: no catalog" in ran.err


@pytest.mark.parametrize(
    ("argv", "message", "advice"),
    [
        (["chekc"], "no command 'chekc'; did you mean 'check'?", "`grader --help` shows what it takes"),
        (["list", "--jsn"], "no option --jsn; did you mean '--json'?", "`grader list --help` shows what it takes"),
        (["list", "more", "words"], "too many words: more words", "`grader list --help` shows what it takes"),
        (["start"], "LAB is missing", "`grader start --help` shows what it takes"),
        (["check", "--step"], "--step needs a value", "`grader check --help` shows what it takes"),
        (["completion", "zhs"], "no 'zhs' here; did you mean 'zsh'?", "`grader completion --help` shows what it takes"),
        (
            ["binaries", "lst"],
            "no command 'lst'; did you mean 'list'?",
            "`grader binaries --help` shows what it takes",
        ),
        (["show", "lab-toi"], "no lab lab-toi (did you mean 'lab-toy'?)", "labs there are: lab-toy"),
        (["check", "lab-toi"], "no lab 'lab-toi'; did you mean 'lab-toy'?", "`grader list` shows the labs"),
        (["stop", "lab-toi"], "no lab 'lab-toi'; did you mean 'lab-toy'?", "`grader list` shows the labs"),
        (["status", "lab-toi"], "no lab 'lab-toi'; did you mean 'lab-toy'?", "`grader list` shows the labs"),
        (["lint", "lab-toi"], "no lab 'lab-toi'; did you mean 'lab-toy'?", "`grader list` shows the labs"),
        (["show", "lab-toy", "helo"], "lab-toy has no step 'helo'; did you mean 'hello'?", ""),
        (["show", "lab-toy", "3"], "lab-toy has no step '3'; there are: hello, bye", ""),
        (["check"], "no lab runs", "`grader list` shows the labs, `grader start LAB` starts one"),
        (["hint"], "say which step, for example: grader hint lab-lws 3", ""),
        (["stop", "lab-toy", "--all"], "either a lab or --all", ""),
        (["report", "--json", "--csv"], "either --json or --csv", ""),
        (["check", "--watch", "--junit", "x"], "--watch never ends with a file: leave out --junit", ""),
        (["--lang", "xx", "list"], "no language 'xx'; there are: en, ko", ""),
        (["list", "--lang"], "--lang needs a language: en, ko", ""),
    ],
)
def test_a_wrong_command_line_is_said_and_ends_with_2(
    grader: Grader, argv: list[str], message: str, advice: str
) -> None:
    ran = grader(*argv)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err == f"grader: {message}\n" + (f"        {advice}\n" if advice else "")


@pytest.mark.parametrize(
    ("argv", "language", "rest"),
    [
        (["check"], "en", ["check"]),
        (["--lang", "ko", "check"], "ko", ["check"]),
        (["check", "--lang=ko", "--json"], "ko", ["check", "--json"]),
        (["shell", "--", "echo", "--lang", "ko"], "en", ["shell", "--", "echo", "--lang", "ko"]),
        (["--lang", "ko", "--lang", "en", "list"], "en", ["list"]),
    ],
)
def test_the_language_may_stand_anywhere(argv: list[str], language: str, rest: list[str]) -> None:
    assert take_language(argv) == (language, rest)


def test_the_locale_decides_where_no_language_is_given(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    monkeypatch.setattr(i18n, "_catalog", lambda _lang: _Marking())
    assert "첫 파드" in grader("show", "lab-toy").out
    assert "A first pod" in grader("--lang", "en", "show", "lab-toy").out


class _Marking:
    """A catalog that shows which messages were looked up."""

    def gettext(self, message: str) -> str:
        return f"«{message}»"


def test_a_lab_shell_asks_its_examiner_whatever_it_is_asked(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, list[str]]] = []

    def converse(path: Path, argv: list[str]) -> int:
        asked.append((path, argv))
        return 1

    monkeypatch.setattr("grader.cli.converse", converse)
    monkeypatch.setenv("BATCHLAB_INSIDE", "lab-toy")
    assert grader("check", "--step", "2").code == 1
    assert [(str(path), list(argv)) for path, argv in asked] == [
        ("/run/batchlab/desk/grader.sock", ["check", "--step", "2"])
    ]


@pytest.mark.parametrize("command", ["start", "stop", "reset", "shell", "verify", "lint", "doctor", "binaries"])
def test_what_changes_a_lab_does_not_run_inside_it(grader: Grader, inside: Path, command: str) -> None:
    ran = grader(command, "lab-toy")
    assert ran.code == 2
    assert ran.err == (
        f"grader: `grader {command}` does not run inside a lab\n"
        f"        leave the lab's shell first (exit), then: grader {command} lab-toy\n"
    )


def test_another_lab_is_not_reachable_from_inside(grader: Grader, inside: Path) -> None:
    ran = grader("check", "lab-lws")
    assert ran.code == 2
    assert ran.err.startswith("grader: this is the shell of lab-toy; lab-lws is not reachable from here\n")


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def test_what_a_quick_command_imports() -> None:
    """`check` on the host must not pay for what only the sandbox's side needs."""
    done = _python(
        "import sys; sys.argv = ['grader', 'check']\n"
        "from grader.cli import run\n"
        "assert run(['check']) == 2\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'pydantic', 'jinja2', 'yaml', 'cryptography', 'urllib3', 'babel', 'textual', 'psutil'}))\n"
        "print(sorted(n for n in sys.modules if n.startswith(('grader.lab', 'grader.checks', 'cluster.local'))))\n"
    )
    assert done.stdout.splitlines()[-2:] == ["[]", "[]"], done.stderr


def test_what_a_labs_shell_imports() -> None:
    done = _python(
        "import sys; import grader.session.examiner_client\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'click', 'pydantic', 'rich', 'asyncio'}))\n"
    )
    assert done.stdout == "[]\n", done.stderr


def test_a_closed_pipe_is_no_bug() -> None:
    done = _python(
        "import os, sys, subprocess\n"
        "from grader.cli import run\n"
        "reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1)\n"
        "code = run(['--help'])\n"
        "sys.stderr.write(str(code))\n"
    )
    assert (done.returncode, done.stderr) == (0, "141")


def test_term_ends_with_143_and_every_clean_up(tmp_path: Path) -> None:
    marker = tmp_path / "cleaned"
    done = _python(
        "import os, signal, sys\n"
        "import grader.cli, grader.cli.root\n"
        "def invoke(argv):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        signal.pause()\n"
        "    finally:\n"
        f"        open({str(marker)!r}, 'w').close()\n"
        "grader.cli.root.invoke = invoke\n"
        "grader.cli.main()\n"
    )
    assert done.returncode == 143, done.stderr
    assert marker.exists()


def test_the_shell_side_says_problems_as_the_host_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["examiner_client", str(tmp_path / "grader.sock"), "check"])
    with pytest.raises(SystemExit) as end:
        examiner_client.main()
    assert end.value.code == 3
    assert capsys.readouterr().err == (
        "grader: the lab's examiner does not answer (No such file or directory)\n"
        "        `grader status` says what runs; `grader start` repairs a session "
        f"(socket: {tmp_path}/grader.sock)\n"
    )


def test_main_ends_with_the_code_of_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["grader", "nonsense"])
    monkeypatch.setattr("signal.signal", lambda *_args: None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
