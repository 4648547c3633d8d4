"""What each screen looks like, at three sizes: as text in English, Korean and ASCII, as a picture with and without
colours. `GOLDEN=write` writes them anew; read the difference before it is committed. README shows some of them."""

from __future__ import annotations

import re
import unicodedata

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.unit.conftest import GOLDEN, Golden
from tests.unit.tui.boards import AT
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend
from tests.unit.tui.scenes import AFTER, DRAWN, SCENES
from tui.board.screen import BoardScreen
from tui.session import Boot

SIZES = ((120, 40), (100, 30), (80, 24))
HUE = re.compile("#[0-9a-f]{6}")


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is always the same moment, and nothing blinks."""
    monkeypatch.setattr(BoardScreen, "clock", staticmethod(lambda: AT))
    monkeypatch.setattr(Boot, "elapsed", property(lambda _boot: 3.0))
    monkeypatch.setattr(Boot, "now", property(lambda boot: boot.seconds + 1.5))
    monkeypatch.setattr(Input.cursor_blink, "_default", False)


async def _seen_at(played: Played, name: str, size: tuple[int, int]) -> None:
    await played.pilot.resize_terminal(*size)
    await played.until(lambda: played.app.screen.size == size)
    played.app.clear_notifications()
    await played.until(lambda: not played.app.screen.query("Toast"))
    await played.rest()
    if name in AFTER:
        await AFTER[name](played)
        await played.rest()


def _fits(text: str, size: tuple[int, int]) -> None:
    """Nothing sticks out, and each line of a box ends where the others do."""
    lines = text.splitlines()
    assert len(lines) <= size[1]
    assert max(map(cell_len, lines)) <= size[0]


@pytest.mark.parametrize("look", ["en", "ko", "ascii"])
@pytest.mark.parametrize("name", SCENES)
def test_as_text(drive: Drive, golden: Golden, name: str, look: str) -> None:
    async def play(played: Played) -> None:
        await SCENES[name](played)
        for size in SIZES:
            await _seen_at(played, name, size)
            _fits(played.text, size)
            golden(f"tui/{name}-{size[0]}x{size[1]}-{look}.txt", played.text)
            if look == "ascii":
                strange = {char for char in played.text if not char.isascii() and not _is_word(char)}
                assert strange == set()
            if look == "en" and (name in DRAWN or size == (80, 24)):
                golden(f"tui/{name}-{size[0]}x{size[1]}.svg", played.svg)

    drive(play, size=SIZES[0], language="ko" if look == "ko" else "en", ascii_only=look == "ascii")


def _is_word(char: str) -> bool:
    """A letter of what a lab or a learner wrote, which stays as it was written."""
    return unicodedata.category(char).startswith("L")


@pytest.mark.parametrize("name", SCENES)
def test_without_colours(drive: Drive, golden: Golden, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(played: Played) -> None:
        await SCENES[name](played)
        await _seen_at(played, name, (80, 24))
        golden(f"tui/{name}-80x24-no-color.svg", played.svg)
        drawn = played.svg.partition("<g clip-path")[2]
        hues = {hue for hue in HUE.findall(drawn) if len({hue[1:3], hue[3:5], hue[5:]}) > 1}
        assert hues == set(), "only greys"
        assert played.text == (GOLDEN / f"tui/{name}-80x24-en.txt").read_text(encoding="utf-8"), "the same words"

    monkeypatch.setenv("NO_COLOR", "1")
    drive(play, size=SIZES[0])


@pytest.mark.parametrize("name", ["catalogue", "lab", "board-lws", "timeline-lws", "jump"])
@pytest.mark.parametrize("size", [(20, 5), (39, 30), (120, 11)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_too_small_a_terminal_says_what_it_needs(drive: Drive, name: str, size: tuple[int, int]) -> None:
    async def play(played: Played) -> None:
        await SCENES[name](played)
        await played.pilot.resize_terminal(*size)
        await played.until(lambda: "40 x 12" in " ".join(played.text.split()), "the size it needs")
        _fits(played.text, size)
        await played.pilot.resize_terminal(*SIZES[0])
        await played.until(lambda: "too small" not in played.text)
        assert len(played.text.split()) > 20

    drive(play, size=SIZES[0])


def test_nothing_is_kept_that_no_test_compares() -> None:
    looks = [f"-{look}.txt" for look in ("en", "ko", "ascii")]
    wanted = {f"{name}-80x24-no-color.svg" for name in SCENES}
    for name in SCENES:
        for width, height in SIZES:
            wanted |= {f"{name}-{width}x{height}{look}" for look in looks}
            if name in DRAWN or width == 80:
                wanted.add(f"{name}-{width}x{height}.svg")
    assert {path.name for path in (GOLDEN / "tui").iterdir()} == wanted


def test_a_pretended_backend_is_still(backend: PretendedBackend) -> None:
    """The scenes rest on it: nothing in it moves by itself."""
    assert backend.looks.empty()
    assert backend.boots.empty()


@pytest.mark.parametrize(
    "name", [name for name in SCENES if name not in ("help", "confirm", "jump", "board-why", "search")]
)
def test_the_language_changes_on_every_screen(drive: Drive, name: str) -> None:
    """While it runs, at 80 × 24, there and back: everything is said anew, and wide letters fit."""

    async def play(played: Played) -> None:
        await SCENES[name](played)
        await _seen_at(played, name, (80, 24))
        place, keys = played.screen.PLACE, played.text.splitlines()[-1]
        last = keys
        for language, others in (("ko", False), ("en", True)):
            await played.press("L")
            await _seen_at(played, name, (80, 24))
            _fits(played.text, (80, 24))
            last = played.text.splitlines()[-1]
            assert place == played.screen.PLACE
            assert any("가" <= char <= "힣" for char in last) is not others, f"the line of keys, {language}"
        assert last.split()[0] == keys.split()[0]

    drive(play, size=(80, 24))
