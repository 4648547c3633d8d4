"""Collections in the application: where their labs stand, and that one that is not accepted says so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from grader.cli import run as grader
from grader.content import catalogue as content
from grader.lab import catalogue
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend
from tui.backend.model import Catalogue
from tui.backend.real import RealBackend

UNIT = Path(__file__).parents[1]
COLLECTION = UNIT.parent / "data" / "collections" / "good"
REFUSED = "good/lab-first is of the collection good, which you have not accepted yet"


@pytest.fixture
def host(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy lab as the only one of ours, and a collection of two labs."""
    del state_home
    monkeypatch.setattr(catalogue, "labs_dir", lambda: UNIT / "cli" / "labs")
    monkeypatch.setattr(content, "content_dir", lambda: UNIT / "content" / "example")
    assert grader(["lab", "add", str(COLLECTION)]) == 0


@pytest.mark.usefixtures("host")
def test_has_a_shelf_of_its_own_that_says_whether_it_is_accepted() -> None:
    shelf = asyncio.run(RealBackend().catalogue()).shelves[-1]
    assert shelf.title == "Collection good, not accepted yet"
    assert [entry.id for entry in shelf.entries] == ["good/lab-first", "good/lab-second"]
    assert not shelf.is_course
    assert grader(["lab", "accept", "good", "--yes"]) == 0
    assert asyncio.run(RealBackend().catalogue()).shelves[-1].title == "Collection good"


@pytest.mark.usefixtures("host")
def test_may_be_started_as_far_as_it_is_accepted() -> None:
    backend = RealBackend()
    assert list(backend.may_start("good/lab-first", needs_root=False)) == [
        REFUSED,
        "see what it would run, and accept it: grader lab accept good",
    ]
    assert grader(["lab", "accept", "good", "--yes"]) == 0
    assert list(backend.may_start("good/lab-first", needs_root=False)) == []
    assert "as root of this machine" in backend.may_start("good/lab-second", needs_root=True)[0]


@pytest.mark.usefixtures("host")
def test_is_read_and_not_started_on_the_screen(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RealBackend()

    async def look(self: PretendedBackend) -> Catalogue:
        self.asked.append("catalogue")
        return await real.catalogue()

    monkeypatch.setattr(PretendedBackend, "catalogue", look)
    for name in ("lab", "standing", "may_start"):
        monkeypatch.setattr(PretendedBackend, name, staticmethod(getattr(real, name)))

    async def play(played: Played) -> None:
        assert "Collection good, not accepted yet" in played.text
        await played.press("slash", *"note", "enter")
        await played.until(lambda: "ConfigMap" in played.text, "the lab's text")
        await played.press("g")
        await played.rest()
        assert "which you have not accepted yet" in " ".join(played.text.split())
        assert played.backend.starts == []

    drive(play, size=(120, 40))
