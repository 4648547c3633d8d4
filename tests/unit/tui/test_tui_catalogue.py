"""The catalogue: what it shows, how one finds and moves, and that it speaks and fits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.events import Key
from textual.widgets import Input

from cluster import i18n
from cluster.errors import EnvironmentProblem
from tests.unit.conftest import Golden
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend

SIZES = [(80, 24), (100, 30), (120, 40)]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_looks_as_it_should(drive: Drive, golden: Golden, size: tuple[int, int], language: str) -> None:
    async def play(played: Played) -> None:
        assert max(map(cell_len, played.text.splitlines())) <= size[0]
        golden(f"tui/catalogue-{size[0]}x{size[1]}-{language}.txt", played.text)
        if language == "en":
            golden(f"tui/catalogue-{size[0]}x{size[1]}.svg", played.svg)

    drive(play, size=size, language=language)


def test_ascii_draws_nothing_else(drive: Drive, golden: Golden) -> None:
    async def play(played: Played) -> None:
        golden("tui/catalogue-ascii.txt", played.text)
        assert played.text.isascii()
        await played.press("slash")
        assert played.text.isascii()
        await played.press("escape", "question_mark")
        assert played.text.isascii()

    drive(play, ascii_only=True)


def test_without_colours_every_state_is_a_word(drive: Drive, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(played: Played) -> None:
        colours = set(re.findall(r"#[0-9a-f]{6}", played.svg.partition("<g clip-path")[2]))
        assert {colour for colour in colours if len({colour[1:3], colour[3:5], colour[5:]}) > 1} == set()
        for word in ("done", "2 of 3", "later", "to do"):
            assert word in played.text

    monkeypatch.setenv("NO_COLOR", "1")
    drive(play)


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
