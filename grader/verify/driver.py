"""A real session of our own, driven as a learner would: scripts at the learner's place, `grader check` to look.

Owns `SessionDriver` and its session folder, `<state dir>/verify/<lab>/`, so that a learner's own session of the
same lab is never touched. Knows nothing of what is being proved.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from cluster import local
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _, language
from cluster.paths import state_dir
from grader.collections.address import folder_name, lab_of_folder
from grader.progress import set_achievements
from grader.report.json import parse_results
from grader.session.examiner_client import ask
from grader.session.lifecycle import reset_session, start_session, stop_session
from grader.session.places import examiner_socket, work_folder
from grader.session.values import keep_values, shell_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from cluster.machine import BootEvent
    from grader.lab.model import Lab
    from grader.lab.values import Value
    from grader.results import Result
    from grader.session.lifecycle import Programs

SCRIPT_SECONDS: Final = 300.0
"""How long a script may take; a solution that waits for its pods takes seconds."""
TIMED_OUT: Final = 124
"""The exit code of a script that was ended, as timeout(1) has it."""
OUTPUT_BYTES: Final = 16 * 1024
"""How much of the end of a script's output is kept."""


class SessionDriver:
    """One session of one lab, from `with` to its end; then nothing of it is left.

    Where something failed the folder (logs, history, the learner's place) is kept until the next time.
    """

    def __init__(
        self,
        lab: Lab,
        on_event: Callable[[BootEvent], None],
        programs: Programs | None = None,
        *,
        home: Path | None = None,
    ) -> None:
        """`programs`: where the cluster's programs come from; `home`: another session folder."""
        self.lab, self.on_event, self.programs = lab, on_event, programs
        self.home = home or _home(lab.id)
        self.failed = False
        """Whether the machine ever failed us."""
        self._open = ExitStack()
        self._keep = False

    def __enter__(self) -> SessionDriver:
        """Start the lab untouched, clearing away what a verification that was killed left."""
        with ExitStack() as undo:
            undo.enter_context(_only_one(self.home))
            self._stop()
            self._forget()
            undo.callback(self._end)
            with self._watched():
                if self.lab.declared:
                    self.use_values(self.lab.values)
                start_session(self.lab, on_event=self.on_event, programs=self.programs, home=self.home)
            self._open = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the lab."""
        self._open.close()
        if kind is None and not self.failed and not self._keep:
            self._forget()

    def keep(self) -> str:
        """Leave the session running at the end; the next verification of the lab clears it away."""
        self._keep = True
        return str(self.home)

    def answers(self) -> list[tuple[str, str]]:
        """What the recorder and the work folder show, read on the host: nobody in the lab can ask for it."""
        from grader.author.answers import answers
        from grader.author.expected import session_world

        with self._watched(), session_world(self.home, self.lab) as world:
            return [*answers(self.lab, world)]

    def reset(self) -> None:
        """As `grader reset`."""
        with self._watched():
            reset_session(self.lab, on_event=self.on_event, programs=self.programs, home=self.home)

    def run_script(self, script: Path) -> tuple[int, str]:
        """Run `script` as a learner would; its exit code and the end of its output, both streams together.

        It is handed over as text: the learner's place doesn't show the folder of labs. It gets no terminal
        and no input, and SCRIPT_SECONDS.
        """
        # Not through stdin: what the script runs (kubectl exec -i) would read the rest of it.
        argv = ["bash", "-c", script.read_text(encoding="utf-8"), script.name]
        environment = {"LANG": "C.UTF-8", "TERM": "dumb", **shell_environment(self.home)}
        with self._watched(), tempfile.TemporaryFile() as output:
            command = local.desk_command(self.home, argv, environment)
            code = _run(command, output)
            text = _tail(output)
        if code == TIMED_OUT:
            text += "\n" + _("it was ended after {seconds} s").format(seconds=round(SCRIPT_SECONDS))
        return code, text

    def check(self, steps: Sequence[str] | None, achievements: Mapping[str, float]) -> list[Result]:
        """As `grader check`, with exactly these achievements remembered before it."""
        results: list[Result] = []
        remembered = dict(achievements)
        for step in [None] if steps is None else steps:
            set_achievements(self.home, remembered)
            results += self._check(["--step", step] if step else [])
        return results

    def use_values(self, values: Mapping[str, Value]) -> None:
        """As if they had been drawn for this session."""
        with self._watched():
            keep_values(self.home, values)

    def snapshot_work(self) -> None:
        """Copy the work folder aside, with times, modes, links and whatever else a learner may make."""
        with self._watched():
            _system(["rm", "-rf", "--", str(self._kept)])
            _system(["cp", "-a", "--", str(work_folder(self.home)), str(self._kept)])

    def restore_work(self) -> None:
        """Put the copy back inside the folder: the folder itself is mounted in the sandbox and must stay."""
        work = work_folder(self.home)
        with self._watched():
            _system(["find", str(work), "-mindepth", "1", "-delete"])
            _system(["cp", "-a", "--", f"{self._kept}/.", str(work)])

    @property
    def _kept(self) -> Path:
        return self.home / "work.verified"

    def _check(self, options: list[str]) -> list[Result]:
        argv = ["--lang", language(), "check", "--json", *options]
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            with self._watched(), tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
                streams = (nothing, output.fileno(), errors.fileno())
                code = ask(examiner_socket(self.home), argv, streams=streams)
                said, complaints = _whole(output), _tail(errors).strip()
                if not said:
                    raise EnvironmentProblem(
                        _("the check ended with exit code {code} and no verdict").format(code=code)
                        + (f"\n{complaints}" if complaints else "")
                    )
        finally:
            os.close(nothing)
        return parse_results(said)

    def _end(self) -> None:
        if not self._keep:
            self._stop()

    def _stop(self) -> None:
        stop_session(self.lab.id, on_event=self.on_event, home=self.home)

    def _forget(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except Problem:
            self.failed = True
            raise


def clear_away(lab_id: str, on_event: Callable[[BootEvent], None]) -> None:
    """Stop what is left of a verification whose process was killed; its folder stays, to be looked at."""
    stop_session(lab_id, on_event=on_event, home=_home(lab_id))


def _home(lab_id: str) -> Path:
    return state_dir() / "verify" / folder_name(lab_id)


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the right to verify this lab; EnvironmentProblem where another process has it."""
    home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(home.with_name(f"{home.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise EnvironmentProblem(
                _("{lab} is being verified by another process").format(lab=lab_of_folder(home.name)),
                _("wait for it, or end it"),
            ) from error
        yield
    finally:
        os.close(handle)


def _run(command: Sequence[str], output: IO[bytes]) -> int:
    """Run to the end or to the deadline; in a group of its own, so that nothing of it outlives it."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        return process.wait(SCRIPT_SECONDS)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        # Also after an orderly end: a script's background jobs would go on changing the next part's lab.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _system(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise EnvironmentProblem(
            _("{command} failed: {why}").format(command=command[0], why=done.stderr.strip() or done.returncode)
        )


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - OUTPUT_BYTES))
    return output.read().decode(errors="replace")


def _whole(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")
