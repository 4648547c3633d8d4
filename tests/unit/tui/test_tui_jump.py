"""Jump mode, the terminal's own title, and what is said where a key does nothing."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from grader.results import State
from tests.unit.tui.boards import recorded as recorded_board
from tests.unit.tui.conftest import Drive, Played
from tests.unit.tui.pretended import PretendedBackend
from tests.unit.tui.test_tui_board import opened as board_opened
from tests.unit.tui.test_tui_lab import opened, told
from tests.unit.tui.test_tui_timeline import opened as timeline_opened
from tests.unit.tui.timelines import recorded as recorded_timeline
from tui.board.table import Table
from tui.screens.help import HelpScreen
from tui.screens.jump import LETTERS, JumpScreen
from tui.timeline.chart import Chart
from tui.widgets.jump import Jump
from tui.widgets.prose import Prose


async def jumping(played: Played) -> dict[str, Jump]:
    """Letter → where it leads, in jump mode; each letter stands where it says."""
    await played.press("ctrl+o")
    await played.until(lambda: isinstance(played.app.screen, JumpScreen))
    screen = played.app.screen
    assert isinstance(screen, JumpScreen)
    jumps = screen._jumps
    await played.until(lambda: len(screen.query("Static")) == len(jumps))
    await played.rest()
    for label in screen.query("Static"):
        letter = str(label.render()).strip()
        assert (label.region.x, label.region.y) == (jumps[letter].x, jumps[letter].y)
    return jumps


def named(jumps: dict[str, Jump], name: str) -> list[str]:
    """The letters that call a method of that name."""
    return [letter for letter, jump in jumps.items() if getattr(jump.go, "func", jump.go).__name__ == name]


class TestJump:
    def test_to_an_entry_of_the_catalogue(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            assert len(await jumping(played)) == 4, "three entries of the course and one of none"
            await played.press(LETTERS[2])
            assert "better first: lab-demo" in played.text
            assert played.screen.PLACE == "catalogue"

        drive(play)

    def test_to_steps_blocks_and_checks_of_a_lab(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await told(played, lws_yaml=State.PASSED)
            jumps = await jumping(played)
            places = [(jump.y, jump.x) for jump in jumps.values()]
            assert places == sorted(places)
            await played.press(named(jumps, "post_message")[3])
            await played.shows("step 3 of 3")
            await played.press(named(await jumping(played), "post_message")[1])
            await played.shows("step 1 of 3")
            await played.press(named(await jumping(played), "choose")[0])
            assert played.screen.query_one(Prose).chosen is not None
            await played.press(named(await jumping(played), "_choose")[1])
            checks = played.screen.query_one("#checks", OptionList)
            await played.until(lambda: checks.has_focus and checks.highlighted == 1)

        drive(play, size=(120, 40))

    def test_to_a_table_of_the_board(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await board_opened(played, recorded_board("lab-cohort", "team-a"))
            assert screen.table.pane.name == "groups"
            await jumping(played)
            await played.press(LETTERS[0])
            await played.until(lambda: isinstance(screen.focused, Table) and screen.table.pane.name == "nodes")

        drive(play, size=(120, 40))

    def test_to_a_tab_where_one_table_is_seen(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await board_opened(played, recorded_board("lab-cohort", "team-a"))
            tabs = named(await jumping(played), "action_pane")
            assert len(tabs) == 5
            await played.press(tabs[3])
            await played.until(lambda: screen.table.pane.name == "pods")

        drive(play)

    def test_to_a_line_of_the_timeline(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            screen = await timeline_opened(played, recorded_timeline("lab-lws", "infer"))
            lines = [line for line in screen.query_one(Chart).lines if line.group is not None]
            assert len(await jumping(played)) == len(lines)
            await played.press(LETTERS[len(lines) - 1])
            assert screen.query_one(Chart).line is lines[-1]

        drive(play, size=(120, 40))

    @pytest.mark.parametrize("key", ["escape", "0", "ctrl+o", "Z"])
    def test_any_other_key_ends_it(self, drive: Drive, key: str) -> None:
        async def play(played: Played) -> None:
            await jumping(played)
            await played.press(key)
            assert played.screen.PLACE == "catalogue"
            assert "lab-demo  40 min" in played.text, "the cursor is where it was"

        drive(play)

    def test_a_click_and_another_size_end_it(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await jumping(played)
            await played.pilot.click(offset=(40, 15))
            await played.until(lambda: not isinstance(played.app.screen, JumpScreen))
            await jumping(played)
            await played.pilot.resize_terminal(100, 30)
            await played.until(lambda: not isinstance(played.app.screen, JumpScreen))

        drive(play)

    def test_is_not_there_above_another_page(self, drive: Drive) -> None:
        async def play(played: Played) -> None:
            await played.press("question_mark", "ctrl+o")
            assert isinstance(played.app.screen, HelpScreen)

        drive(play)


class TestTitle:
    def test_says_where_one_is_and_how_far(
        self, drive: Drive, backend: PretendedBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def play(played: Played) -> None:
            assert played.app._driver is not None
            written: list[str] = []
            monkeypatch.setattr(played.app._driver, "write", written.append)
            await opened(played)
            backend.check_answers = [*backend.check_answers]
            await told(played, lws_yaml=State.PASSED, llm_live=State.PASSED)
            await played.until(lambda: "\x1b]2;1/3 lab-demo\x07" in written)
            await played.press("escape")
            await played.until(lambda: "\x1b]2;Batchlab\x07" in written)
            assert written.index("\x1b]2;0/3 lab-demo\x07") < written.index("\x1b]2;1/3 lab-demo\x07")

        drive(play)

    def test_holds_no_control_characters(self, drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
        async def play(played: Played) -> None:
            assert played.app._driver is not None
            written: list[str] = []
            monkeypatch.setattr(played.app._driver, "write", written.append)
            played.app.name_terminal("a\x1b]2;b\x07\nc")
            assert written == ["\x1b]2;a]2;bc\x07"]

        drive(play)


class TestWhyNot:
    @pytest.mark.parametrize("key", ["c", "s", "h", "R", "v", "Z", "l"])
    def test_a_lab_that_does_not_run(self, drive: Drive, key: str) -> None:
        async def play(played: Played) -> None:
            await opened(played, running=False)
            await played.press(key, key)
            await played.shows("lab-demo is not running: g starts it")
            assert len(played.app._notifications) == 1, "said once"

        drive(play)

    @pytest.mark.parametrize(
        ("keys", "said"),
        [
            ("g", "lab-demo runs already"),
            ("z", "no start is under way"),
            ("l", "no check of this step names a command"),
            ("nh", "this step has no hints"),
            ("ph", "hints belong to a step: n goes to the first"),
        ],
    )
    def test_a_lab_that_runs(self, drive: Drive, keys: str, said: str) -> None:
        async def play(played: Played) -> None:
            await opened(played)
            await told(played, lws_yaml=State.PASSED, llm_live=State.PASSED, names_match=State.PASSED)
            await played.press(*keys)
            await played.shows(said)

        drive(play, size=(120, 40))

    @pytest.mark.parametrize(
        ("keys", "said"),
        [
            ("s", "lab-demo is not running"),
            ("t", "nothing of lab-demo has been recorded"),
            ("kv", "this is for labs: move to one first"),
        ],
    )
    def test_the_catalogue(self, drive: Drive, keys: str, said: str) -> None:
        async def play(played: Played) -> None:
            await played.press(*keys)
            await played.shows(said)

        drive(play)

    def test_keys_that_were_changed_are_named(self, drive: Drive) -> None:
        from tests.unit.tui.test_tui_app import drive_with_keys

        async def play(played: Played) -> None:
            await opened(played, running=False)
            await played.press("f6")
            await played.shows("lab-demo is not running: f7 starts it")

        drive_with_keys(drive, play, "lab.check: f6\nlab.start: f7\n")
