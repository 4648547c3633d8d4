"""Work side by side in processes: how many at once, what they tell, and the end of all of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.verify.crew import Crew, Died

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.verify.crew import Tell

    Work = Callable[[Tell], Any]

_SECONDS = 20.0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    tick = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "condition not met in time"
        tick.wait(0.01)


class Ears:
    """What a crew told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.ended: dict[str, Any] = {}
        self.order: list[str] = []

    def hear(self, name: str, what: object) -> None:
        self.told.append((name, what))
        self.order.append(f"{name} {what}")

    def end(self, name: str, result: object) -> None:
        self.ended[name] = result
        self.order.append(f"{name} ended")


def run(work: dict[str, Work], jobs: int) -> Ears:
    ears = Ears()
    Crew(work, jobs, ears.hear, ears.end).run()
    return ears


def meets(own: Path, other: Path) -> Work:
    """Ends only once the other one has begun."""

    def work(tell: Tell) -> str:
        own.touch()
        until(other.exists)
        tell("met")
        return own.name

    return work


def test_two_run_at_once(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    ears = run({"one": meets(a, b), "two": meets(b, a)}, jobs=2)
    assert ears.ended == {"one": "a", "two": "b"}
    assert sorted(ears.told) == [("one", "met"), ("two", "met")]


def test_never_more_than_asked_for_and_in_order(tmp_path: Path) -> None:
    running = tmp_path / "running"

    def alone(tell: Tell) -> int:
        running.mkdir()  # fails where another is there
        tell("begun")
        running.rmdir()
        return os.getpid()

    ears = run({"c": alone, "a": alone, "b": alone}, jobs=1)
    assert ears.order == ["c begun", "c ended", "a begun", "a ended", "b begun", "b ended"]
    assert len({os.getpid(), *ears.ended.values()}) == 4, "each in a process of its own"


def test_one_that_is_killed_takes_nothing_with_it(tmp_path: Path) -> None:
    gone = tmp_path / "gone"

    def killed(tell: Tell) -> None:
        tell("here")
        gone.touch()
        os.kill(os.getpid(), signal.SIGKILL)

    def lasting(_tell: Tell) -> str:
        until(gone.exists)
        return "done"

    ears = run({"killed": killed, "lasting": lasting, "next": lambda _tell: "done too"}, jobs=2)
    assert ears.told == [("killed", "here")]
    assert ears.ended["lasting"] == "done"
    assert ears.ended["next"] == "done too"
    died = ears.ended["killed"]
    assert isinstance(died, Died)
    assert died.how == "SIGKILL"
    assert died.seconds > 0


def test_one_that_raises_has_died(capfd: pytest.CaptureFixture[str]) -> None:
    def fails(_tell: Tell) -> None:
        raise ValueError("of its own")

    died = run({"fails": fails}, jobs=1).ended["fails"]
    assert isinstance(died, Died)
    assert died.how == "1"
    assert "ValueError: of its own" in capfd.readouterr().err


def cleans_up(folder: Path) -> Work:
    """Waits for ever, and leaves a file when it is ended in an orderly way."""

    def work(tell: Tell) -> None:
        try:
            tell(os.getpid())
            threading.Event().wait(_SECONDS)
        finally:
            (folder / f"cleaned-{os.getpid()}").touch()

    return work


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupt_ends_all_before_it_goes_on(tmp_path: Path) -> None:
    pids: list[int] = []

    def hear(_name: str, pid: int) -> None:
        pids.append(pid)
        if len(pids) == 2:
            raise KeyboardInterrupt

    work = {"one": cleans_up(tmp_path), "two": cleans_up(tmp_path), "three": cleans_up(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        Crew(work, 2, hear, lambda _name, _result: None).run()
    assert {path.name for path in tmp_path.iterdir()} == {f"cleaned-{pid}" for pid in pids}
    assert not any(map(alive, pids))


def test_a_member_that_is_busy_stopping_is_told_again(tmp_path: Path) -> None:
    pids: list[int] = []

    def busy(tell: Tell) -> None:
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        tell(os.getpid())
        # As long as the first TERM is on its way: the file below is made by whoever sends it.
        until((tmp_path / "sent").exists)
        signal.signal(signal.SIGTERM, before)
        try:
            threading.Event().wait(_SECONDS)
        finally:
            (tmp_path / "cleaned").touch()

    def hear(_name: str, pid: int) -> None:
        pids.append(pid)
        os.kill(pid, signal.SIGTERM)
        (tmp_path / "sent").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Crew({"busy": busy}, 1, hear, lambda _name, _result: None).run()
    assert (tmp_path / "cleaned").exists()
    assert not any(map(alive, pids))


def test_interrupts_are_for_the_first_process_alone() -> None:
    def stubborn(tell: Tell) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGHUP)
        tell("still here")
        return "done"

    assert run({"stubborn": stubborn}, jobs=1).ended == {"stubborn": "done"}


_PARENT = """
import sys
from pathlib import Path
from grader.verify.crew import Crew
from tests.unit.verify.test_verify_crew import cleans_up

def hear(_name, pid):
    print(pid, flush=True)

Crew({"one": cleans_up(Path(sys.argv[1]))}, 1, hear, lambda _name, _result: None).run()
"""


def test_members_end_with_the_first_process_whatever_ends_it(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        member = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not alive(member))
    assert (tmp_path / f"cleaned-{member}").exists()


def test_a_crew_of_nobody_is_refused_and_of_no_work_is_done() -> None:
    with pytest.raises(ValueError, match="0"):
        Crew({}, 0, lambda _name, _what: None, lambda _name, _result: None)
    assert run({}, jobs=1).ended == {}
