"""Board and timeline of lab-lws on a real cluster, while its step 5 is done."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster import local
from grader.board.feed import Look, SessionFeed, Trust
from grader.board.model import Ref
from grader.lab.catalogue import load_lab
from grader.session.lifecycle import start_session, stop_session
from grader.timeline.model import Phase
from grader.timeline.session import session_timeline

pytestmark = [pytest.mark.cluster, pytest.mark.skipif(os.geteuid() != 0, reason="a real node needs root")]
LAB = "lab-lws"
SECONDS = 60.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The session of lab-lws, with the groups of its step 1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        started = start_session(load_lab(LAB, "en"), on_event=lambda _event: None)
        try:
            play(started.home, "01-groups.sh")
            yield started.home
        finally:
            stop_session(LAB, on_event=lambda _event: None)


def play(home: Path, script: str) -> None:
    """A step of the solution, at the learner's place."""
    text = (load_lab(LAB, "en").folder / "solution" / script).read_text(encoding="utf-8")
    command = local.desk_command(home, ["bash", "-euo", "pipefail", "-c", text], {"LANG": "C.UTF-8", "TERM": "dumb"})
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr


def until(feed: SessionFeed, holds: Callable[[Look], bool], what: str) -> Look:
    """Look until it holds."""
    end, pause = time.monotonic() + SECONDS, threading.Event()
    while not holds(look := feed.look()):
        assert time.monotonic() < end, f"never seen: {what}: {look}"
        pause.wait(0.1)
    return look


def test_the_board_shows_the_groups_and_the_timeline_which_of_them_was_made_anew(home: Path) -> None:
    with SessionFeed(home, "infer") as feed:
        look = until(feed, lambda look: look.trust is Trust.LIVE and len(look.board.pods) == 4, "four pods")
        assert [(line.title, line.ready, line.wanted) for line in look.board.owners] == [
            ("lws/llm", 4, 4),
            ("group 0", 2, 2),
            ("group 1", 2, 2),
        ]
        assert {line.ref.name: line.used for line in look.board.nodes} == {"lab": 4, "gpu-a": 0, "gpu-b": 0}
        assert "Scheduled: Successfully assigned" in feed.describe(Ref("Pod", "infer", "llm-0"))
        assert "nothing is wrong" in feed.why(Ref("LeaderWorkerSet", "infer", "llm"))
        play(home, "05-restart.sh")
        until(feed, lambda look: all(line.state == "Running" for line in look.board.pods), "all run again")
    zero, one = session_timeline(home, "infer").groups
    assert (zero.part, zero.recreations, zero.restarts) == ("group 0", 1, 1)
    assert (one.part, one.recreations, one.restarts) == ("group 1", 0, 0)
    for row in zero.rows:
        first, second = row.lives
        assert first.gone is not None
        assert second.spans[-1].phase is Phase.RUNNING


def test_a_cluster_that_goes_is_told_and_one_that_comes_back_too(home: Path) -> None:
    with SessionFeed(home, "infer") as feed:
        until(feed, lambda look: look.trust is Trust.LIVE, "a live board")
        servers = [one for one in local.status(home).components if one.name == "kube-apiserver"]
        assert servers
        init = local.status(home).init_pid
        subprocess.run(["nsenter", f"--target={init}", "--pid", "--mount", "pkill", "-x", "kube-apiserver"], check=True)
        look = until(feed, lambda look: look.trust is not Trust.LIVE, "a cluster that does not answer")
        assert len(look.board.pods) == 4, "what was seen last stays"
        until(feed, lambda look: look.trust is Trust.LIVE, "a cluster that answers again")
