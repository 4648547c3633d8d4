"""The catalogue: what it shows, how one finds and moves, and that it speaks and fits."""

from __future__ import annotations

from dataclasses import replace

from textual.events import Key
from textual.widgets import Input

from cluster import i18n
from cluster.errors import EnvironmentProblem
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend

SIZES = [(80, 24), (100, 30), (120, 40)]


def test_the_cursor_begins_at_what_comes_next(drive: Drive) -> None:
    async def play(played: Played) -> None:
        assert "lab-demo  40 min" in played.text
        await played.press("j")
        assert "better first: lab-demo" in played.text
        await played.press("k", "k")
        assert "pods  12 min" in played.text
        await played.press("n")
        assert "lab-demo  40 min" in played.text

    drive(play)


def test_search_narrows_and_ends(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await played.press("slash", *"vol")
        await played.shows("RWO.")
        assert "LeaderWorkerSet" not in played.text
        await played.press(*"xyz")
        await played.shows("nothing has these letters")
        await played.press("escape")
        await played.shows("LeaderWorkerSet")

    drive(play)


def test_enter_in_the_search_opens_what_was_found(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await played.press("slash", *"fate", "enter")
        await played.shows("lab-demo is not running")

    drive(play)


def test_letters_of_the_search_are_no_keys(drive: Drive) -> None:
    async def play(played: Played) -> None:
        await played.press("slash", *"qLTn")
        assert i18n.language() == "en"
        assert played.app.is_running

    drive(play)


def test_who_lacks_root_is_told_before(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        assert "only root can start it" in played.text

    backend.obstacles = ("lab-demo has a node that runs real containers; only root can start it",)
    drive(play)


def test_a_running_lab_can_be_stopped(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        assert "runs" in played.text
        await played.press("s")
        await played.until(lambda: backend.stopped == ["lab-demo"])
        await played.shows("lab-demo is stopped")

    backend.shelf = tuple(replace(one, machine="running") if one.kind == "lab" else one for one in backend.shelf)
    drive(play)


def test_what_is_stopped_has_no_key_for_it(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        assert "stop lab" not in played.text
        await played.press("s")
        assert backend.stopped == []

    drive(play)


def test_a_catalogue_that_cannot_be_read_is_said(drive: Drive, backend: PretendedBackend) -> None:
    async def play(played: Played) -> None:
        await played.shows("the disk is full")
        await played.shows("make room")
        backend.failure = None
        played.screen.run_worker(played.screen.look())  # type: ignore[attr-defined]  # a catalogue's own
        await played.shows("LeaderWorkerSet")

    backend.failure = EnvironmentProblem("the disk is full", "make room")
    drive(play)


def test_letters_that_follow_at_once_are_the_searchs(drive: Drive) -> None:
    """Keys come from the terminal all together; the list must not have them."""

    async def play(played: Played) -> None:
        for key in ("slash", *"vol"):
            character = "/" if key == "slash" else key
            played.app.post_message(Key(key, character))
        await played.shows("RWO.")
        assert played.screen.query_one(Input).value == "vol"

    drive(play)
